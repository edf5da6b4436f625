import { Alert, Badge, Button, Group, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { currentPlace, endOtherPlaces, endPlace, listPlaces, type SignedInPlace } from '../../api/account';
import { ApiProblem } from '../../api/api-problem';
import { say } from '../../browser/toast';
import { describeBrowser } from './describe-browser';
import { useSubmit } from '../../hooks/use-submit';
import { DataTable, type Column } from '../../components/data-table';
import { Loaded } from '../../components/loaded';
import { Moment } from '../../components/moment';
import { ProblemAlert } from '../../components/problem-alert';

interface Places {
  readonly places: readonly SignedInPlace[];
  readonly currentId: string | undefined;
}

async function readPlaces(): Promise<Places> {
  const [places, current] = await Promise.all([listPlaces(), currentPlace()]);
  return { places, currentId: current?.session.id };
}

/** Every session of the account; each can be ended from here. */
export function PlaceList(): ReactNode {
  const client = useQueryClient();
  // Kept only while the page is open: the list names sessions by what ends them.
  const query = useQuery({ queryKey: ['places'], queryFn: readPlaces, gcTime: 0 });
  const end = useSubmit(async (token: string | undefined) => {
    await (token === undefined ? endOtherPlaces() : endPlace(token));
    say(token === undefined ? 'Every other session has ended.' : 'The session has ended.');
    await client.invalidateQueries({ queryKey: ['places'] });
  });
  if (query.error instanceof ApiProblem && query.error.code === 'session_not_fresh') {
    return <Alert role="status">You signed in more than a day ago. Sign out and in again to see and end sessions.</Alert>;
  }
  return (
    <>
      <ProblemAlert problem={end.problem} />
      <Loaded query={query} height={140}>
        {({ places, currentId }) => (
          <>
            <DataTable
              caption="Sessions"
              columns={columnsFor(currentId, (place) => void end.submit(place.token), end.pending)}
              rows={places}
              rowKey={({ id }) => id}
            />
            <Group justify="flex-end">
              <Button variant="default" loading={end.pending} disabled={places.length < 2} onClick={() => void end.submit(undefined)}>
                End every other session
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
  onEnd: (place: SignedInPlace) => void,
  isBusy: boolean,
): readonly Column<SignedInPlace>[] {
  return [
    {
      header: 'Where',
      isTitle: true,
      cell: ({ userAgent, ipAddress }) => (
        <>
          {describeBrowser(userAgent)}
          <Text component="span" display="block" size="xs" c="dimmed" className="mono">
            {ipAddress || 'address unknown'}
          </Text>
        </>
      ),
    },
    { header: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      header: 'End it',
      isHeaderHidden: true,
      cell: (place) =>
        place.id === currentId ? (
          <Badge color="green">This one</Badge>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            className="tappable"
            disabled={isBusy}
            onClick={() => onEnd(place)}
            aria-label={`End the session of ${describeBrowser(place.userAgent)}`}
          >
            End
          </Button>
        ),
    },
  ];
}
