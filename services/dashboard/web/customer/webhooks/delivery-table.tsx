import { Badge, Button } from '@mantine/core';
import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Delivery } from '../../../contract/alerts';
import { deliveriesQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { usePaged } from '../../parts/hooks/use-paged';
import { useSubmit } from '../../parts/hooks/use-submit';
import { DataTable, type Column } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Moment } from '../../parts/components/moment';
import { Pager } from '../../parts/components/pager';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';

const STATES = {
  waiting: { color: 'yellow', text: 'Pending' },
  delivered: { color: 'green', text: 'Delivered' },
  failed: { color: 'red', text: 'Failed' },
} as const;

const COLUMNS: readonly Column<Delivery>[] = [
  { header: 'Event', isTitle: true, cell: ({ event }) => <span className="mono">{event}</span> },
  { header: 'State', cell: ({ state }) => <Badge color={STATES[state].color}>{STATES[state].text}</Badge> },
  { header: 'Response', cell: ({ lastStatus, lastError }) => lastError ?? (lastStatus === null ? '–' : String(lastStatus)) },
  { header: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { header: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { header: 'Next attempt', cell: ({ nextAttemptAt }) => <Moment at={nextAttemptAt} none="–" /> },
];

/** What was sent to a webhook, newest first, with what came of it. */
export function DeliveryTable({ webhookId }: { readonly webhookId: string }): ReactNode {
  const client = useQueryClient();
  const paging = usePaged();
  const { data, error, refetch } = useRead({ ...deliveriesQuery(webhookId, paging.after), placeholderData: keepPreviousData });
  const { submit, pending, problem } = useSubmit(async (id: string) => {
    await call('POST /webhooks/:id/deliveries/:deliveryId/replay', { params: { id: webhookId, deliveryId: id } });
    toast('Delivery queued again.');
    await client.invalidateQueries({ queryKey: ['webhooks', webhookId] });
  });
  const columns: readonly Column<Delivery>[] = [
    ...COLUMNS,
    {
      header: 'Replay',
      isHeaderHidden: true,
      cell: (delivery) =>
        delivery.state !== 'waiting' && <Replay event={delivery.event} isOff={pending} onClick={() => void submit(delivery.id)} />,
    },
  ];
  if (error) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  return (
    <>
      <ProblemAlert problem={problem} />
      <DataTable
        caption="Deliveries"
        columns={columns}
        rows={data?.deliveries}
        rowKey={({ id }) => id}
        expectedRows={3}
        empty={
          <EmptyState title="No deliveries yet">
            Send a test event to check that your endpoint receives it and can verify the signature.
          </EmptyState>
        }
      />
      <Pager paging={paging} next={data?.next} />
    </>
  );
}

interface ReplayProps {
  readonly event: string;
  readonly isOff: boolean;
  readonly onClick: () => void;
}

function Replay({ event, isOff, onClick }: ReplayProps): ReactNode {
  return (
    <Button size="compact-xs" variant="default" className="tappable" disabled={isOff} onClick={onClick} aria-label={`Replay ${event}`}>
      Replay
    </Button>
  );
}
