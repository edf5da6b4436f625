import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { alertsQuery } from '../../api/queries';
import { Loaded } from '../../components/loaded';
import { Moment } from '../../components/moment';
import { Panel } from '../../components/panel';
import { RefusalGroups } from './refusal-groups';
import { TodayPanel } from './today-panel';

/** Today's usage, alerts and refusals. */
export function DailyView(): ReactNode {
  return (
    <Stack gap="md">
      <TodayPanel />
      <UnreadAlerts />
      <Panel
        title="Refusals in the last 7 days"
        aside={
          <Link to="/explain" search={{ request: undefined }} className="text-link">
            All refusals
          </Link>
        }
      >
        <RefusalGroups />
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
