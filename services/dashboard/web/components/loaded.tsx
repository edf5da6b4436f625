import { Skeleton } from '@mantine/core';
import { type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { ProblemAlert } from './problem-alert';

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** Height in px of what is to come, so that nothing below it jumps. */
  readonly height: number;
  readonly children: (data: Data) => ReactNode;
}

/** What a query answered; until then a grey area of its size, or why it failed. */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>): ReactNode {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  return <Skeleton height={height} aria-label="Loading" role="status" />;
}
