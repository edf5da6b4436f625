import { SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Product, type Subscription } from '../../../contract/plans';
import { productsQuery } from '../../parts/api/queries';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { Panel } from '../../parts/components/panel';
import { WindowBar } from '../../parts/components/window-bar';
import { formatCount, percentOf } from '../../parts/format/numbers';
import { countedBy } from '../plans/offers';

/** How many limits are shown; what is further away lies behind a line. */
const SHOWN = 3;

interface Standing {
  readonly title: string;
  readonly counted: 'units' | 'requests';
  readonly subscription: Subscription;
  /** The limit that is nearer. */
  readonly window: 'day' | 'month';
  readonly percent: number;
}

function standingOf(product: Product, subscription: Subscription): Standing {
  const { daily, monthly } = subscription;
  const [day, month] = [percentOf(daily.used, daily.limit), percentOf(monthly.used, monthly.limit)];
  return {
    title: product.title,
    counted: countedBy(product),
    subscription,
    window: month > day ? 'month' : 'day',
    percent: Math.max(day, month),
  };
}

/** Active subscriptions, the one nearest to a limit first. */
function standings(products: readonly Product[]): Standing[] {
  return products
    .flatMap((product) => (product.subscription?.state === 'active' ? [standingOf(product, product.subscription)] : []))
    .sort((a, b) => b.percent - a.percent || b.subscription.daily.used - a.subscription.daily.used);
}

/** How much was used today, and which limits are nearest. */
export function TodayPanel(): ReactNode {
  const products = useQuery({ ...productsQuery, refetchInterval: 2_000 });
  const all = (
    <Link to="/usage" search={{ days: undefined, hours: undefined, product: undefined }} className="text-link">
      All usage
    </Link>
  );
  return (
    <Panel title="Usage today" aside={all}>
      <Loaded query={products} height={140}>
        {(data) => <Today active={standings(data.products)} />}
      </Loaded>
    </Panel>
  );
}

function Today({ active }: { readonly active: readonly Standing[] }): ReactNode {
  if (active.length === 0) return <NothingActive />;
  const [near, far] = [active.slice(0, SHOWN), active.slice(SHOWN)];
  const live = active.reduce((sum, { subscription }) => sum + subscription.daily.used, 0);
  const tried = active.reduce((sum, { subscription }) => sum + subscription.test.daily.used, 0);
  return (
    <Stack gap="md">
      <div>
        <Text fz="xl" fw={600} className="numbers" lh={1.2}>
          {formatCount(live)}
        </Text>
        <Text size="sm" c="dimmed">
          live {active.some(({ counted }) => counted === 'units') ? 'units' : 'requests'}
          {tried > 0 && `, and ${formatCount(tried)} with test keys`}
        </Text>
      </div>
      <Bars standings={near} />
      {far.length > 0 && (
        <details className="figures">
          <summary>
            {far.length} more {far.length === 1 ? 'product' : 'products'}, further from their limits
          </summary>
          <Bars standings={far} />
        </details>
      )}
    </Stack>
  );
}

function Bars({ standings: shown }: { readonly standings: readonly Standing[] }): ReactNode {
  if (shown.length === 0) return null;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg" verticalSpacing="md">
      {shown.map(({ title, subscription, window }) => (
        <div key={subscription.id}>
          <Title order={3}>{title}</Title>
          <WindowBar window={window} standing={window === 'day' ? subscription.daily : subscription.monthly} of={title} />
        </div>
      ))}
    </SimpleGrid>
  );
}

function NothingActive(): ReactNode {
  return (
    <EmptyState
      title="No active subscriptions"
      action={
        <Link to="/plans" className="text-link in-text">
          See the plans
        </Link>
      }
    >
      Requests are refused until you subscribe to a product, or resume a paused subscription.
    </EmptyState>
  );
}
