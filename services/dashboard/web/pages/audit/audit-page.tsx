import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type AuditLog } from '../../../contract/audit';
import { auditQuery } from '../../api/queries';
import { Action, Actor, Details } from './audit-cells';
import { usePaged } from '../../hooks/use-paged';
import { DataTable, type Column } from '../../components/data-table';
import { EmptyState } from '../../components/empty-state';
import { Moment } from '../../components/moment';
import { PageTitle } from '../../components/page-title';
import { Pager } from '../../components/pager';
import { ProblemAlert } from '../../components/problem-alert';

type Entry = AuditLog['entries'][number];

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'Action', isTitle: true, cell: ({ action }) => <Action action={action} /> },
  { header: 'Time', cell: ({ at }) => <Moment at={at} isExact /> },
  { header: 'User', cell: ({ actor, from }) => <Actor actor={actor} from={from} /> },
  { header: 'Target', cell: ({ subject }) => <Subject subject={subject} /> },
  { header: 'Details', isWide: true, cell: ({ details }) => <Details details={details} /> },
];

function Subject({ subject: { kind, id, label } }: Pick<Entry, 'subject'>): ReactNode {
  if (kind !== 'credential' && kind !== 'key') return label ?? kind;
  return (
    <Link to="/keys/$keyId" params={{ keyId: id }} className="text-link mono keep">
      {label ?? 'key'}
    </Link>
  );
}

/** Who changed what, when, and from where. */
export function AuditPage(): ReactNode {
  const paging = usePaged();
  const { data, error, refetch } = useQuery({ ...auditQuery(paging.after), placeholderData: keepPreviousData });
  return (
    <>
      <PageTitle title="Audit log">Every change to your keys, subscriptions and webhooks, newest first.</PageTitle>
      {error && !data ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Audit log"
          columns={COLUMNS}
          rows={data?.entries}
          rowKey={({ at, action, subject }) => `${at} ${action} ${subject.id}`}
          expectedRows={8}
          empty={<EmptyState title="No changes yet">Changes to your account are recorded here.</EmptyState>}
        />
      )}
      <Pager paging={paging} next={data?.next} />
    </>
  );
}
