import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Propagation } from '../../../contract/keys';
import { propagationQuery } from '../../api/queries';
import { DataTable, type Column } from '../../components/data-table';
import { Loaded } from '../../components/loaded';
import { Moment } from '../../components/moment';
import { Panel } from '../../components/panel';

type Node = Propagation['nodes'][number];

const STATES = {
  confirmed: { color: 'green', text: 'Confirmed' },
  pending: { color: 'yellow', text: 'Waiting' },
  reading: { color: 'indigo', text: 'Asks each time' },
  gone: { color: 'gray', text: 'Gone' },
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
            empty={<Text p="sm">No gateway node is known yet. One appears here once it runs.</Text>}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Summary({ changedAt, nodes }: Propagation): ReactNode {
  const waiting = nodes.filter((node) => node.state === 'pending').length;
  const text = waiting === 0 ? 'Every node acts on it' : `${waiting} of ${nodes.length} nodes to confirm`;
  return (
    <Text size="sm" c="dimmed" role="status">
      {changedAt === null ? 'Not changed since it was made' : text}
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
          title={node.state === 'reading' ? 'This node has lost its feed of changes and asks the database for every request' : undefined}
        >
          {STATES[node.state].text}
        </Badge>
      ),
    },
    { header: 'After the change', isNumber: true, cell: (node) => delay(changedAt, node.confirmedAt) },
    { header: 'Confirmed', cell: (node) => <Moment at={node.confirmedAt} none="not yet" /> },
    { header: 'Last seen', cell: (node) => <Moment at={node.seenAt} /> },
  ];
}

/** Seconds between the change and its confirmation. */
function delay(changedAt: string | null, confirmedAt: string | null): string {
  if (changedAt === null || confirmedAt === null) return '–';
  const seconds = (Date.parse(confirmedAt) - Date.parse(changedAt)) / 1000;
  return seconds < 0 ? '–' : `${seconds.toFixed(2)} s`;
}
