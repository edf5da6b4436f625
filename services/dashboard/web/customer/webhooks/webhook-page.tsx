import { Button, Group, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Webhook } from '../../../contract/alerts';
import { webhooksQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { useSubmit } from '../../parts/hooks/use-submit';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { DeliveryTable } from './delivery-table';
import { WebhookActions } from './webhook-actions';
import { WebhookStateBadge } from './webhooks-page';

/** One webhook and what was sent to it. */
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
