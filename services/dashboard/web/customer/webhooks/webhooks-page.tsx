import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type Webhook } from '../../../contract/alerts';
import { webhooksQuery } from '../../parts/api/queries';
import { type Column, ReadTable } from '../../parts/components/data-table';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { Moment } from '../../parts/components/moment';
import { PageTitle } from '../../parts/components/page-title';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { call } from '../../parts/api/request';
import { brandName } from '../../parts/browser/brand';
import { CodeLine } from '../../parts/components/code-line';
import { OnceOnly } from '../../parts/components/once-only';
import { useSubmit } from '../../parts/hooks/use-submit';

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

/** The URLs that receive alerts. */
export function WebhooksPage(): ReactNode {
  const { data, ...read } = useRead(webhooksQuery);
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
      <ReadTable
        read={read}
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
      {isAdding && <AddWebhookDialog mayBePrivate={data?.mayBePrivate ?? false} onClose={close} />}
    </>
  );
}

interface AddWebhookDialogProps {
  /** True in the embedded run, where a receiver on the developer's own machine may be called. */
  readonly mayBePrivate: boolean;
  readonly onClose: () => void;
}

function checkUrl(value: string, mayBePrivate: boolean): string | null {
  if (/^https:\/\/\S+$/.test(value.trim()) || (mayBePrivate && /^http:\/\/\S+$/.test(value.trim()))) return null;
  return mayBePrivate ? 'Enter a URL that starts with https:// or http://.' : 'Enter a URL that starts with https://.';
}

/** Adds a webhook, then shows its secret once. Rendered only while it is open. */
function AddWebhookDialog({ mayBePrivate, onClose }: AddWebhookDialogProps): ReactNode {
  const client = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { url: '' },
    validate: { url: (value) => checkUrl(value, mayBePrivate) },
  });
  const { submit, pending, problem } = useSubmit(async ({ url }: typeof form.values) => {
    const created = await call('POST /webhooks', { body: { url: url.trim() } });
    setSecret(created.secret);
    void client.invalidateQueries({ queryKey: ['webhooks'] });
  });
  const mayCloseLightly = secret === undefined && !pending;
  return (
    <Dialog
      onClose={onClose}
      title={secret === undefined ? 'Add a webhook' : 'Signing secret'}
      size="lg"
      mayCloseLightly={mayCloseLightly}
      hasCloseButton={mayCloseLightly}
    >
      {secret !== undefined ? (
        <SigningSecret secret={secret} onClose={onClose} />
      ) : (
        <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
          <Stack gap="md">
            <TextInput
              label="URL"
              description={
                mayBePrivate
                  ? 'On this machine http:// and private addresses work too; elsewhere only public https:// URLs do'
                  : 'Must start with https:// and be publicly reachable, not in a private network'
              }
              placeholder="https://hooks.example.com/tollgate"
              data-autofocus
              key={form.key('url')}
              {...form.getInputProps('url')}
            />
            <ProblemAlert problem={problem} />
            <FormButtons action="Add webhook" pending={pending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

interface SigningSecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a webhook's signing secret, once. */
export function SigningSecret({ secret, onClose }: SigningSecretProps): ReactNode {
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  return (
    <Stack gap="md" onCopy={noteCopy}>
      <OnceOnly isCopied={isCopied}>
        This secret is shown only once. Your endpoint needs it to verify that a request comes from {brandName}.
      </OnceOnly>
      <CodeLine label="Signing secret" text={secret} what="secret" onCopied={noteCopy} />
      <Text size="sm" c="dimmed">
        Requests follow{' '}
        <a href="https://www.standardwebhooks.com" className="text-link in-text" rel="noreferrer">
          Standard Webhooks
        </a>
        : verify the header <span className="mono">webhook-signature</span> with this secret and one of its libraries.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
