import { Skeleton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useLocation, Link } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { AnswerOf } from '../../../contract/endpoints';
import type { Product } from '../../../contract/plans';
import { keysQuery, productsQuery, outagesQuery } from '../../parts/api/queries';
import { PageTitle } from '../../parts/components/page-title';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';
import { DailyView } from './daily-view';
import { firstMode, FirstSteps, hasLastStep, LastStep } from './first-steps';
import { OutageNotice } from '../../parts/components/outage-notice';
import { NO_FILTER } from '../requests/request-choices';

/** Loaded later: its form is most of the code, and it is shown only after a click. */
const CreateKeyDialog = lazy(() => import('../keys/create-key-dialog').then((module) => ({ default: module.CreateKeyDialog })));

/** Loaded later: it is shown once, to a customer who has just signed up. */
const FirstKey = lazy(() => import('./first-key').then((module) => ({ default: module.FirstKey })));

/** A customer with more keys is no newcomer. */
const FEW_KEYS = 10;

const isNewcomer = ({ keys, next }: AnswerOf<'GET /keys'>): boolean => next === null && keys.every(({ lastUsedAt }) => lastUsedAt === null);

/** The third step is done: a plan, or a live key if the product begins with a test key. */
function hasChosen({ keys, next }: AnswerOf<'GET /keys'>, products: readonly Product[], first: Product | undefined): boolean {
  const hasPlan = products.some(({ subscription }) => subscription !== null && subscription.plan !== null);
  if (first && !hasLastStep(first)) return true;
  return next !== null || hasPlan || (first?.takesTestKeys !== false && keys.some(({ mode }) => mode === 'live'));
}

/** The product that the reader was looking at when signing up, else the one for newcomers; undefined when nothing can be called. */
function productOf(from: string | undefined, { products, first }: AnswerOf<'GET /products'>): Product | undefined {
  const read = /^\/reference\/([a-z][a-z0-9-]*)$/.exec(from ?? '')?.[1];
  return products.find(({ id, subscribable }) => id === read && subscribable) ?? products.find(({ id }) => id === first);
}

/** Leads newcomers to a first call, and shows the last step until it is done. Everybody else sees today's figures. */
export function OverviewPage(): ReactNode {
  const { data, error, refetch } = useRead({
    ...keysQuery({}, undefined, FEW_KEYS),
    refetchInterval: ({ state }) => (state.data && isNewcomer(state.data) ? 2_000 : 60_000),
  });
  const { data: catalogue } = useQuery(productsQuery);
  const [isCreating, { open, close }] = useDisclosure(false);
  const firstVisit = useLocation({ select: ({ state }) => state.firstVisit });
  const [isFirst, setFirst] = useState(false);
  // This is set only once: the key that is made then must not remove the component that shows it.
  if (firstVisit && !isFirst && data?.keys.length === 0) setFirst(true);
  const isNew = data !== undefined && isNewcomer(data);
  const product = catalogue && productOf(firstVisit?.from, catalogue);
  const isLastStep = data !== undefined && catalogue !== undefined && !isNew && !hasChosen(data, catalogue.products, product);
  return (
    <>
      <PageTitle title="Overview">
        {data === undefined
          ? undefined
          : isNew
            ? `${product && !hasLastStep(product) ? 'Two' : 'Three'} steps to your first response.`
            : isLastStep
              ? lastStepText(product)
              : 'Today at a glance.'}
      </PageTitle>
      <OwnOutages />
      {error && <ProblemAlert problem={error} onRetry={() => void refetch()} />}
      {isFirst && product && (
        <Suspense fallback={<Skeleton height={220} />}>
          <FirstKey product={product} from={firstVisit?.from} />
        </Suspense>
      )}
      {data === undefined || !catalogue ? (
        !error && <Skeleton height={420} aria-label="Loading" role="status" />
      ) : isNew ? (
        <FirstSteps newest={data.keys[0]} product={product} onCreate={open} />
      ) : (
        <>
          {isLastStep && product && <LastStep product={product} />}
          <DailyView />
        </>
      )}
      {/* Outside both views, because the first call ends the first steps and must not remove the dialog that shows the key. */}
      {isCreating && product && (
        <Suspense>
          <CreateKeyDialog onClose={close} initialMode={firstMode(product)} initialProducts={[product.id]} />
        </Suspense>
      )}
    </>
  );
}

/** A customer without a test key has called the API itself already. */
const lastStepText = (product: Product | undefined): string =>
  product?.takesTestKeys === true ? 'One step to live data.' : 'One step is left: choose a plan.';

/** Products at which this customer's requests failed. */
function OwnOutages(): ReactNode {
  const { data } = useQuery(outagesQuery);
  return (
    <OutageNotice
      outages={data?.outages ?? []}
      detail={({ product }) => (
        <Link to="/requests" search={{ ...NO_FILTER, product, status: '5xx' }} className="text-link in-text">
          Your failed requests
        </Link>
      )}
    />
  );
}
