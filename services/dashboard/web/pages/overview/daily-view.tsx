import { SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';
import { alertsQuery, productsQuery } from '../../api/queries';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { Moment } from '../../components/moment';
import { Panel } from '../../components/panel';
import { WindowBar } from '../../components/window-bar';
import { RefusalTable } from '../explain/refusal-table';

/** Today's usage, alerts and refusals. */
export function DailyView(): ReactNode {
  const products = useQuery({ ...productsQuery, refetchInterval: 2_000 });
  return (
    <Stack gap="md">
      <Panel
        title="Usage today"
        aside={
          <Link to="/usage" search={{ days: undefined, product: undefined }} className="text-link">
            All usage
          </Link>
        }
      >
        <Loaded query={products} height={140}>
          {(data) => <TodayBars products={data.products} />}
        </Loaded>
      </Panel>
      <UnreadAlerts />
      <Panel
        title="Recent refusals"
        aside={
          <Link to="/explain" search={{ request: undefined }} className="text-link">
            All refusals
          </Link>
        }
      >
        <RefusalTable limit={5} isPaged={false} />
      </Panel>
    </Stack>
  );
}

function TodayBars({ products }: { readonly products: readonly Product[] }): ReactNode {
  const active = products.flatMap(({ title, subscription }) => (subscription?.state === 'active' ? [{ title, subscription }] : []));
  if (active.length === 0) {
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
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="lg" verticalSpacing="md">
      {active.map(({ title, subscription }) => (
        <div key={subscription.id}>
          <Title order={3}>{title}</Title>
          <WindowBar window="day" standing={subscription.daily} of={title} />
        </div>
      ))}
    </SimpleGrid>
  );
}

/** How many alerts are shown here; the page of alerts has them all. */
const SHOWN = 3;

function UnreadAlerts(): ReactNode {
  const query = useQuery(alertsQuery(undefined));
  return (
    <Panel
      title="Alerts"
      aside={
        <Link to="/alerts" className="text-link">
          All alerts
        </Link>
      }
    >
      <Loaded query={query} height={44}>
        {({ alerts }) => {
          const unread = alerts.filter((alert) => alert.readAt === null).slice(0, SHOWN);
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
