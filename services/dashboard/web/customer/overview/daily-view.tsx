import { Skeleton, Stack, Text, SimpleGrid, Title } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { alertsQuery, refusalsQuery, productsQuery } from '../../parts/api/queries';
import { Loaded } from '../../parts/components/loaded';
import { Moment } from '../../parts/components/moment';
import { Panel } from '../../parts/components/panel';
import { NO_FILTER } from '../requests/request-choices';
import { MonthPanel, useMonth } from './month-panel';
import { DataTable, type Column } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { formatCount, percentOf } from '../../parts/format/numbers';
import { addDays } from '../../parts/format/time';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { groupRefusals, type RefusalGroup } from './group-refusals';
import { type Product, type Subscription } from '../../../contract/plans';
import { WindowBar } from '../../parts/components/window-bar';
import { countedBy } from '../plans/offers';

/** Loaded later: its columns are most of the code, and it stands below what is seen first. */
const RequestLog = lazy(() => import('../requests/request-log').then((module) => ({ default: module.RequestLog })));

/** Number of requests shown here. */
const NEWEST = 10;

/** What needs attention, today's limits, 30 days, and the newest requests. */
export function DailyView(): ReactNode {
  return (
    <Stack gap="md">
      <TodayPanel />
      <UnreadAlerts />
      <MonthPanel />
      <Panel
        title="Latest requests"
        aside={
          <Link to="/requests" search={NO_FILTER} className="text-link">
            All requests
          </Link>
        }
      >
        <WhenSeen height={260}>
          <Suspense fallback={<Skeleton height={260} aria-label="Loading" role="status" />}>
            <RequestLog filter={NO_FILTER} limit={NEWEST} isNewestOnly />
          </Suspense>
        </WhenSeen>
      </Panel>
      <Panel
        title="Refusals in the last 7 days"
        aside={
          <Link to="/explain" search={{ request: undefined }} className="text-link">
            All refusals
          </Link>
        }
      >
        <WhenSeen height={140}>
          <RefusalGroups />
        </WhenSeen>
      </Panel>
    </Stack>
  );
}

/** Number of alerts shown here. The page of alerts has all. */
const SHOWN = 3;

function UnreadAlerts(): ReactNode {
  const query = useQuery(alertsQuery(undefined));
  return (
    <Panel
      title="Needs attention"
      aside={
        <Link to="/alerts" className="text-link">
          All alerts
        </Link>
      }
    >
      <Loaded query={query} height={44}>
        {({ alerts }) => {
          const unread = alerts.filter((alert) => alert.readAt === null && !alert.isOver).slice(0, SHOWN);
          if (unread.length === 0) {
            return (
              <Text size="sm" c="dimmed">
                No new alerts.
              </Text>
            );
          }
          return (
            <Stack gap={6}>
              {unread.map((alert) => (
                <Text size="sm" key={alert.id}>
                  {alert.text}{' '}
                  <Text component="span" size="xs" c="dimmed">
                    <Moment at={alert.at} />
                  </Text>
                </Text>
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Panel>
  );
}

/** Number of groups shown here. The page that explains has every refusal. */
const MAX_GROUPS = 6;
/** Number of refusals that are searched for the latest of each group: the most that one page of the API has. */
const NEWEST_REFUSALS = 100;

function Reason({ code, latest }: RefusalGroup): ReactNode {
  if (!latest) return <span className="mono">{code}</span>;
  return (
    <Link to="/explain" search={{ request: latest.requestId }} className="text-link mono">
      {code}
    </Link>
  );
}

/** Refusals of the last 7 days by reason. Each leads to the explanation of its latest. */
function RefusalGroups(): ReactNode {
  const month = useMonth();
  const newest = useQuery(refusalsQuery(undefined, NEWEST_REFUSALS)).data?.refusals ?? [];
  const titleOf = useProductTitles();
  const columns: readonly Column<RefusalGroup>[] = [
    { header: 'Reason', isTitle: true, cell: (group) => <Reason {...group} /> },
    { header: 'Product', cell: ({ product }) => titleOf(product) },
    { header: 'Refused', isNumber: true, cell: ({ count }) => formatCount(count) },
    { header: 'Latest', cell: ({ latest }) => <Moment at={latest?.at ?? null} none="–" /> },
  ];
  return (
    <Loaded query={month} height={140}>
      {({ refusals, today }) => (
        <DataTable
          caption="Refused requests by reason"
          columns={columns}
          rows={groupRefusals(
            refusals.filter(({ day }) => day > addDays(today, -7)),
            newest,
          ).slice(0, MAX_GROUPS)}
          rowKey={({ code, product }) => `${code} ${product}`}
          empty={
            <EmptyState title="No refused requests in the last 7 days">
              Refused requests appear here within seconds, with the reason.
            </EmptyState>
          }
        />
      )}
    </Loaded>
  );
}

/** Number of limits shown. The others are behind a line. */
const SHOWN_PRODUCTS = 3;

interface Standing {
  readonly title: string;
  readonly counted: 'units' | 'requests';
  readonly subscription: Subscription;
  /** The window whose limit is nearer. */
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

/** Today's use, and the nearest limits. */
function TodayPanel(): ReactNode {
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
  const [near, far] = [active.slice(0, SHOWN_PRODUCTS), active.slice(SHOWN_PRODUCTS)];
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

interface WhenSeenProps {
  /** Height in px of what is to come. */
  readonly height: number;
  readonly children: ReactNode;
}

/** Delays content further down, with its requests, until it is visible. Then it stays. */
function WhenSeen({ height, children }: WhenSeenProps): ReactNode {
  const { ref, entry } = useIntersection();
  const [isSeen, setSeen] = useState(false);
  const isVisible = entry?.isIntersecting ?? false;
  useEffect(() => {
    if (isVisible) setSeen(true);
  }, [isVisible]);
  return <div ref={ref}>{isSeen ? children : <Skeleton height={height} animate={false} />}</div>;
}
