import { Button, Group, Text, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQueryClient, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useForm } from '@mantine/form';
import type { ListedKey } from '../../contract/keys';
import { customerKeysQuery, catalogueQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { usePaged } from '../parts/hooks/use-paged';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { type Column, ReadTable } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Moment } from '../parts/components/moment';
import { Pager } from '../parts/components/pager';
import { Panel } from '../parts/components/panel';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useSoldTitles } from '../parts/hooks/use-product-titles';
import { useRead } from '../parts/hooks/use-read';
import { KeyStateBadge } from '../customer/keys/key-state-badge';
import { KeyProducts, ModeBadge } from '../customer/keys/key-table';
import { SuspendButton } from './customer-subscriptions';
import type { SuspensionTarget } from './suspend-dialog';
import { uniqueId } from '../parts/browser/unique-id';
import { useSubmit } from '../parts/hooks/use-submit';
import { CodeLine } from '../parts/components/code-line';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { OnceOnly } from '../parts/components/once-only';
import { ModeChoice, RefusedTestKeys } from '../customer/keys/mode-choice';
import { ProductChoice } from '../customer/keys/product-choice';

interface CustomerKeysProps {
  readonly customerId: string;
  readonly onSuspend: (target: SuspensionTarget) => void;
}

/** The customer's keys, masked. */
export function CustomerKeys({ customerId, onSuspend }: CustomerKeysProps): ReactNode {
  const paging = usePaged();
  const { data, ...read } = useRead({ ...customerKeysQuery(customerId, paging.after), placeholderData: keepPreviousData });
  const [isIssuing, { open, close }] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ListedKey>();
  const titleOf = useSoldTitles();
  const issue = (
    <Button size="xs" variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={open}>
      Issue a key
    </Button>
  );
  return (
    <Panel title="Keys" aside={issue}>
      <ReadTable
        read={read}
        caption="Keys"
        columns={columnsFor({ titleOf, onSuspend, onRevoke: setRevoked })}
        rows={data?.keys}
        rowKey={({ id }) => id}
        empty={<EmptyState title="No keys">The customer has made none yet.</EmptyState>}
      />
      <Pager paging={paging} next={data?.next} />
      {isIssuing && <IssueKeyDialog customerId={customerId} onClose={close} />}
      {revoked && <RevokeDialog item={revoked} onClose={() => setRevoked(undefined)} />}
    </Panel>
  );
}

interface ColumnOptions {
  readonly titleOf: (product: string) => string;
  readonly onSuspend: (target: SuspensionTarget) => void;
  readonly onRevoke: (key: ListedKey) => void;
}

function columnsFor({ titleOf, onSuspend, onRevoke }: ColumnOptions): readonly Column<ListedKey>[] {
  return [
    { header: 'Key', isTitle: true, cell: ({ maskedKey }) => <span className="mono keep">{maskedKey}</span> },
    {
      header: 'Name',
      cell: ({ name }) => (name === null ? <span className="dimmed">unnamed</span> : <bdi className="breakable">{name}</bdi>),
    },
    { header: 'Mode', cell: ({ mode }) => <ModeBadge mode={mode} /> },
    { header: 'State', cell: (key) => <KeyStateBadge item={key} /> },
    { header: 'Products', isWide: true, cell: ({ products }) => <KeyProducts products={products.map(titleOf)} /> },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
    {
      header: 'Acts',
      isHeaderHidden: true,
      cell: (key) => (
        <Group gap={6} wrap="nowrap">
          <SuspendButton
            target={{ kind: 'key', id: key.id, name: key.maskedKey, isSuspended: key.suspended !== undefined }}
            onSuspend={onSuspend}
            disabled={key.state === 'revoked'}
          />
          <Button
            size="compact-xs"
            variant="default"
            className="tappable"
            disabled={key.state === 'revoked'}
            onClick={() => onRevoke(key)}
            aria-label={`Revoke ${key.maskedKey}`}
          >
            Revoke
          </Button>
        </Group>
      ),
    },
  ];
}

function RevokeDialog({ item, onClose }: { readonly item: ListedKey; readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const revoke = async (): Promise<void> => {
    await call('POST /operator/keys/:id/revoke', { params: { id: item.id } });
    await client.invalidateQueries({ queryKey: ['operator'] });
  };
  return (
    <ConfirmDialog title={`Revoke ${item.maskedKey}?`} action="Revoke permanently" isDangerous onConfirm={revoke} onClose={onClose}>
      <Text size="sm">The key stops working within a second, for good. To stop it for a while, suspend it instead.</Text>
    </ConfirmDialog>
  );
}

interface IssueKeyDialogProps {
  readonly customerId: string;
  readonly onClose: () => void;
}

/** Makes a key for a customer and shows it once. Closing the dialog forgets it. */
function IssueKeyDialog({ customerId, onClose }: IssueKeyDialogProps): ReactNode {
  const client = useQueryClient();
  const { data } = useQuery(catalogueQuery);
  const [submission] = useState(uniqueId);
  const [secret, setSecret] = useState<string>();
  const form = useForm<{ name: string; mode: 'live' | 'test'; products: string[] }>({
    initialValues: { name: '', mode: 'live', products: [] },
    validate: { products: (value) => (value.length === 0 ? 'Choose at least one product.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ name, mode, products }: typeof form.values) => {
    const body = { submission, mode, products, ...(name.trim() && { name: name.trim() }) };
    setSecret((await call('POST /operator/customers/:id/keys', { params: { id: customerId }, body })).secret);
    await client.invalidateQueries({ queryKey: ['operator', 'customer', customerId] });
  });
  if (secret !== undefined) return <IssuedKey secret={secret} onClose={onClose} />;
  return (
    <Dialog title="Issue a key" size="lg" onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <TextInput label="Name" maxLength={100} data-autofocus {...form.getInputProps('name')} />
          <ModeChoice {...form.getInputProps('mode')} />
          <ProductChoice products={data?.products ?? []} {...form.getInputProps('products')} value={form.values.products} />
          {form.values.mode === 'test' && (
            <RefusedTestKeys
              products={(data?.products ?? []).filter(({ id }) => form.values.products.includes(id))}
              onLive={() => form.setFieldValue('mode', 'live')}
            />
          )}
          <ProblemAlert problem={problem} />
          <FormButtons action="Issue key" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

function IssuedKey({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): ReactNode {
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  return (
    <Dialog title="Issue a key" size="lg" onClose={onClose} mayCloseLightly={false} hasCloseButton={false}>
      <Stack gap="md" onCopy={noteCopy}>
        <OnceOnly isCopied={isCopied}>This key is shown only once. Send it to the customer through a channel that you trust.</OnceOnly>
        <CodeLine label="Key" text={secret} what="key" onCopied={noteCopy} />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
