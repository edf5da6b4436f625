import { Skeleton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { keysQuery } from '../../api/queries';
import { PageTitle } from '../../components/page-title';
import { ProblemAlert } from '../../components/problem-alert';
import { CreateKeyDialog } from '../keys/create-key-dialog';
import { DailyView } from './daily-view';
import { FirstSteps } from './first-steps';

/** A product whose first call needs nothing but a query. */
const FIRST_PRODUCTS = ['api-ip'];

/** Newcomers are led to a first call; everybody else sees how today goes. */
export function OverviewPage(): ReactNode {
  const { data, error, refetch } = useQuery(keysQuery({}, undefined, 1));
  const [isCreating, { open, close }] = useDisclosure(false);
  if (error && !data) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  return (
    <>
      <PageTitle title="Overview">{data?.total === 0 ? 'Three steps to your first response.' : 'Today at a glance.'}</PageTitle>
      {data === undefined ? <Skeleton height={420} /> : data.total === 0 ? <FirstSteps onCreate={open} /> : <DailyView />}
      {/* Beside both: the first key ends the first steps, and must not take the dialog that shows it along. */}
      {isCreating && <CreateKeyDialog onClose={close} initialProducts={FIRST_PRODUCTS} />}
    </>
  );
}
