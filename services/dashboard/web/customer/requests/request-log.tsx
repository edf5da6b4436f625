import { Alert, Badge } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { AnswerOf } from '../../../contract/endpoints';
import { requestLogQuery, type RequestLogFilter } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Pager } from '../../parts/components/pager';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { usePaged } from '../../parts/hooks/use-paged';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { useRead } from '../../parts/hooks/use-read';
import type { LoggedRequest } from '../../../contract/requests';
import { Asked, SIZE_COLUMN, STATUS_COLUMN, TOOK_COLUMN, UNITS_COLUMN } from '../../parts/components/answer-cells';
import { Moment } from '../../parts/components/moment';

interface RequestLogProps {
  readonly filter: RequestLogFilter;
  readonly limit?: number;
  /** True for a list without pages and without the column of keys. */
  readonly isNewestOnly?: boolean;
  /** True for the newest requests of the key in the filter. */
  readonly isOfKey?: boolean;
}

/** Requests of the last 7 days, including those that went through. Each leads to its explanation. */
export function RequestLog({ filter, limit = 20, isOfKey = false, isNewestOnly = isOfKey }: RequestLogProps): ReactNode {
  const paging = usePaged();
  const titleOf = useProductTitles();
  const query = requestLogQuery(filter, isNewestOnly ? undefined : paging.after, limit);
  const { data, error, refetch } = useRead({ ...query, placeholderData: keepPreviousData });
  if (error) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  return (
    <>
      <SampleNotice requests={data?.requests ?? []} />
      <DataTable
        caption="Requests"
        columns={isNewestOnly ? requestColumnsWithoutKey(titleOf) : requestColumns(titleOf)}
        rows={data?.requests}
        rowKey={({ requestId }) => requestId}
        expectedRows={Math.min(limit, 8)}
        empty={
          <Nothing
            isFiltered={!isOfKey && Object.values(filter).some((value) => value !== undefined)}
            hasMore={typeof data?.next === 'string'}
          />
        }
      />
      {!isNewestOnly && <Pager paging={paging} next={data?.next} />}
    </>
  );
}

function Nothing({ isFiltered, hasMore }: { readonly isFiltered: boolean; readonly hasMore: boolean }): ReactNode {
  if (hasMore) return <EmptyState title="None among the newest 2,000">Older ones are on the next page.</EmptyState>;
  if (isFiltered) return <EmptyState title="No request matches">Choose a longer time, or fewer filters.</EmptyState>;
  return <EmptyState title="No requests in the last 7 days">Requests with your keys appear here within seconds.</EmptyState>;
}

/** Warns that the log leaves requests out, before anybody counts its lines. */
function SampleNotice({ requests }: Pick<AnswerOf<'GET /requests'>, 'requests'>): ReactNode {
  if (!requests.some(({ share }) => share !== null && share < 1)) return null;
  return (
    <Alert color="gray" icon={<IconInfoCircle size={18} aria-hidden />} title="Not every request is listed" mb="sm">
      In a busy hour only a sample of the requests is listed, and each says how large its sample is. The figures under Usage count every
      request.
    </Alert>
  );
}

/** The outcome of a request, with a link to its reasons. */
function Outcome({ request }: { readonly request: LoggedRequest }): ReactNode {
  const { requestId, outcome } = request;
  return (
    <>
      <Link to="/explain" search={{ request: requestId }} className="text-link mono keep">
        {outcome}
      </Link>
      <Note request={request} />
    </>
  );
}

function KeyOf({ request: { key } }: { readonly request: LoggedRequest }): ReactNode {
  if (key === null) return '–';
  return (
    <>
      <Link to="/keys/$keyId" params={{ keyId: key.id }} className="text-link in-text breakable">
        {key.name ?? 'Unnamed key'}
      </Link>{' '}
      <span className="mono dimmed keep">{key.masked}</span>
    </>
  );
}

function Note({ request: { givenBack, share } }: { readonly request: LoggedRequest }): ReactNode {
  return (
    <>
      {givenBack && (
        <Badge color="yellow" variant="light" display="block" w="fit-content">
          Failed, given back
        </Badge>
      )}
      {share !== null && share < 1 && <span className="dimmed block">{sampleText(share)}</span>}
    </>
  );
}

/** `1 in 20 is listed`. @param share above 0 and below 1 */
function sampleText(share: number): string {
  if (share <= 0) return 'few are listed';
  const oneIn = 1 / share;
  return oneIn < 2 ? `${Math.round(share * 100)}% are listed` : `1 in ${new Intl.NumberFormat('en').format(Math.round(oneIn))} is listed`;
}

/**
 * Columns of the log.
 * @param titleOf the name of a product, by its id
 */
function requestColumns(titleOf: (product: string) => string): readonly Column<LoggedRequest>[] {
  return [
    { header: 'Outcome', isTitle: true, cell: (request) => <Outcome request={request} /> },
    { header: 'Time', cell: ({ at }) => <Moment at={at} isExact /> },
    { header: 'Request', isWide: true, cell: ({ method, path }) => <Asked method={method} path={path} /> },
    STATUS_COLUMN,
    TOOK_COLUMN,
    SIZE_COLUMN,
    UNITS_COLUMN,
    { header: 'Product', cell: ({ product }) => (product === null ? '–' : titleOf(product)) },
    { header: 'Key', isWide: true, cell: (request) => <KeyOf request={request} /> },
  ];
}

/** Columns of a short list: on a key's own page every row would name the key, and the overview has no room for it. */
function requestColumnsWithoutKey(titleOf: (product: string) => string): readonly Column<LoggedRequest>[] {
  return requestColumns(titleOf).filter(({ header }) => header !== 'Key');
}
