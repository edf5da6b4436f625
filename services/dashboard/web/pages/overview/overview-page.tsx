import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { keysQuery } from '../../api/queries';
import { PageTitle } from '../../components/page-title';
import { ProblemAlert } from '../../components/problem-alert';
import { DailyView } from './daily-view';
import { FirstSteps } from './first-steps';

/** Newcomers are led to a first call; everybody else sees how today goes. */
export function OverviewPage(): ReactNode {
  const { data, error, refetch } = useQuery(keysQuery({}, undefined, 1));
  if (error && !data) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  return (
    <>
      <PageTitle title="Overview">{data?.total === 0 ? 'Three steps to your first answer.' : 'How today goes.'}</PageTitle>
      {data === undefined ? <Skeleton height={420} /> : data.total === 0 ? <FirstSteps /> : <DailyView />}
    </>
  );
}
