import { Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type RequestsOfAll } from '../../contract/operator';
import { requestsQuery, type RequestFilter } from '../parts/api/operator-queries';
import { usePaged } from '../parts/hooks/use-paged';
import { Asked as Requested, SIZE_COLUMN, STATUS_COLUMN, TOOK_COLUMN, UNITS_COLUMN } from '../parts/components/answer-cells';
import { DataTable, type Column } from '../parts/components/data-table';
import { EmailText } from '../parts/components/email-text';
import { EmptyState } from '../parts/components/empty-state';
import { Moment } from '../parts/components/moment';
import { Pager } from '../parts/components/pager';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useRead } from '../parts/hooks/use-read';
import { REQUESTS_SEARCH } from '../parts/format/requests-search';
import { ProductTitle } from './product-title';

type Asked = RequestsOfAll['requests'][number];

const COLUMNS: readonly Column<Asked>[] = [
  {
    header: 'Outcome',
    isTitle: true,
    cell: ({ requestId, outcome }) => (
      <Link to="/operator/requests" search={(now) => ({ ...REQUESTS_SEARCH, ...now, request: requestId })} className="text-link mono keep">
        {outcome}
      </Link>
    ),
  },
  { header: 'Time', cell: ({ at }) => <Moment at={at} /> },
  { header: 'Request', isWide: true, cell: ({ method, path }) => <Requested method={method} path={path} /> },
  STATUS_COLUMN,
  TOOK_COLUMN,
  SIZE_COLUMN,
  UNITS_COLUMN,
  { header: 'Product', cell: ({ product }) => (product === null ? '–' : <ProductTitle of={product} />) },
  { header: 'Customer', cell: ({ customer }) => <Whose customer={customer} /> },
  { header: 'Key and caller', isWide: true, cell: (request) => <Caller request={request} /> },
];

/** On a customer's own page every row would name the customer. */
const COLUMNS_OF_CUSTOMER = COLUMNS.filter(({ header }) => header !== 'Customer');

/** The key and the address of the caller. */
function Caller({ request: { maskedKey, callerAddress, originHost } }: { readonly request: Asked }): ReactNode {
  return (
    <>
      <span className="mono keep">{maskedKey ?? 'no key'}</span>
      {[callerAddress, originHost].map(
        (place, index) =>
          place !== null && (
            <Text component="span" size="xs" c="dimmed" display="block" key={index}>
              <EmailText text={place} />
            </Text>
          ),
      )}
    </>
  );
}

/** A customer's address, with a link to its page. */
export function Whose({ customer }: Pick<Asked, 'customer'>): ReactNode {
  if (customer === null) return <span className="dimmed">nobody</span>;
  return (
    <Link to="/operator/customers/$customerId" params={{ customerId: customer.id }} className="text-link">
      <EmailText text={customer.email} />
    </Link>
  );
}

interface RequestTableProps {
  readonly filter: RequestFilter;
  readonly limit?: number;
  readonly isPaged?: boolean;
}

/** Requests of the last 7 days, kept current. Each leads to its explanation. */
export function RequestTable({ filter, limit = 25, isPaged = true }: RequestTableProps): ReactNode {
  const paging = usePaged();
  const { data, error, refetch } = useRead({
    ...requestsQuery(filter, isPaged ? paging.after : undefined, limit),
    placeholderData: keepPreviousData,
  });
  if (error) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  const hasMore = typeof data?.next === 'string';
  const isFiltered = isPaged && Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <DataTable
        caption="Requests"
        columns={isPaged ? COLUMNS : COLUMNS_OF_CUSTOMER}
        rows={data?.requests}
        rowKey={({ requestId }) => requestId}
        expectedRows={Math.min(limit, 5)}
        empty={
          hasMore ? (
            <EmptyState title="None among the newest 2,000">Older ones are on the next page.</EmptyState>
          ) : isFiltered ? (
            <EmptyState title="No request matches">Use fewer filters. Requests are kept for 7 days.</EmptyState>
          ) : (
            <EmptyState title="No requests in the last 7 days">Requests appear here within seconds.</EmptyState>
          )
        }
      />
      {isPaged && <Pager paging={paging} next={data?.next} />}
    </>
  );
}
