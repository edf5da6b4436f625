import { Skeleton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type Answer } from '../../../contract/endpoints';
import { keysQuery } from '../../api/queries';
import { PageTitle } from '../../components/page-title';
import { ProblemAlert } from '../../components/problem-alert';
import { CreateKeyDialog } from '../keys/create-key-dialog';
import { DailyView } from './daily-view';
import { FirstKey } from './first-key';
import { FirstSteps } from './first-steps';

/** A product whose first call needs nothing but a query. */
const FIRST_PRODUCT = 'api-ip';
/** Whoever has more keys is no newcomer. */
const FEW_KEYS = 10;

const isNewcomer = ({ keys, next }: Answer<'GET /keys'>): boolean => next === null && keys.every(({ lastUsedAt }) => lastUsedAt === null);

/** What the reader was reading about when signing up, else the one whose first call needs nothing but a query. */
function productOf(from: string | undefined): string {
  return /^\/reference\/([a-z][a-z0-9-]*)$/.exec(from ?? '')?.[1] ?? FIRST_PRODUCT;
}

/** Newcomers are led to a first call, until it has arrived; everybody else sees how today goes. */
export function OverviewPage(): ReactNode {
  const { data, error, refetch } = useQuery({
    ...keysQuery({}, undefined, FEW_KEYS),
    refetchInterval: ({ state }) => (state.data && isNewcomer(state.data) ? 2_000 : 60_000),
  });
  const [isCreating, { open, close }] = useDisclosure(false);
  const firstVisit = useLocation({ select: ({ state }) => state.firstVisit });
  const [isFirst, setFirst] = useState(false);
  // Once: the key that is made then must not take away what shows it.
  if (firstVisit && !isFirst && data?.keys.length === 0) setFirst(true);
  if (error && !data) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  const isNew = data !== undefined && isNewcomer(data);
  return (
    <>
      <PageTitle title="Overview">{isNew ? 'Three steps to your first response.' : 'Today at a glance.'}</PageTitle>
      {isFirst && <FirstKey product={productOf(firstVisit?.from)} from={firstVisit?.from} />}
      {data === undefined ? <Skeleton height={420} /> : isNew ? <FirstSteps newest={data.keys[0]} onCreate={open} /> : <DailyView />}
      {/* Beside both: the first call ends the first steps, and must not take the dialog that shows the key along. */}
      {isCreating && <CreateKeyDialog onClose={close} initialProducts={[FIRST_PRODUCT]} />}
    </>
  );
}
