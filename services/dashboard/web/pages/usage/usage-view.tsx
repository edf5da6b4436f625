import { SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { type UsagePeriod } from '../../api/queries';
import { EmptyState } from '../../components/empty-state';
import { WindowBar } from '../../components/window-bar';
import { formatCount } from '../../format/numbers';
import { DayChart } from './day-chart';
import { refusedSeries, usedSeries } from './usage-series';
import { RefusedTable, UsedTable } from './usage-tables';

interface UsageViewProps {
  readonly usage: Usage;
  readonly period: UsagePeriod;
}

/** Where each subscription stands, and what was used and refused in the period. */
export function UsageView({ usage, period: { from, to, product } }: UsageViewProps): ReactNode {
  const shown = usage.subscriptions.filter((each) => each.state !== 'cancelled' && (product === undefined || each.product === product));
  if (shown.length === 0 && usage.days.length === 0 && usage.refusals.length === 0) return <NoUsage />;
  return (
    <Stack gap="md">
      <section aria-label="Limits">
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
          {shown.map((each) => (
            <LimitCard key={each.id} subscription={each} />
          ))}
        </SimpleGrid>
      </section>
      <DayChart title="Requests used" series={usedSeries(usage, from, to)} table={<UsedTable days={usage.days} />} palette="cool">
        No requests in this period.
      </DayChart>
      <DayChart
        title="Requests refused"
        series={refusedSeries(usage, from, to)}
        table={<RefusedTable refusals={usage.refusals} />}
        palette="warm"
      >
        No refused requests in this period.
      </DayChart>
    </Stack>
  );
}

function NoUsage(): ReactNode {
  const create = (
    <Link to="/keys" search={{ search: undefined, state: undefined }} className="text-link in-text">
      Create a key
    </Link>
  );
  return (
    <div className="panel">
      <EmptyState title="No usage yet" action={create}>
        Make your first call with a key; it appears here within seconds.
      </EmptyState>
    </div>
  );
}

function LimitCard({ subscription }: { readonly subscription: Usage['subscriptions'][number] }): ReactNode {
  const { product, plan, state, daily, monthly, test, refunds } = subscription;
  return (
    <div className="panel">
      <Title order={2} size="h3" mb="xs">
        {product}{' '}
        <Text component="span" size="sm" c="dimmed" fw={400}>
          {plan ?? 'Base'}
          {state === 'paused' && ', paused'}
        </Text>
      </Title>
      <Stack gap="xs">
        <WindowBar window="day" standing={daily} of={product} />
        <WindowBar window="month" standing={monthly} of={product} />
        <Text size="xs" c="dimmed">
          Test keys have the same limits for themselves: {formatCount(test.daily.used)} used today, {formatCount(test.monthly.used)} this
          month.
        </Text>
        <Text size="xs" c="dimmed">
          Given back today: {formatCount(refunds.used)} of at most {formatCount(refunds.limit)} failed requests.
        </Text>
      </Stack>
    </div>
  );
}
