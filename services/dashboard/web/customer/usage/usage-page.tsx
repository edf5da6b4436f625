import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { Group, NativeSelect, Stack } from '@mantine/core';
import { type Usage } from '../../../contract/usage';
import { productsQuery, type UsagePeriod, usageQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { type Column, DataTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { addDays, dayOf, daysBetween, formatDay, formatHour, lastHours, readerZone } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { ExportLink } from '../../parts/components/export-link';
import { formatCount } from '../../parts/format/numbers';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { sumAnswers } from './answers';
import { AnswersChart } from './answers-chart';
import { LimitTable } from './limit-table';
import { type Grain, UsageChart, GrainSwitch } from './usage-chart';
import { admittedSeries, refusedSeries, stack, usedSeries, usedTitle, OUTCOMES, outcomeTitle, sumOutcomes } from './usage-series';

/** Usage by product, and refused requests, by day or hour. */
export function UsagePage(): ReactNode {
  const { days, hours, product } = useSearch({ from: '/shell/usage' });
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const zone = readerZone();
  const { by, length } = chosenLength({ days, hours });
  const slots = by === 'hour' ? lastHours(Date.now(), length, quotaTimeZone) : [];
  const from = by === 'hour' ? dayOf(new Date(slots[0] ?? Date.now()), quotaTimeZone) : addDays(today, 1 - length);
  const period = { from, to: today, product, by };
  const query = useQuery({ ...usageQuery(period), placeholderData: keepPreviousData });
  return (
    <>
      <PageTitle title="Usage" actions={<ExportLink href={addressOf('GET /usage.csv', { query: period })} />}>
        {by === 'hour'
          ? `Hours are shown in ${zone === 'UTC' ? 'UTC, which is your time zone' : `your time zone, ${zone}, and in UTC`}.`
          : `Days start at midnight in ${quotaTimeZone}.`}{' '}
        Figures are at most a few seconds old.
      </PageTitle>
      <UsageFilters />
      <Loaded query={query} height={900}>
        {(usage) =>
          by === 'hour' ? <HoursView usage={usage} slots={slots} product={product} /> : <UsageView usage={usage} period={period} />
        }
      </Loaded>
    </>
  );
}

const LENGTHS = {
  day: { usual: '30', choices: ['7', '30', '90'].map((value) => ({ value, label: `${value} days` })) },
  hour: { usual: '24', choices: ['24', '48'].map((value) => ({ value, label: `${value} hours` })) },
} as const;

interface Lengths {
  readonly days: string | undefined;
  readonly hours: string | undefined;
}

/** The period in the address: hours if it names any, else days. */
function chosenLength({ days, hours }: Lengths): { readonly by: Grain; readonly length: number } {
  const by = hours === undefined ? 'day' : 'hour';
  const { usual, choices } = LENGTHS[by];
  const wanted = choices.find(({ value }) => value === (hours ?? days));
  return { by, length: Number(wanted?.value ?? usual) };
}

/** Filters of usage, kept in the address. */
function UsageFilters(): ReactNode {
  const search = useSearch({ from: '/shell/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const { data } = useQuery(productsQuery);
  const { by, length } = chosenLength(search);
  const subscribed = data?.products.filter((each) => each.subscription !== null) ?? [];
  const products = [{ value: '', label: 'All products' }, ...subscribed.map(({ id, title }) => ({ value: id, label: title }))];
  const go = (change: Partial<typeof search>): void => void navigate({ search: { ...search, ...change }, replace: true });
  const showLength = (grain: Grain, value: string): void =>
    go({ days: grain === 'day' ? value : undefined, hours: grain === 'hour' ? value : undefined });
  return (
    <Group gap="xs" mb="md">
      <GrainSwitch by={by} onChange={(grain) => showLength(grain, LENGTHS[grain].usual)} />
      <NativeSelect
        aria-label="Period"
        data={LENGTHS[by].choices}
        value={String(length)}
        onChange={(event) => showLength(by, event.currentTarget.value)}
      />
      <NativeSelect
        aria-label="Product"
        data={products}
        value={search.product ?? ''}
        onChange={(event) => go({ product: event.currentTarget.value || undefined })}
      />
    </Group>
  );
}

interface UsageViewProps {
  readonly usage: Usage;
  readonly period: UsagePeriod;
}

/** Used and refused requests of the period, and the use of each subscription's limits. */
function UsageView({ usage, period }: UsageViewProps): ReactNode {
  const products = useQuery(productsQuery).data?.products ?? [];
  const { subscriptions, days, refusals, answers } = usage;
  const shown = subscriptions.filter((each) => each.state !== 'cancelled' && (period.product ?? each.product) === each.product);
  if (shown.length === 0 && days.length === 0 && refusals.length === 0) return <NoUsage />;
  const range = daysBetween(period.from, period.to);
  const bars = range.map((slot) => {
    const own = answers.filter(({ day }) => day === slot);
    const admitted = own.reduce((sum, each) => sum + each.admitted, 0);
    return { slot, admitted, answers: sumAnswers(own.map((each) => each.answers)) };
  });
  return (
    <Stack gap="md">
      <UsageChart
        title={usedTitle(days, products)}
        series={usedSeries(days, products, range)}
        table={<UsedTable days={days} answers={answers} />}
      >
        No requests in this period.
      </UsageChart>
      {bars.some(({ admitted }) => admitted > 0) && <AnswersChart by="day" bars={bars} boundsMs={usage.answerTimesMs} />}
      <LimitTable subscriptions={shown} />
      <UsageChart title="Requests refused" series={refusedSeries(refusals, range)} table={<RefusedTable refusals={refusals} />}>
        No refused requests in this period.
      </UsageChart>
    </Stack>
  );
}

type UsedDay = Usage['days'][number];
type Refused = Usage['refusals'][number];

type TitleOf = (product: string) => string;

const usedColumns = (titleOf: TitleOf, requestsOf: (row: UsedDay) => number | undefined): readonly Column<UsedDay>[] => [
  { header: 'Day', isTitle: true, cell: ({ day }) => <time dateTime={day}>{formatDay(day)}</time> },
  { header: 'Product', cell: ({ product }) => titleOf(product) },
  { header: 'Keys', cell: ({ mode }) => (mode === 'test' ? 'Test' : 'Live') },
  { header: 'Requests, all keys', isNumber: true, cell: (row) => formatCount(requestsOf(row) ?? 0) },
  { header: 'Units used', isNumber: true, cell: ({ charged }) => formatCount(charged) },
  { header: 'Units given back', isNumber: true, cell: ({ refunded }) => formatCount(refunded) },
  { header: 'Counted', isNumber: true, cell: ({ used }) => formatCount(used) },
];

const refusedColumns = (titleOf: TitleOf): readonly Column<Refused>[] => [
  { header: 'Day', isTitle: true, cell: ({ day }) => <time dateTime={day}>{formatDay(day)}</time> },
  { header: 'Product', cell: ({ product }) => titleOf(product) },
  { header: 'Reason', cell: ({ code }) => <span className="mono">{code}</span> },
  { header: 'Refused', isNumber: true, cell: ({ count }) => formatCount(count) },
];

const newestFirst = <Row extends { readonly day: string }>(rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => (a.day < b.day ? 1 : -1));

/** The figures of the first chart, the units given back, and the requests of the day. */
function UsedTable({ days, answers }: Pick<Usage, 'days' | 'answers'>): ReactNode {
  const titleOf = useProductTitles();
  const requestsOf = (row: UsedDay): number | undefined =>
    answers.find(({ day, product }) => day === row.day && product === row.product)?.admitted;
  return (
    <DataTable
      caption="Used by day and product"
      columns={usedColumns(titleOf, requestsOf)}
      rows={newestFirst(days)}
      rowKey={({ day, product, mode }) => `${day} ${product} ${mode}`}
    />
  );
}

/** The figures of the second chart. */
function RefusedTable({ refusals }: Pick<Usage, 'refusals'>): ReactNode {
  const titleOf = useProductTitles();
  return (
    <DataTable
      caption="Requests refused by day and reason"
      columns={refusedColumns(titleOf)}
      rows={newestFirst(refusals)}
      rowKey={({ day, product, code }) => `${day} ${product} ${code}`}
    />
  );
}

type Hour = Usage['hours'][number];

interface HoursViewProps {
  readonly usage: Usage;
  /** The beginnings of the hours that are shown, oldest first. */
  readonly slots: readonly string[];
  readonly product: string | undefined;
}

const columnsOf = (titleOf: (product: string) => string): readonly Column<Hour>[] => [
  { header: 'Hour', isTitle: true, cell: ({ startsAt }) => <time dateTime={startsAt}>{formatHour(startsAt)}</time> },
  { header: 'Product', cell: ({ product }) => titleOf(product) },
  { header: 'Keys', cell: ({ mode }) => (mode === 'test' ? 'Test' : 'Live') },
  ...OUTCOMES.map(({ name, count }) => ({
    header: outcomeTitle(name),
    isNumber: true,
    cell: (hour: Hour) => formatCount(count(hour)),
  })),
];

/** The figures of both charts. Hours without requests have no row. */
function HourTable({ hours }: { readonly hours: readonly Hour[] }): ReactNode {
  const titleOf = useProductTitles();
  return (
    <DataTable
      caption="Requests by hour and product"
      columns={columnsOf(titleOf)}
      rows={[...hours].reverse()}
      rowKey={({ startsAt, product, mode }) => `${startsAt} ${product} ${mode}`}
    />
  );
}

/** Admitted and refused requests of the last hours, and the use of each subscription's limits. */
function HoursView({ usage, slots, product }: HoursViewProps): ReactNode {
  const products = useQuery(productsQuery).data?.products ?? [];
  const first = slots[0] ?? '';
  const hours = usage.hours.filter(({ startsAt }) => startsAt >= first);
  const shown = usage.subscriptions.filter((each) => each.state !== 'cancelled' && (product ?? each.product) === each.product);
  if (shown.length === 0 && hours.length === 0) return <NoUsage />;
  const refused = hours.flatMap((hour) =>
    OUTCOMES.slice(1).map(({ name, color, count }) => ({ slot: hour.startsAt, name, color, value: count(hour) })),
  );
  const bars = slots.map((slot) => {
    const own = hours.filter(({ startsAt }) => startsAt === slot);
    return { slot, ...sumOutcomes(own), answers: sumAnswers(own.map(({ answers }) => answers)) };
  });
  return (
    <Stack gap="md">
      <UsageChart title="Requests admitted" by="hour" series={admittedSeries(hours, products, slots)} table={<HourTable hours={hours} />}>
        No requests were admitted in the last {slots.length} hours.
      </UsageChart>
      <AnswersChart by="hour" bars={bars} boundsMs={usage.answerTimesMs} />
      <LimitTable subscriptions={shown} />
      <UsageChart title="Requests refused" by="hour" series={stack(refused, slots)} table={<HourTable hours={hours} />}>
        No requests were refused in the last {slots.length} hours.
      </UsageChart>
    </Stack>
  );
}

/** For a customer who has no subscription and never made a request. */
function NoUsage(): ReactNode {
  const create = (
    <Link to="/keys" className="text-link in-text">
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
