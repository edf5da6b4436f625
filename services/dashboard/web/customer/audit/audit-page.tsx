import { Group, NativeSelect } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type AuditKind, type AuditLog } from '../../../contract/audit';
import { auditQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { Action, Actor, Details } from './audit-cells';
import { usePaged } from '../../parts/hooks/use-paged';
import { type Column, ReadTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Moment } from '../../parts/components/moment';
import { PageTitle } from '../../parts/components/page-title';
import { Pager } from '../../parts/components/pager';
import { ExportLink } from '../../parts/components/export-link';
import { useRead } from '../../parts/hooks/use-read';

type Entry = AuditLog['entries'][number];

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'Action', isTitle: true, cell: ({ action }) => <Action action={action} /> },
  { header: 'Time', cell: ({ at }) => <Moment at={at} isExact /> },
  { header: 'User', cell: ({ actor, from }) => <Actor actor={actor} from={from} /> },
  { header: 'Target', cell: ({ subject }) => <Subject subject={subject} /> },
  { header: 'Details', isWide: true, cell: ({ details }) => <Details details={details} /> },
];

function Subject({ subject: { kind, id, label } }: Pick<Entry, 'subject'>): ReactNode {
  if (kind !== 'credential' && kind !== 'key') return label ?? (kind === 'customer' ? 'account' : kind);
  return (
    <Link to="/keys/$keyId" params={{ keyId: id }} className="text-link mono keep">
      {label ?? 'key'}
    </Link>
  );
}

const KINDS: readonly { readonly value: AuditKind | ''; readonly label: string }[] = [
  { value: '', label: 'Everything' },
  { value: 'account', label: 'Sign-ins and security' },
  { value: 'member', label: 'Team' },
  { value: 'key', label: 'Keys' },
  { value: 'subscription', label: 'Subscriptions' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'token', label: 'API tokens' },
  { value: 'billing', label: 'Invoices' },
  { value: 'customer', label: 'By the seller' },
];

/** All changes with actor, time and address. */
export function AuditPage(): ReactNode {
  const { kind: named } = useSearch({ from: '/shell/audit' });
  // The address may hold any text.
  const kind = KINDS.find(({ value }) => value === named)?.value || undefined;
  const navigate = useNavigate({ from: '/audit' });
  const paging = usePaged();
  const { data, ...read } = useRead({ ...auditQuery(kind, paging.after), placeholderData: keepPreviousData });
  const save = <ExportLink href={addressOf('GET /audit.csv', { query: { kind } })} />;
  return (
    <>
      <PageTitle title="Audit log" actions={save}>
        Every sign-in, and every change to your account, keys, subscriptions and webhooks; newest first.
      </PageTitle>
      <Group mb="sm">
        <NativeSelect
          aria-label="Kind of entry"
          data={[...KINDS]}
          value={kind ?? ''}
          onChange={(event) => void navigate({ search: { kind: event.currentTarget.value || undefined }, replace: true })}
        />
      </Group>
      <ReadTable
        read={read}
        caption="Audit log"
        columns={COLUMNS}
        rows={data?.entries}
        rowKey={({ at, action, subject }) => `${at} ${action} ${subject.id}`}
        expectedRows={8}
        empty={
          kind === undefined ? (
            <EmptyState title="No changes yet">Changes to your account are recorded here.</EmptyState>
          ) : (
            <EmptyState title="Nothing of this kind">Choose another kind of entry above.</EmptyState>
          )
        }
      />
      <Pager paging={paging} next={data?.next} />
    </>
  );
}
