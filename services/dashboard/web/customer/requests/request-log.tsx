import { Alert } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Answer } from '../../../contract/endpoints';
import { requestLogQuery, type RequestLogFilter } from '../../parts/api/queries';
import { DataTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Pager } from '../../parts/components/pager';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { usePaged } from '../../parts/hooks/use-paged';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { useRead } from '../../parts/hooks/use-read';
import { requestColumns, requestColumnsWithoutKey } from './request-columns';

interface RequestLogProps {
  readonly filter: RequestLogFilter;
  readonly limit?: number;
  /** Without pages, and without the column of keys. */
  readonly isNewestOnly?: boolean;
  /** The newest alone, of the key that the filter names. */
  readonly isOfKey?: boolean;
}

/** Requests of the last 7 days, those that went through too; each leads to its explanation. */
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

/** A log that leaves requests out says so before anybody counts its lines. */
function SampleNotice({ requests }: Pick<Answer<'GET /requests'>, 'requests'>): ReactNode {
  if (!requests.some(({ share }) => share !== null && share < 1)) return null;
  return (
    <Alert color="gray" icon={<IconInfoCircle size={18} aria-hidden />} title="Not every request is listed" mb="sm">
      Of a busy hour some requests are listed, and each says what share of its kind is. The figures under Usage count every request.
    </Alert>
  );
}
