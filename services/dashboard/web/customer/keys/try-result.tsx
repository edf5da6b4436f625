import { Alert, Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type TryAnswer } from '../../../contract/try';
import { CopyButton } from '../../parts/components/copy-button';
import { type Answered, FAILURES, headerLines, readBody } from '../../parts/format/answer-body';
import { formatCount } from '../../parts/format/numbers';
import classes from './try-result.module.css';

/** What came of a call that was tried. */
export function TryResult({ answer }: { readonly answer: TryAnswer }): ReactNode {
  if (answer.outcome === 'failed') {
    return (
      <Alert color="red" title="No response">
        {FAILURES[answer.reason]} ({formatCount(answer.durationMs)} ms)
      </Alert>
    );
  }
  return (
    <Stack gap="sm">
      <Summary answer={answer} />
      <Body answer={answer} />
      <details className="figures">
        <summary>Response headers</summary>
        <pre className="code-line" tabIndex={0} aria-label="Response headers">
          {headerLines(answer)}
        </pre>
      </details>
    </Stack>
  );
}

function Summary({ answer: { status, durationMs, requestId } }: { readonly answer: Answered }): ReactNode {
  const color = status < 300 ? 'green' : status < 400 ? 'gray' : status < 500 ? 'orange' : 'red';
  return (
    <Group gap="sm">
      <Badge color={color} size="lg">
        Status {status}
      </Badge>
      <Text size="sm" className="numbers">
        {formatCount(durationMs)} ms
      </Text>
      {requestId !== null && (
        <Link to="/explain" search={{ request: requestId }} className="text-link">
          <Text component="span" size="sm">
            Explain this request
          </Text>
        </Link>
      )}
    </Group>
  );
}

function Body({ answer }: { readonly answer: Answered }): ReactNode {
  const { note, picture, text, download } = readBody(answer);
  return (
    <Stack gap="xs">
      {note !== '' && <Text size="sm">{note}</Text>}
      {picture !== undefined && <img src={picture} alt="Image in the response" className={classes['picture']} />}
      {text !== undefined && (
        <>
          <pre className={`code-line ${classes['answer']}`} tabIndex={0} aria-label="Response body">
            {text}
          </pre>
          <div>
            <CopyButton text={text} what="response" />
          </div>
        </>
      )}
      {download !== undefined && (
        <a href={download} download="answer" className="text-link in-text">
          Download it
        </a>
      )}
    </Stack>
  );
}
