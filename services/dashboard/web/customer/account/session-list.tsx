import { Alert, Badge, Button, Group, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type AccountSession } from '../../../contract/auth';
import { call } from '../../parts/api/request';
import { ApiProblem } from '../../parts/api/api-problem';
import { toast } from '../../parts/browser/toast';
import { describeBrowser } from './describe-browser';
import { useSubmit } from '../../parts/hooks/use-submit';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Loaded } from '../../parts/components/loaded';
import { Moment } from '../../parts/components/moment';
import { ProblemAlert } from '../../parts/components/problem-alert';

interface Sessions {
  readonly sessions: readonly AccountSession[];
  readonly currentId: string | undefined;
}

async function readSessions(): Promise<Sessions> {
  const [sessions, current] = await Promise.all([call('GET /auth/list-sessions'), call('GET /auth/get-session')]);
  return { sessions, currentId: current?.session.id };
}

/** Every session of the account, with a button to sign each out. */
export function SessionList(): ReactNode {
  const client = useQueryClient();
  // Kept only while the page is open, because the list holds the ids that end sessions.
  const query = useQuery({ queryKey: ['sessions'], queryFn: readSessions, gcTime: 0 });
  const end = useSubmit(async (token: string | undefined) => {
    await (token === undefined ? call('POST /auth/revoke-other-sessions') : call('POST /auth/revoke-session', { body: { token } }));
    toast(token === undefined ? 'All other sessions were signed out.' : 'Session signed out.');
    await client.invalidateQueries({ queryKey: ['sessions'] });
  });
  if (query.error instanceof ApiProblem && query.error.code === 'session_not_fresh') {
    return <Alert role="status">You signed in more than a day ago. Sign out and in again to manage your sessions.</Alert>;
  }
  return (
    <>
      <ProblemAlert problem={end.problem} />
      <Loaded query={query} height={140}>
        {({ sessions, currentId }) => (
          <>
            <DataTable
              caption="Sessions"
              columns={columnsFor(currentId, (session) => void end.submit(session.token), end.pending)}
              rows={sessions}
              rowKey={({ id }) => id}
            />
            <Group justify="flex-end">
              <Button variant="default" loading={end.pending} disabled={sessions.length < 2} onClick={() => void end.submit(undefined)}>
                Sign out all other sessions
              </Button>
            </Group>
          </>
        )}
      </Loaded>
    </>
  );
}

function columnsFor(
  currentId: string | undefined,
  onEnd: (session: AccountSession) => void,
  isBusy: boolean,
): readonly Column<AccountSession>[] {
  return [
    {
      header: 'Device',
      isTitle: true,
      cell: ({ userAgent, ipAddress }) => (
        <>
          {describeBrowser(userAgent)}
          <Text component="span" display="block" size="xs" c="dimmed" className="mono">
            {ipAddress || 'unknown address'}
          </Text>
        </>
      ),
    },
    { header: 'Signed in', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      header: 'Sign out',
      isHeaderHidden: true,
      cell: (session) =>
        session.id === currentId ? (
          <Badge color="green">This session</Badge>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            className="tappable"
            disabled={isBusy}
            onClick={() => onEnd(session)}
            aria-label={`Sign out ${describeBrowser(session.userAgent)}`}
          >
            Sign out
          </Button>
        ),
    },
  ];
}
