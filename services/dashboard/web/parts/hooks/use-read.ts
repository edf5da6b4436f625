import { type QueryKey, useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';

/** Why a query has no data, even while it retries: the query itself does not say that. */
export function useProblem({ data, error, errorUpdateCount }: UseQueryResult): Error | null {
  const [last, setLast] = useState(error);
  if (error !== null && error !== last) setLast(error);
  if (data !== undefined) return null;
  return error ?? (errorUpdateCount > 0 ? last : null);
}

/** A query's data, or why there is none; neither while it loads for the first time. */
export function useRead<Asked, Data, Key extends QueryKey>(options: UseQueryOptions<Asked, Error, Data, Key>) {
  const query = useQuery(options);
  return { data: query.data, error: useProblem(query), refetch: query.refetch };
}
