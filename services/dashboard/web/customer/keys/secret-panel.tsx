import { Button, Group, Stack, Text, Alert, Badge } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCircleCheck, IconLoader, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from '@tanstack/react-router';
import { type CreatedKey } from '../../../contract/keys';
import { keyQuery, productsQuery } from '../../parts/api/queries';
import { firstCall, firstRequest, type FirstRequest, queryOf } from './first-call';
import { useSession } from '../../parts/hooks/use-session';
import { CodeLine, CopyButton } from '../../parts/components/code-line';
import { Moment } from '../../parts/components/moment';
import { OnceOnly } from '../../parts/components/once-only';
import { type TryAnswer } from '../../../contract/try';
import { call } from '../../parts/api/request';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { type Answered, FAILURES, headerLines, readBody } from '../../parts/format/answer-body';
import { formatCount } from '../../parts/format/numbers';
import classes from './try-result.module.css';

interface SecretPanelProps {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}

/** Shows a new key, once, with a call that is ready to run. The secret is only in this component's props. */
export function SecretPanel({ created, onClose }: SecretPanelProps): ReactNode {
  const { gatewayUrl } = useSession();
  const { data } = useQuery(productsQuery);
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  const products = data?.products.filter((product) => created.key.products.includes(product.id)) ?? [];
  const request = firstRequest(products, data?.first ?? null);
  const command = firstCall(created.secret, request, gatewayUrl);
  return (
    <Stack gap="md" onCopy={noteCopy}>
      <OnceOnly isCopied={isCopied}>This key is shown only once. Copy it to where your program keeps its secrets.</OnceOnly>
      <CodeLine label="Key" text={created.secret} what="key" onCopied={noteCopy} />
      {command !== undefined && <CodeLine label="First call" text={command} what="command" onCopied={noteCopy} />}
      {request && created.key.mode === 'test' && <RunHere secret={created.secret} request={request} />}
      {command !== undefined && <FirstCallWatch id={created.key.id} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}

/** Says when the key has been used for the first time. */
function FirstCallWatch({ id }: { readonly id: string }): ReactNode {
  const { data } = useQuery({ ...keyQuery(id), refetchInterval: ({ state }) => (state.data?.lastUsedAt ? false : 2_000) });
  const usedAt = data?.lastUsedAt ?? null;
  return (
    <Group gap={8} wrap="nowrap" role="status">
      {usedAt === null ? (
        <IconLoader size={18} aria-hidden className="dimmed" />
      ) : (
        <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-green-light-color)" />
      )}
      <Text size="sm" c={usedAt === null ? 'dimmed' : 'inherit'}>
        {usedAt === null ? (
          'Run the call in a terminal; it shows up here within seconds.'
        ) : (
          <>
            The key works: first used <Moment at={usedAt} />.
          </>
        )}
      </Text>
    </Group>
  );
}

/** The dashboard gives up after 60 s, and says so. */
const TRY_MS = 65_000;

/** Makes the sample call with a test key from the page, like the command beside it in a terminal. */
function RunHere({ secret, request }: { readonly secret: string; readonly request: FirstRequest }): ReactNode {
  const [answer, setAnswer] = useState<TryAnswer>();
  const { submit, pending, problem } = useSubmit(async () =>
    setAnswer(await call('POST /try', { body: { ...request, key: secret, query: queryOf(request) }, timeoutMs: TRY_MS })),
  );
  return (
    <Stack gap="sm" align="stretch">
      <Group gap="sm">
        <Button variant="light" loading={pending} leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={() => void submit()}>
          Run it here
        </Button>
        {pending && <Waiting />}
      </Group>
      <ProblemAlert problem={problem} />
      {answer && <TryResult answer={answer} />}
    </Stack>
  );
}

/** The result of a call. */
function TryResult({ answer }: { readonly answer: TryAnswer }): ReactNode {
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

/** Shows for how many seconds a response has taken, once that is long. */
function Waiting(): ReactNode {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  if (seconds < NOTEWORTHY_SECONDS) return null;
  return (
    <Text size="sm" c="dimmed" className="numbers">
      No answer for {seconds} s. The call ends after 60 s.
    </Text>
  );
}

/** Most calls have a response by then. */
const NOTEWORTHY_SECONDS = 3;
