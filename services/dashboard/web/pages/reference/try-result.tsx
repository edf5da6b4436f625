import { Alert, Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type TryAnswer } from '../../../contract/try';
import { formatCount } from '../../format/numbers';
import { TryBody } from './try-body';

type Answered = Extract<TryAnswer, { outcome: 'answered' }>;

const FAILURES = {
  unreachable: 'The gateway could not be reached, or dropped the connection. Try again shortly.',
  timeout: 'No complete response within 60 seconds.',
} as const;

/** What came of a try. */
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
      <TryBody answer={answer} />
      <details className="figures">
        <summary>Response headers</summary>
        <pre className="code-line" tabIndex={0} aria-label="Response headers">
          {Object.entries(answer.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
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
