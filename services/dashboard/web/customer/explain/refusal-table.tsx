import { Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type AnswerOf } from '../../../contract/endpoints';
import { refusalsQuery } from '../../parts/api/queries';
import { pageSearch, usePaged } from '../../parts/hooks/use-paged';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { DataTable, type Column } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Moment } from '../../parts/components/moment';
import { Pager } from '../../parts/components/pager';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';

type Refusal = AnswerOf<'GET /refusals'>['refusals'][number];

/** On the page that explains, the list below keeps its place. */
const COLUMNS: readonly Column<Refusal>[] = [
  {
    header: 'Reason',
    isTitle: true,
    cell: ({ requestId, code }) => (
      <Link
        to="/explain"
        search={(now) => ({ request: requestId, ...pageSearch(now) })}
        state={({ cursors }) => (cursors === undefined ? {} : { cursors })}
        className="text-link mono"
      >
        {code}
      </Link>
    ),
  },
  { header: 'Time', cell: (refusal) => <Moment at={refusal.at} /> },
  { header: 'Product', cell: ({ product }) => (product === null ? '–' : <ProductTitle of={product} />) },
  { header: 'Key', cell: (refusal) => <span className="mono keep">{refusal.maskedKey ?? '–'}</span> },
  {
    header: 'Caller',
    cell: (refusal) => (
      <>
        <span className="mono">{refusal.callerAddress ?? '–'}</span>
        {refusal.originHost !== null && (
          <Text component="span" size="xs" c="dimmed">
            {' '}
            {refusal.originHost}
          </Text>
        )}
      </>
    ),
  },
];

function ProductTitle({ of: product }: { readonly of: string }): ReactNode {
  return useProductTitles()(product);
}

interface RefusalTableProps {
  readonly limit?: number;
  readonly isPaged?: boolean;
}

/** Refused requests of the last 7 days; each leads to its explanation. */
export function RefusalTable({ limit = 25, isPaged = true }: RefusalTableProps): ReactNode {
  const paging = usePaged();
  const { data, error, refetch } = useRead({ ...refusalsQuery(paging.after, limit), placeholderData: keepPreviousData });
  if (error) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  return (
    <>
      <DataTable
        caption="Refused requests"
        columns={COLUMNS}
        rows={data?.refusals}
        rowKey={(refusal) => refusal.requestId}
        expectedRows={Math.min(limit, 5)}
        empty={
          <EmptyState title="No refused requests in the last 7 days">
            Refused requests appear here within seconds, with the reason.
          </EmptyState>
        }
      />
      {isPaged && <Pager paging={paging} next={data?.next} />}
    </>
  );
}
