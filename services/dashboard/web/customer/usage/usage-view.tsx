import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Usage } from '../../../contract/usage';
import { productsQuery, type UsagePeriod } from '../../parts/api/queries';
import { daysBetween, formatDay } from '../../parts/format/time';
import { sumAnswers } from './answers';
import { AnswersChart } from './answers-chart';
import { LimitTable } from './limit-table';
import { NoUsage } from './no-usage';
import { refusedSeries, usedSeries, usedTitle } from './usage-series';
import { UsageChart } from './usage-chart';
import { formatCount } from '../../parts/format/numbers';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { DataTable, type Column } from '../../parts/components/data-table';

interface UsageViewProps {
  readonly usage: Usage;
  readonly period: UsagePeriod;
}

/** Used and refused requests of the period, and the use of each subscription's limits. */
export function UsageView({ usage, period }: UsageViewProps): ReactNode {
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
