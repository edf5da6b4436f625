import { Button, Group, Text, Badge } from '@mantine/core';
import { useQuery, useQueryClient, keepPreviousData } from '@tanstack/react-query';
import { Link, useParams, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Webhook, Delivery } from '../../../contract/alerts';
import { webhooksQuery, deliveriesQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { useSubmit } from '../../parts/hooks/use-submit';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { WebhookStateBadge, SigningSecret } from './webhooks-page';
import { explainConflict } from '../../parts/api/explain-conflict';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { Dialog } from '../../parts/components/dialog';
import { usePaged } from '../../parts/hooks/use-paged';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';
import { Pager } from '../../parts/components/pager';
import { useRead } from '../../parts/hooks/use-read';

/** One webhook and its deliveries. */
export function WebhookPage(): ReactNode {
  const { webhookId } = useParams({ from: '/shell/webhooks/$webhookId' });
  const query = useQuery(webhooksQuery);
  const webhook = query.data?.webhooks.find((each) => each.id === webhookId);
  return (
    <>
      <Text size="sm" mb={4}>
        <Link to="/webhooks" className="text-link">
          All webhooks
        </Link>
      </Text>
      {!webhook && <PageTitle title="Webhook" />}
      <Loaded query={query} height={420}>
        {() => (webhook ? <WebhookView webhook={webhook} /> : <EmptyState title="Webhook not found">It may have been deleted.</EmptyState>)}
      </Loaded>
    </>
  );
}

const guard = (children: ReactNode): ReactNode => <Guarded needs="webhooks">{children}</Guarded>;

function WebhookView({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const client = useQueryClient();
  const test = useSubmit(async () => {
    await call('POST /webhooks/:id/test', { params: { id: webhook.id } });
    toast('Test event queued; it will appear below.');
    await client.invalidateQueries({ queryKey: ['webhooks'] });
  });
  return (
    <>
      <PageTitle title="Webhook" actions={guard(<WebhookActions webhook={webhook} />)}>
        <span className="mono breakable">{webhook.url}</span>
      </PageTitle>
      <Group gap="sm" mb="md">
        <WebhookStateBadge state={webhook.state} />
        {guard(
          <Button size="xs" variant="default" loading={test.pending} onClick={() => void test.submit()}>
            Send test event
          </Button>,
        )}
      </Group>
      <ProblemAlert problem={test.problem} />
      <Panel title="Deliveries">
        <DeliveryTable webhookId={webhook.id} />
      </Panel>
    </>
  );
}

interface WebhookChanges {
  readonly toggle: () => Promise<void>;
  readonly renewSecret: () => Promise<void>;
  readonly removeIt: () => Promise<void>;
}

/** The changes of a webhook. After each, the page shows its present state. */
function useWebhookChanges({ id, version, state }: Webhook, onSecret: (secret: string) => void): WebhookChanges {
  const client = useQueryClient();
  const navigate = useNavigate();
  const params = { id };
  async function change(request: () => Promise<unknown>): Promise<void> {
    try {
      await request();
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries({ queryKey: ['webhooks'] });
    }
  }
  return {
    toggle: async () => {
      await change(() => call('PATCH /webhooks/:id', { params, body: { version, state: state === 'active' ? 'paused' : 'active' } }));
      toast(state === 'active' ? 'Webhook paused.' : 'Webhook resumed.');
    },
    renewSecret: () => change(async () => onSecret((await call('POST /webhooks/:id/secret', { params })).secret)),
    removeIt: async () => {
      await change(() => call('DELETE /webhooks/:id', { params }));
      toast('Webhook deleted.');
      await navigate({ to: '/webhooks' });
    },
  };
}

type Act = 'toggle' | 'secret' | 'remove';

/** Buttons to pause or resume, rotate the secret, and delete. Each asks first. */
function WebhookActions({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const [act, setAct] = useState<Act>();
  const [secret, setSecret] = useState<string>();
  const forgetSecret = (): void => setSecret(undefined);
  const changes = useWebhookChanges(webhook, setSecret);
  return (
    <>
      <Button variant="default" onClick={() => setAct('toggle')}>
        {webhook.state === 'active' ? 'Pause' : 'Resume'}
      </Button>
      <Button variant="default" onClick={() => setAct('secret')}>
        Rotate secret
      </Button>
      <Button variant="light" color="red" onClick={() => setAct('remove')}>
        Delete
      </Button>
      {act && <ActDialog act={act} isActive={webhook.state === 'active'} changes={changes} onClose={() => setAct(undefined)} />}
      {secret !== undefined && (
        <Dialog onClose={forgetSecret} title="Signing secret" size="lg" mayCloseLightly={false} hasCloseButton={false}>
          <SigningSecret secret={secret} onClose={forgetSecret} />
        </Dialog>
      )}
    </>
  );
}

interface ActDialogProps {
  readonly act: Act;
  readonly isActive: boolean;
  readonly changes: WebhookChanges;
  readonly onClose: () => void;
}

function ActDialog({ act, isActive, changes, onClose }: ActDialogProps): ReactNode {
  switch (act) {
    case 'toggle':
      return isActive ? (
        <ConfirmDialog title="Pause this webhook?" action="Pause" onConfirm={changes.toggle} onClose={onClose}>
          No alerts are sent to it until you resume. They still appear on the Alerts page.
        </ConfirmDialog>
      ) : (
        <ConfirmDialog title="Resume this webhook?" action="Resume" onConfirm={changes.toggle} onClose={onClose}>
          Alerts are sent to it again from now on.
        </ConfirmDialog>
      );
    case 'secret':
      return (
        <ConfirmDialog title="Rotate the signing secret?" action="Rotate secret" onConfirm={changes.renewSecret} onClose={onClose}>
          Requests are signed with the new secret from now on. Update your endpoint, or it will reject them.
        </ConfirmDialog>
      );
    case 'remove':
      return (
        <ConfirmDialog title="Delete this webhook?" action="Delete" isDangerous onConfirm={changes.removeIt} onClose={onClose}>
          Nothing more is sent to it, and its delivery log is deleted.
        </ConfirmDialog>
      );
  }
}

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

/** The deliveries of a webhook with their results, newest first. */
function DeliveryTable({ webhookId }: { readonly webhookId: string }): ReactNode {
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
