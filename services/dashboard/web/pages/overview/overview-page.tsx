import { Skeleton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type KeyPage } from '../../../contract/keys';
import { keysQuery } from '../../api/queries';
import { PageTitle } from '../../components/page-title';
import { ProblemAlert } from '../../components/problem-alert';
import { CreateKeyDialog } from '../keys/create-key-dialog';
import { DailyView } from './daily-view';
import { FirstSteps } from './first-steps';

/** A product whose first call needs nothing but a query. */
const FIRST_PRODUCTS = ['api-ip'];
/** Whoever has more keys is no newcomer. */
const FEW_KEYS = 10;

const isNewcomer = ({ keys, next }: KeyPage): boolean => next === null && keys.every(({ lastUsedAt }) => lastUsedAt === null);

/** Newcomers are led to a first call, until it has arrived; everybody else sees how today goes. */
export function OverviewPage(): ReactNode {
  const { data, error, refetch } = useQuery({
    ...keysQuery({}, undefined, FEW_KEYS),
    refetchInterval: ({ state }) => (state.data && isNewcomer(state.data) ? 2_000 : 60_000),
  });
  const [isCreating, { open, close }] = useDisclosure(false);
  if (error && !data) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  const isNew = data !== undefined && isNewcomer(data);
  return (
    <>
      <PageTitle title="Overview">{isNew ? 'Three steps to your first response.' : 'Today at a glance.'}</PageTitle>
      {data === undefined ? <Skeleton height={420} /> : isNew ? <FirstSteps newest={data.keys[0]} onCreate={open} /> : <DailyView />}
      {/* Beside both: the first call ends the first steps, and must not take the dialog that shows the key along. */}
      {isCreating && <CreateKeyDialog onClose={close} initialProducts={FIRST_PRODUCTS} />}
    </>
  );
}
