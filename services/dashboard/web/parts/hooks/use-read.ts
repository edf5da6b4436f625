import { type QueryKey, useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';

/** Why a query has nothing to show, also while it asks again: then the query itself says nothing of it. */
export function useProblem({ data, error, errorUpdateCount }: UseQueryResult): Error | null {
  const [last, setLast] = useState(error);
  if (error !== null && error !== last) setLast(error);
  if (data !== undefined) return null;
  return error ?? (errorUpdateCount > 0 ? last : null);
}

/** What a query answered, or why there is nothing; neither while it asks for the first time. */
export function useRead<Asked, Data, Key extends QueryKey>(options: UseQueryOptions<Asked, Error, Data, Key>) {
  const query = useQuery(options);
  return { data: query.data, error: useProblem(query), refetch: query.refetch };
}
