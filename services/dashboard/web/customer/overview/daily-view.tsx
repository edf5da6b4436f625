import { Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { alertsQuery } from '../../parts/api/queries';
import { Loaded } from '../../parts/components/loaded';
import { Moment } from '../../parts/components/moment';
import { WhenSeen } from '../../parts/components/when-seen';
import { Panel } from '../../parts/components/panel';
import { NO_FILTER } from '../requests/request-choices';
import { MonthPanel } from './month-panel';
import { RefusalGroups } from './refusal-groups';
import { TodayPanel } from './today-panel';

/** Its columns are most of the code, and it stands below what is seen first. */
const RequestLog = lazy(() => import('../requests/request-log').then((module) => ({ default: module.RequestLog })));

/** Requests that are shown here. */
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

/** How many alerts are shown here; the page of alerts has them all. */
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
