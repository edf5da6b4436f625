import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { type TryAnswer } from '../../../contract/try';
import { call } from '../../api/request';
import { type ListedOperation, type ListedProduct } from './operations';
import {
  checkFile,
  exampleFileOf,
  fileFieldOf,
  initialBody,
  initialQuery,
  isJson,
  needsSession,
  sessionIn,
  uploadOf,
  type CallBody,
  type TryValues,
  targetOf,
} from './try-call';
import { useSubmit } from '../../hooks/use-submit';
import { Guarded } from '../../components/guarded';
import { Panel } from '../../components/panel';
import { ProblemAlert } from '../../components/problem-alert';
import { TryInput } from './try-input';
import { checkKey, TryKey } from './try-key';
import { TryResult } from './try-result';
import { type TryMemory } from './use-try-memory';

/** The dashboard gives up after 60 s and says so. */
const TIMEOUT_MS = 65_000;

interface TryPanelProps {
  readonly product: ListedProduct;
  readonly listed: ListedOperation;
  readonly memory: TryMemory;
}

type FormErrors = Readonly<Record<'key' | 'body' | 'file', string | undefined>>;
const NO_ERRORS: FormErrors = { key: undefined, body: undefined, file: undefined };

function valuesFor({ operation }: ListedOperation, sessionId: string | undefined): TryValues {
  const field = fileFieldOf(operation);
  const example = operation['x-exampleFile'];
  return {
    query: initialQuery(operation, sessionId),
    body: field === undefined ? initialBody(operation, sessionId) : undefined,
    file: field === undefined ? undefined : example ? exampleFileOf(example) : null,
  };
}

function findErrors(key: string, { body, file }: TryValues): FormErrors {
  return {
    key: checkKey(key),
    body: body === undefined || isJson(body) ? undefined : 'This is not valid JSON.',
    file: file === undefined ? undefined : checkFile(file),
  };
}

async function bodyOf({ operation }: ListedOperation, { body, file }: TryValues): Promise<CallBody | undefined> {
  const field = fileFieldOf(operation);
  if (field !== undefined && file) return uploadOf(field, file);
  return body === undefined ? undefined : { contentType: 'application/json', body };
}

/** Makes one call through the dashboard. @throws ApiProblem */
async function makeCall({ product, listed, memory }: TryPanelProps, values: TryValues): Promise<TryAnswer> {
  const { method } = listed;
  const filled = Object.fromEntries(Object.entries(values.query).filter(([, value]) => value !== ''));
  const { path, query } = targetOf(listed.path, filled);
  const by = memory.key === '' ? { product: product.id } : { key: memory.key };
  const answer = await call('POST /try', {
    body: { ...by, method, path, query, ...(await bodyOf(listed, values)) },
    timeoutMs: TIMEOUT_MS,
  });
  const opened = answer.outcome === 'answered' ? sessionIn(answer.body) : undefined;
  if (opened !== undefined) memory.keepSession(product.id, opened);
  return answer;
}

/** A form that makes one call of an operation with a test key, and what came of it. */
export function TryPanel(props: TryPanelProps): ReactNode {
  const { product, listed, memory } = props;
  const sessionId = memory.sessionOf(product.id);
  const [values, setValues] = useState(() => valuesFor(listed, sessionId));
  const [errors, setErrors] = useState(NO_ERRORS);
  const [answer, setAnswer] = useState<TryAnswer>();
  const { submit, pending, problem } = useSubmit(async () => {
    setAnswer(undefined);
    setAnswer(await makeCall(props, values));
  });
  function send(event: FormEvent): void {
    event.preventDefault();
    const found = findErrors(memory.key, values);
    setErrors(found);
    if (Object.values(found).every((each) => each === undefined)) void submit();
  }
  return (
    <Panel title="Try it">
      <form onSubmit={send} noValidate>
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            Uses a test key: responses are sample data and count towards the limits of test keys. The dashboard makes the call, so the
            gateway sees the dashboard’s IP address and no Origin.
          </Text>
          <TryKey product={product} memory={memory} error={errors.key} />
          {needsSession(listed.operation) && sessionId === undefined && (
            <Alert color="yellow">
              This is a later step of a workflow. Run the step that starts a session first; its ID is then filled in here.
            </Alert>
          )}
          <TryInput operation={listed.operation} values={values} onChange={setValues} errors={errors} />
          <Group>
            <Guarded needs="keys">
              <Button type="submit" loading={pending}>
                Send request
              </Button>
            </Guarded>
          </Group>
        </Stack>
      </form>
      <div aria-live="polite" className="simulation">
        <ProblemAlert problem={problem} />
        {answer && <TryResult answer={answer} />}
      </div>
    </Panel>
  );
}
