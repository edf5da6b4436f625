import { Badge, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type NodeList } from '../../contract/operator';
import { nodesQuery } from '../parts/api/operator-queries';
import { formatCount } from '../parts/format/numbers';
import { DataTable, type Column } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { Figure } from './figure';

type GatewayNode = NodeList['nodes'][number];

const STATES = {
  live: { color: 'green', text: 'Live' },
  reading: { color: 'orange', text: 'Asks the database' },
  stopped: { color: 'gray', text: 'Stopped' },
  gone: { color: 'red', text: 'Not seen' },
} as const;

const redisState = (answers: boolean | null): StateBadge | null =>
  answers === null ? null : answers ? { color: 'green', text: 'Answers' } : { color: 'red', text: 'Away' };

const lag = (ms: number | null): string => (ms === null ? '–' : `${formatCount(Math.round(ms))} ms`);

const COLUMNS: readonly Column<GatewayNode>[] = [
  { header: 'Node', isTitle: true, cell: ({ name }) => <span className="mono breakable">{name}</span> },
  { header: 'Version', cell: ({ version }) => version ?? 'not known' },
  { header: 'State', cell: ({ state, stateSince }) => <Since badge={STATES[state]} since={stateSince} /> },
  { header: 'Redis', cell: ({ redisAnswers, redisSince }) => <Since badge={redisState(redisAnswers)} since={redisSince} /> },
  { header: 'Started', cell: ({ startedAt }) => <Moment at={startedAt} /> },
  { header: 'Last seen', cell: ({ seenAt }) => <Moment at={seenAt} /> },
  { header: 'Changes confirmed', isNumber: true, cell: ({ confirmations }) => formatCount(confirmations) },
  { header: 'Median lag', isNumber: true, cell: ({ medianLagMs }) => lag(medianLagMs) },
  { header: 'Longest lag', isNumber: true, cell: ({ longestLagMs }) => lag(longestLagMs) },
];

interface StateBadge {
  readonly color: string;
  readonly text: string;
}

/** A state and the time since which it holds. An unknown state stays open. */
function Since({ badge, since }: { readonly badge: StateBadge | null; readonly since: string | null }): ReactNode {
  if (badge === null) return '–';
  return (
    <>
      <Badge color={badge.color}>{badge.text}</Badge>
      {since !== null && (
        <Text component="span" display="block" size="xs" c="dimmed">
          since <Moment at={since} />
        </Text>
      )}
    </>
  );
}

const MEBIBYTE = 1_048_576;

/** Running gateways, the time they take to act on changes, and the state of the database. */
export function NodesPage(): ReactNode {
  const query = useQuery(nodesQuery);
  return (
    <>
      <PageTitle title="Nodes">
        Gateway processes that were seen in the last day. The lag is the time from the commit of a change to a key, such as a revocation,
        until the node acts on it.
      </PageTitle>
      <Loaded query={query} height={400}>
        {({ nodes, database }) => (
          <Stack gap="md">
            <DataTable
              caption="Gateway nodes"
              columns={COLUMNS}
              rows={nodes}
              rowKey={({ id }) => id}
              empty={<EmptyState title="No gateway runs">Nodes appear here within seconds of their start.</EmptyState>}
            />
            {nodes.length > 0 && (
              <Text size="sm" c="dimmed">
                Redis as each node sees it: while Redis is away, PostgreSQL counts. A dash: the node has no Redis, is stopped or gone, or
                its version does not report Redis.
              </Text>
            )}
            <Panel title="Database" aside={<Badge color="green">Answers</Badge>}>
              <SimpleGrid cols={{ base: 2, sm: 5 }}>
                <Figure name="PostgreSQL" value={database.version} />
                <Figure name="Running since" value={<Moment at={database.startedAt} />} />
                <Figure name="Answered in" value={`${Math.round(database.answeredInMs)} ms`} />
                <Figure name="Connections" value={`${database.connections} of ${database.mostConnections}`} />
                <Figure name="Size" value={`${formatCount(Math.round(database.bytes / MEBIBYTE))} MB`} />
              </SimpleGrid>
            </Panel>
          </Stack>
        )}
      </Loaded>
    </>
  );
}
