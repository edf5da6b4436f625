import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { planName } from '../../../reference/plan-name';
import { type Subscription } from '../../../contract/plans';
import { productsQuery } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Panel } from '../../parts/components/panel';
import { WindowBar } from '../../parts/components/window-bar';
import { formatCount } from '../../parts/format/numbers';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { aboveText, rateText } from '../plans/offers';

type Row = Subscription & { readonly title: string };

const WINDOWS: readonly Column<Row>[] = [
  {
    header: 'Product',
    isTitle: true,
    cell: ({ title, plan, state, overage, rate }) => (
      <>
        {title}
        <Text component="span" display="block" size="xs" c="dimmed" fw={400}>
          {planName(plan)}
          {state === 'paused' && ', paused'}
        </Text>
        {rate !== null && (
          <Text component="span" display="block" size="xs" c="dimmed" fw={400}>
            {rateText(rate)}
          </Text>
        )}
        {overage !== null && (
          <Text component="span" display="block" size="xs" c="dimmed" fw={400}>
            Above what is included: {aboveText({ price: overage, overage })}
          </Text>
        )}
      </>
    ),
  },
  {
    header: 'Today',
    isWide: true,
    cell: ({ title, daily, includedNow }) => (
      <WindowBar window="day" standing={daily} of={title} included={includedNow?.today} hasTitle={false} />
    ),
  },
  {
    header: 'This month',
    isWide: true,
    cell: ({ title, monthly, includedNow }) => (
      <WindowBar window="month" standing={monthly} of={title} included={includedNow?.thisMonth} hasTitle={false} />
    ),
  },
];

const TEST_KEYS: Column<Row> = {
  header: 'Test keys',
  cell: ({ test }) => (
    <>
      {formatCount(test.daily.used)} today
      <Text component="span" display="block" size="xs" c="dimmed" className="keep">
        {formatCount(test.monthly.used)} this month
      </Text>
    </>
  ),
};

const GIVEN_BACK: Column<Row> = {
  header: 'Given back today',
  cell: ({ refunds }) => (
    <>
      {formatCount(refunds.used)} <span className="dimmed">of {formatCount(refunds.limit)}</span>
    </>
  ),
};

/** The use of each subscription's limits. */
export function LimitTable({ subscriptions }: { readonly subscriptions: readonly Subscription[] }): ReactNode {
  const titleOf = useProductTitles();
  const { data: catalogue } = useQuery(productsQuery);
  if (subscriptions.length === 0) return null;
  const takesTestKeys = (product: string): boolean => catalogue?.products.find(({ id }) => id === product)?.takesTestKeys === true;
  const hasTestKeys = subscriptions.some(({ product, test }) => test.monthly.used > 0 || takesTestKeys(product));
  return (
    <Panel title="Limits">
      <DataTable
        caption="Limits"
        columns={[...WINDOWS, ...(hasTestKeys ? [TEST_KEYS] : []), GIVEN_BACK]}
        rows={subscriptions.map((each) => ({ ...each, title: titleOf(each.product) }))}
        rowKey={({ id }) => id}
      />
      <Text size="xs" c="dimmed" mt="xs">
        {hasTestKeys && 'Test keys have the same limits for themselves. '}Given back: requests that failed through no fault of yours.
      </Text>
    </Panel>
  );
}
