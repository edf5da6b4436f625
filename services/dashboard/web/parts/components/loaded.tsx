import { Skeleton } from '@mantine/core';
import { type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { useProblem } from '../hooks/use-read';
import { ProblemAlert } from './problem-alert';

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** Height in px of the content, so that nothing below it jumps. */
  readonly height: number;
  readonly children: (data: Data) => ReactNode;
}

/** A query's data. Until then a grey area of its size, or the reason of its failure, even while it retries. */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>): ReactNode {
  const problem = useProblem(query);
  if (query.data !== undefined) return children(query.data);
  if (problem !== null) return <ProblemAlert problem={problem} onRetry={() => void query.refetch()} />;
  return <Skeleton height={height} aria-label="Loading" role="status" />;
}
