import { Badge, Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Webhook } from '../../../contract/alerts';
import { webhooksQuery } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { Moment } from '../../parts/components/moment';
import { PageTitle } from '../../parts/components/page-title';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';
import { AddWebhookDialog } from './add-webhook-dialog';

const COLUMNS: readonly Column<Webhook>[] = [
  {
    header: 'URL',
    isTitle: true,
    cell: (webhook) => (
      <Link to="/webhooks/$webhookId" params={{ webhookId: webhook.id }} className="text-link">
        {webhook.url}
      </Link>
    ),
  },
  { header: 'State', cell: (webhook) => <WebhookStateBadge state={webhook.state} /> },
  { header: 'Last delivery', cell: (webhook) => <Outcome outcome={webhook.lastOutcome} /> },
  { header: 'Created', cell: (webhook) => <Moment at={webhook.createdAt} /> },
];

export function WebhookStateBadge({ state }: Pick<Webhook, 'state'>): ReactNode {
  return <Badge color={state === 'active' ? 'green' : 'yellow'}>{state === 'active' ? 'Active' : 'Paused'}</Badge>;
}

function Outcome({ outcome }: { readonly outcome: Webhook['lastOutcome'] }): ReactNode {
  if (outcome === null) return <span className="dimmed">None yet</span>;
  return <Badge color={outcome === 'delivered' ? 'green' : 'red'}>{outcome === 'delivered' ? 'Delivered' : 'Failed'}</Badge>;
}

/** The URLs that alerts are sent to. */
export function WebhooksPage(): ReactNode {
  const { data, error, refetch } = useRead(webhooksQuery);
  const [isAdding, { open, close }] = useDisclosure(false);
  const add = (
    <Guarded needs="webhooks">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        Add a webhook
      </Button>
    </Guarded>
  );
  return (
    <>
      <PageTitle title="Webhooks" actions={add}>
        Every alert is sent to these URLs as a signed request, and retried if delivery fails.
      </PageTitle>
      {error ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Webhooks"
          columns={COLUMNS}
          rows={data?.webhooks}
          rowKey={(webhook) => webhook.id}
          expectedRows={3}
          empty={
            <EmptyState title="No webhooks yet" action={add}>
              Add a URL of yours to receive alerts without checking this page.
            </EmptyState>
          }
        />
      )}
      {isAdding && <AddWebhookDialog mayBePrivate={data?.mayBePrivate ?? false} onClose={close} />}
    </>
  );
}
