import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { productsQuery } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { formatCount } from '../../parts/format/numbers';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { sumAnswers } from './answers';
import { AnswersChart } from './answers-chart';
import { LimitTable } from './limit-table';
import { NoUsage } from './no-usage';
import { OUTCOMES, outcomeTitle, sumOutcomes } from './outcomes';
import { UsageChart } from './usage-chart';
import { formatHour } from '../../parts/format/time';
import { admittedSeries, stack } from './usage-series';

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
export function HoursView({ usage, slots, product }: HoursViewProps): ReactNode {
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
