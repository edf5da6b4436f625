import { queryOptions } from '@tanstack/react-query';
import { call } from './request';

/** As the API takes it. */
export interface RequestLogFilter {
  readonly key?: string | undefined;
  readonly product?: string | undefined;
  /** `admitted`, `refused`, or the code of a refusal. */
  readonly outcome?: string | undefined;
  readonly status?: string | undefined;
  /** ISO 8601, UTC. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const requestLogQuery = (filter: RequestLogFilter, after: string | undefined, limit: number) =>
  queryOptions({
    queryKey: ['requests', filter, after, limit],
    queryFn: () => call('GET /requests', { query: { ...filter, after, limit } }),
    refetchInterval: 10_000,
  });
