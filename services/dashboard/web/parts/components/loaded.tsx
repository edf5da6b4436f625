import { Skeleton } from '@mantine/core';
import { type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { useProblem } from '../hooks/use-read';
import { ProblemAlert } from './problem-alert';

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** Height in px of what is to come, so that nothing below it jumps. */
  readonly height: number;
  readonly children: (data: Data) => ReactNode;
}

/** What a query answered; until then a grey area of its size, or why it failed, also while it asks again. */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>): ReactNode {
  const problem = useProblem(query);
  if (query.data !== undefined) return children(query.data);
  if (problem !== null) return <ProblemAlert problem={problem} onRetry={() => void query.refetch()} />;
  return <Skeleton height={height} aria-label="Loading" role="status" />;
}
