import { Button, Group, NativeSelect, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { productsQuery, usageQuery, type UsagePeriod } from '../../api/queries';
import { queryText } from '../../api/request';
import { formatCount } from '../../format/numbers';
import { addDays, dayOf } from '../../format/time';
import { refusedSeries, usedSeries } from './usage-series';
import { useSession } from '../../hooks/use-session';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { WindowBar } from '../../components/window-bar';
import { DayChart } from './day-chart';
import { RefusedTable, UsedTable } from './usage-tables';

const PERIODS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];

/** Usage by product, and refused requests. */
export function UsagePage(): ReactNode {
  const { days = '30', product } = useSearch({ from: '/shell/usage' });
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const length = PERIODS.some(({ value }) => value === days) ? Number(days) : 30;
  const period = { from: addDays(today, 1 - length), to: today, product };
  const query = useQuery({ ...usageQuery(period), placeholderData: keepPreviousData });
  return (
    <>
      <PageTitle
        title="Usage"
        actions={
          <Button
            component="a"
            href={`/api/usage.csv${queryText(period)}`}
            download
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Export CSV
          </Button>
        }
      >
        Days start at midnight in {quotaTimeZone}. Figures are at most a few seconds old.
      </PageTitle>
      <Filters days={String(length)} product={product} />
      <Loaded query={query} height={900}>
        {(usage) => <UsageView usage={usage} period={period} />}
      </Loaded>
    </>
  );
}

function Filters({ days, product }: { readonly days: string; readonly product: string | undefined }): ReactNode {
  const navigate = useNavigate({ from: '/usage' });
  const { data } = useQuery(productsQuery);
  const subscribed = data?.products.filter((each) => each.subscription !== null) ?? [];
  const choices = [{ value: '', label: 'All products' }, ...subscribed.map(({ id, title }) => ({ value: id, label: title }))];
  return (
    <Group gap="xs" mb="md">
      <NativeSelect
        aria-label="Period"
        data={PERIODS}
        value={days}
        onChange={(event) => void navigate({ search: { days: event.currentTarget.value, product }, replace: true })}
      />
      <NativeSelect
        aria-label="Product"
        data={choices}
        value={product ?? ''}
        onChange={(event) => void navigate({ search: { days, product: event.currentTarget.value || undefined }, replace: true })}
      />
    </Group>
  );
}

function UsageView({ usage, period: { from, to, product } }: { readonly usage: Usage; readonly period: UsagePeriod }): ReactNode {
  const shown = usage.subscriptions.filter((each) => each.state !== 'cancelled' && (product === undefined || each.product === product));
  if (shown.length === 0 && usage.days.length === 0 && usage.refusals.length === 0) {
    return (
      <div className="panel">
        <EmptyState
          title="No usage yet"
          action={
            <Link to="/keys" search={{ search: undefined, state: undefined }} className="text-link in-text">
              Create a key
            </Link>
          }
        >
          Make your first call with a key; it appears here within seconds.
        </EmptyState>
      </div>
    );
  }
  return (
    <Stack gap="md">
      <section aria-label="Limits">
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
          {shown.map((each) => (
            <div key={each.id} className="panel">
              <Title order={2} size="h3" mb="xs">
                {each.product}{' '}
                <Text component="span" size="sm" c="dimmed" fw={400}>
                  {each.plan ?? 'Base'}
                  {each.state === 'paused' && ', paused'}
                </Text>
              </Title>
              <Stack gap="xs">
                <WindowBar window="day" standing={each.daily} of={each.product} />
                <WindowBar window="month" standing={each.monthly} of={each.product} />
                <Text size="xs" c="dimmed">
                  Test keys have the same limits for themselves: {formatCount(each.test.daily.used)} used today,{' '}
                  {formatCount(each.test.monthly.used)} this month.
                </Text>
                <Text size="xs" c="dimmed">
                  Given back today: {formatCount(each.refunds.used)} of at most {formatCount(each.refunds.limit)} failed requests.
                </Text>
              </Stack>
            </div>
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
