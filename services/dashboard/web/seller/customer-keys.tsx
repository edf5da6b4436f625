import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type ListedKey } from '../../contract/keys';
import { customerKeysQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { usePaged } from '../parts/hooks/use-paged';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { DataTable, type Column } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Moment } from '../parts/components/moment';
import { Pager } from '../parts/components/pager';
import { Panel } from '../parts/components/panel';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useRead } from '../parts/hooks/use-read';
import { KeyStateBadge } from '../customer/keys/key-state-badge';
import { KeyProducts, ModeBadge } from '../customer/keys/key-table';
import { SuspendButton } from './customer-subscriptions';
import { IssueKeyDialog } from './issue-key-dialog';
import { type SuspensionTarget } from './suspend-dialog';

interface CustomerKeysProps {
  readonly customerId: string;
  readonly onSuspend: (target: SuspensionTarget) => void;
}

/** The customer's keys, masked. */
export function CustomerKeys({ customerId, onSuspend }: CustomerKeysProps): ReactNode {
  const paging = usePaged();
  const { data, error, refetch } = useRead({ ...customerKeysQuery(customerId, paging.after), placeholderData: keepPreviousData });
  const [isIssuing, { open, close }] = useDisclosure(false);
  const [revoked, setRevoked] = useState<ListedKey>();
  const issue = (
    <Button size="xs" variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={open}>
      Issue a key
    </Button>
  );
  return (
    <Panel title="Keys" aside={issue}>
      {error ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Keys"
          columns={columnsFor(onSuspend, setRevoked)}
          rows={data?.keys}
          rowKey={({ id }) => id}
          empty={<EmptyState title="No keys">The customer has made none yet.</EmptyState>}
        />
      )}
      <Pager paging={paging} next={data?.next} />
      {isIssuing && <IssueKeyDialog customerId={customerId} onClose={close} />}
      {revoked && <RevokeDialog item={revoked} onClose={() => setRevoked(undefined)} />}
    </Panel>
  );
}

function columnsFor(onSuspend: (target: SuspensionTarget) => void, onRevoke: (key: ListedKey) => void): readonly Column<ListedKey>[] {
  return [
    { header: 'Key', isTitle: true, cell: ({ maskedKey }) => <span className="mono keep">{maskedKey}</span> },
    {
      header: 'Name',
      cell: ({ name }) => (name === null ? <span className="dimmed">unnamed</span> : <bdi className="breakable">{name}</bdi>),
    },
    { header: 'Mode', cell: ({ mode }) => <ModeBadge mode={mode} /> },
    { header: 'State', cell: (key) => <KeyStateBadge item={key} /> },
    { header: 'Products', isWide: true, cell: ({ products }) => <KeyProducts products={products} /> },
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
