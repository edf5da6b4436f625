import { Button, Group, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type CreatedWebhook, type Webhook } from '../../../contract/alerts';
import { explainConflict } from '../../api/explain-conflict';
import { webhooksQuery } from '../../api/queries';
import { patch, post, remove } from '../../api/request';
import { toast } from '../../browser/toast';
import { useSubmit } from '../../hooks/use-submit';
import { ConfirmDialog } from '../../components/confirm-dialog';
import { Dialog } from '../../components/dialog';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { Panel } from '../../components/panel';
import { ProblemAlert } from '../../components/problem-alert';
import { DeliveryTable } from './delivery-table';
import { SigningSecret } from './signing-secret';
import { WebhookStateBadge } from './webhooks-page';

/** One webhook and what was sent to it. */
export function WebhookPage(): ReactNode {
  const { webhookId } = useParams({ from: '/shell/webhooks/$webhookId' });
  const query = useQuery(webhooksQuery);
  return (
    <>
      <Text size="sm" mb={4}>
        <Link to="/webhooks" className="text-link">
          All webhooks
        </Link>
      </Text>
      <Loaded query={query} height={420}>
        {({ webhooks }) => {
          const webhook = webhooks.find((each) => each.id === webhookId);
          return webhook ? <WebhookView webhook={webhook} /> : <EmptyState title="Webhook not found">It may have been deleted.</EmptyState>;
        }}
      </Loaded>
    </>
  );
}

function WebhookView({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const client = useQueryClient();
  const test = useSubmit(async () => {
    await post(`/webhooks/${webhook.id}/test`);
    toast('Test event queued; it will appear below.');
    await client.invalidateQueries({ queryKey: ['webhooks'] });
  });
  return (
    <>
      <PageTitle title="Webhook" actions={<Actions webhook={webhook} />}>
        <span className="mono breakable">{webhook.url}</span>
      </PageTitle>
      <Group gap="sm" mb="md">
        <WebhookStateBadge state={webhook.state} />
        <Button size="xs" variant="default" loading={test.pending} onClick={() => void test.submit()}>
          Send test event
        </Button>
      </Group>
      <ProblemAlert problem={test.problem} />
      <Panel title="Deliveries">
        <DeliveryTable webhookId={webhook.id} />
      </Panel>
    </>
  );
}

type Act = 'toggle' | 'secret' | 'remove';

function Actions({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [act, setAct] = useState<Act>();
  const [secret, setSecret] = useState<string>();
  const isActive = webhook.state === 'active';
  const close = (): void => setAct(undefined);
  const path = `/webhooks/${webhook.id}`;

  /** Runs a change; whatever came of it, the page then shows how it is. */
  async function change(request: () => Promise<unknown>): Promise<void> {
    try {
      await request();
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries({ queryKey: ['webhooks'] });
    }
  }

  async function toggle(): Promise<void> {
    await change(() => patch(path, { version: webhook.version, state: isActive ? 'paused' : 'active' }));
    toast(isActive ? 'Webhook paused.' : 'Webhook resumed.');
  }
  async function renew(): Promise<void> {
    await change(async () => setSecret((await post<CreatedWebhook>(`${path}/secret`, { version: webhook.version })).secret));
  }
  async function removeIt(): Promise<void> {
    await change(() => remove(path, { version: webhook.version }));
    toast('Webhook deleted.');
    await navigate({ to: '/webhooks' });
  }

  return (
    <>
      <Button variant="default" onClick={() => setAct('toggle')}>
        {isActive ? 'Pause' : 'Resume'}
      </Button>
      <Button variant="default" onClick={() => setAct('secret')}>
        Rotate secret
      </Button>
      <Button variant="light" color="red" onClick={() => setAct('remove')}>
        Delete
      </Button>
      {act === 'toggle' && (
        <ConfirmDialog
          title={isActive ? 'Pause this webhook?' : 'Resume this webhook?'}
          action={isActive ? 'Pause' : 'Resume'}
          onConfirm={toggle}
          onClose={close}
        >
          {isActive
            ? 'No alerts are sent to it until you resume. They still appear on the Alerts page.'
            : 'Alerts are sent to it again from now on.'}
        </ConfirmDialog>
      )}
      {act === 'secret' && (
        <ConfirmDialog title="Rotate the signing secret?" action="Rotate secret" onConfirm={renew} onClose={close}>
          Requests are signed with the new secret from now on. Update your endpoint, or it will reject them.
        </ConfirmDialog>
      )}
      {act === 'remove' && (
        <ConfirmDialog title="Delete this webhook?" action="Delete" isDangerous onConfirm={removeIt} onClose={close}>
          Nothing more is sent to it, and its delivery log is deleted.
        </ConfirmDialog>
      )}
      {secret !== undefined && (
        <Dialog onClose={() => setSecret(undefined)} title="Signing secret" size="lg" mayCloseLightly={false} hasCloseButton={false}>
          <SigningSecret secret={secret} onClose={() => setSecret(undefined)} />
        </Dialog>
      )}
    </>
  );
}
