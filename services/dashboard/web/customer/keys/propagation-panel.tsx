import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Propagation } from '../../../contract/keys';
import { propagationQuery } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Loaded } from '../../parts/components/loaded';
import { Moment } from '../../parts/components/moment';
import { Panel } from '../../parts/components/panel';

type Node = Propagation['nodes'][number];

const STATES = {
  confirmed: { color: 'green', text: 'Up to date' },
  pending: { color: 'yellow', text: 'Pending' },
  reading: { color: 'indigo', text: 'Uncached' },
  gone: { color: 'gray', text: 'Offline' },
} as const;

/** When each gateway node confirmed the key's last change. Asks again until all have. */
export function PropagationPanel({ id }: { readonly id: string }): ReactNode {
  const query = useQuery(propagationQuery(id));
  return (
    <Panel title="Last change at the gateway" aside={query.data && <Summary {...query.data} />}>
      <Loaded query={query} height={110}>
        {({ changedAt, nodes }) => (
          <DataTable
            caption="Gateway nodes"
            columns={columnsFor(changedAt)}
            rows={nodes}
            rowKey={(node) => node.name}
            empty={<Text p="sm">No gateway nodes yet. They appear here once they run.</Text>}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Summary({ changedAt, nodes }: Propagation): ReactNode {
  const waiting = nodes.filter((node) => node.state === 'pending').length;
  const text = waiting === 0 ? 'Applied on every node' : `Waiting for ${waiting} of ${nodes.length} nodes`;
  return (
    <Text size="sm" c="dimmed" role="status">
      {changedAt === null ? 'Not changed since it was created' : text}
    </Text>
  );
}

function columnsFor(changedAt: string | null): readonly Column<Node>[] {
  return [
    { header: 'Node', isTitle: true, cell: (node) => node.name },
    {
      header: 'State',
      cell: (node) => (
        <Badge
          color={STATES[node.state].color}
          title={node.state === 'reading' ? 'This node lost its change feed and reads the database on every request' : undefined}
        >
          {STATES[node.state].text}
        </Badge>
      ),
    },
    { header: 'Delay', isNumber: true, cell: (node) => delay(changedAt, node.confirmedAt) },
    { header: 'Confirmed', cell: (node) => <Moment at={node.confirmedAt} none={node.state === 'pending' ? 'not yet' : '–'} /> },
    { header: 'Last seen', cell: (node) => <Moment at={node.seenAt} /> },
  ];
}

/** Seconds between the change and its confirmation. */
function delay(changedAt: string | null, confirmedAt: string | null): string {
  if (changedAt === null || confirmedAt === null) return '–';
  const seconds = (Date.parse(confirmedAt) - Date.parse(changedAt)) / 1000;
  return seconds < 0 ? '–' : `${seconds.toFixed(2)} s`;
}
