import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type AuditOfAll } from '../../contract/operator';
import { auditOfAllQuery } from '../parts/api/operator-queries';
import { addressOf } from '../parts/api/request';
import { usePaged } from '../parts/hooks/use-paged';
import { type Column, ReadTable } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Pager } from '../parts/components/pager';
import { useRead } from '../parts/hooks/use-read';
import { useTypingPause } from '../parts/hooks/use-typing-pause';
import { ACTION_NAMES } from '../customer/audit/action-names';
import { Action, Actor, Details } from '../customer/audit/audit-cells';
import { Whose } from './request-table';
import classes from './operator-audit-page.module.css';

type Entry = AuditOfAll['entries'][number];
const FROM = '/console/operator/audit';

function Whom({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className={classes['whom']}>{children}</div>;
}

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'Action', isTitle: true, cell: ({ action }) => <Action action={action} /> },
  { header: 'Time', cell: ({ at }) => <Moment at={at} isExact /> },
  {
    header: 'By',
    cell: ({ actor, from }) => (
      <Whom>
        <Actor actor={actor} from={from} />
      </Whom>
    ),
  },
  {
    header: 'Customer',
    cell: ({ customer }) =>
      customer ? (
        <Whom>
          <Whose customer={customer} />
        </Whom>
      ) : (
        <span className="dimmed">–</span>
      ),
  },
  { header: 'Target', cell: ({ subject: { kind, label } }) => <span className="keep">{label ?? kind}</span> },
  { header: 'Details', isWide: true, cell: ({ details }) => <Details details={details} /> },
];

/** All changes with actor, time, address and customer. */
export function OperatorAuditPage(): ReactNode {
  const { actor, action, customer } = useSearch({ from: FROM });
  const filter = { actor, action, customer };
  const paging = usePaged();
  const { data, ...read } = useRead({ ...auditOfAllQuery(filter, paging.after), placeholderData: keepPreviousData });
  const download = (
    <Button
      component="a"
      variant="default"
      href={addressOf('GET /operator/audit.csv', { query: filter })}
      download
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      Download CSV
    </Button>
  );
  return (
    <>
      <PageTitle title="Audit log" actions={download}>
        Everything that was changed, by customers, operators and the command line, newest first.
      </PageTitle>
      <Filters />
      <ReadTable
        read={read}
        caption="Audit log"
        columns={COLUMNS}
        rows={data?.entries}
        rowKey={({ at, action, subject }) => `${at} ${action} ${subject.id}`}
        expectedRows={8}
        empty={<EmptyState title="Nothing matches">No entry within the time that is kept matches.</EmptyState>}
      />
      <Pager paging={paging} next={data?.next} />
    </>
  );
}

const ACTIONS = [{ value: '', label: 'All actions' }, ...Object.entries(ACTION_NAMES).map(([value, label]) => ({ value, label }))];

function Filters(): ReactNode {
  const filter = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/operator/audit' });
  const change = (part: Partial<typeof filter>): void =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined, page: undefined }), replace: true });
  const changeActor = useTypingPause((actor: string) => change({ actor: actor.trim() || undefined }));
  return (
    <Group gap="xs" mb="sm" align="flex-end">
      <NativeSelect
        label="Action"
        data={ACTIONS}
        value={filter.action ?? ''}
        onChange={(event) => change({ action: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="By"
        placeholder="operator:you@example.com"
        defaultValue={filter.actor ?? ''}
        onChange={(event) => changeActor(event.currentTarget.value)}
        maxLength={300}
        w={260}
        spellCheck={false}
      />
      {filter.customer !== undefined && (
        <Button variant="default" onClick={() => change({ customer: undefined })}>
          All customers
        </Button>
      )}
    </Group>
  );
}
