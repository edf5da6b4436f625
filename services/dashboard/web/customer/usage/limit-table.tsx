import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { planName } from '../../../reference/plan-name';
import { type Subscription } from '../../../contract/plans';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Panel } from '../../parts/components/panel';
import { WindowBar } from '../../parts/components/window-bar';
import { formatCount } from '../../parts/format/numbers';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { aboveText, rateText } from '../plans/offers';

const COLUMNS: readonly Column<Subscription & { readonly title: string }>[] = [
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
  {
    header: 'Test keys',
    cell: ({ test }) => (
      <>
        {formatCount(test.daily.used)} today
        <Text component="span" display="block" size="xs" c="dimmed" className="keep">
          {formatCount(test.monthly.used)} this month
        </Text>
      </>
    ),
  },
  {
    header: 'Given back today',
    cell: ({ refunds }) => (
      <>
        {formatCount(refunds.used)} <span className="dimmed">of {formatCount(refunds.limit)}</span>
      </>
    ),
  },
];

/** The use of each subscription's limits. */
export function LimitTable({ subscriptions }: { readonly subscriptions: readonly Subscription[] }): ReactNode {
  const titleOf = useProductTitles();
  if (subscriptions.length === 0) return null;
  return (
    <Panel title="Limits">
      <DataTable
        caption="Limits"
        columns={COLUMNS}
        rows={subscriptions.map((each) => ({ ...each, title: titleOf(each.product) }))}
        rowKey={({ id }) => id}
      />
      <Text size="xs" c="dimmed" mt="xs">
        Test keys have the same limits for themselves. Given back: requests that failed through no fault of yours.
      </Text>
    </Panel>
  );
}
