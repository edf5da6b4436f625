import { Alert, Anchor, Button, Group, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { ApiProblem } from '../api/api-problem';
import { supportAddress } from '../browser/brand';

interface ProblemAlertProps {
  /** Nothing is shown without one. */
  readonly problem: unknown;
  /** Reads again what could not be read. Absent after a change, which only the reader repeats. */
  readonly onRetry?: () => void;
}

/** In place of what the page shows, while the server or its database does not answer. */
function DataAway({ problem }: { readonly problem: ApiProblem }): ReactNode {
  const cause =
    problem.status === 0
      ? 'The server cannot be reached. Your connection may be down.'
      : 'Our server or its database is not responding. That is our fault.';
  return (
    <>
      <Text size="sm" fw={600}>
        Data cannot be read right now
      </Text>
      <Text size="sm">
        {cause} Nothing was lost, and this page tries again by itself.
        {supportAddress !== undefined && (
          <>
            {' If it lasts, '}
            <Anchor href={`mailto:${supportAddress}`}>write to support</Anchor>.
          </>
        )}
      </Text>
    </>
  );
}

/** Shows a problem, also to screen readers. */
export function ProblemAlert({ problem, onRetry }: ProblemAlertProps): ReactNode {
  const alert = useRef<HTMLDivElement>(null);
  // The result of a click may be outside the visible part of a long form.
  useEffect(() => {
    if (problem !== undefined && onRetry === undefined) alert.current?.scrollIntoView({ block: 'nearest' });
  }, [problem, onRetry]);
  if (problem === undefined || problem === null) return null;
  const known = problem instanceof ApiProblem ? problem : undefined;
  const fields = known?.fields ?? [];
  return (
    <Alert ref={alert} color="red" role="alert" icon={<IconAlertTriangle size={18} aria-hidden />}>
      {onRetry && known?.isTemporary ? (
        <DataAway problem={known} />
      ) : (
        <Text size="sm">{known ? known.text : 'Something went wrong. Reload the page.'}</Text>
      )}
      {fields.length > 1 && (
        <List size="sm" mt={4}>
          {fields.slice(0, 10).map(({ field, message }) => (
            <List.Item key={`${field} ${message}`}>
              {field} {message}
            </List.Item>
          ))}
        </List>
      )}
      {onRetry && known?.status !== 404 && (
        <Group mt="xs">
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  );
}
