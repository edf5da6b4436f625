import { Tabs } from '@mantine/core';
import { type ReactNode } from 'react';
import { type ApiOperation } from '../../../contract/api-document';
import { CodeLine } from '../../components/code-line';
import { Panel } from '../../components/panel';
import classes from './reference.module.css';

/** The operation's example as code, in tabs. */
export function CodeSamples({ operation }: { readonly operation: ApiOperation }): ReactNode {
  const samples = operation['x-codeSamples'];
  const [first] = samples;
  if (!first) return null;
  return (
    <Panel title="Example">
      <Tabs defaultValue={first.lang} keepMounted={false}>
        <Tabs.List mb="sm" aria-label="Language of the example">
          {samples.map(({ lang, label }) => (
            <Tabs.Tab key={lang} value={lang}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {samples.map(({ lang, label, source }) => (
          <Tabs.Panel key={lang} value={lang}>
            <CodeLine label={`${label}, with a key in API_KEY`} text={source} what="code" />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Panel>
  );
}

/** What the example answers, as a test key got it when it was recorded. */
export function SampleAnswer({ operation }: { readonly operation: ApiOperation }): ReactNode {
  const sample = operation.responses['200']?.content?.['application/json']?.example;
  if (sample === undefined) return null;
  return (
    <Panel title="Sample response">
      <pre className={`code-line ${classes['sample']}`} tabIndex={0} aria-label="Sample response">
        {JSON.stringify(sample, null, 2)}
      </pre>
    </Panel>
  );
}
