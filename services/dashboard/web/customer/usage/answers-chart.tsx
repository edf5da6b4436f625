import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { DataTable, type Column } from '../../parts/components/data-table';
import { formatCount } from '../../parts/format/numbers';
import { formatDay, formatHour } from '../../parts/format/time';
import { formatWithin, notKnown, sumAnswers, withinMs, type AnswerBar } from './answers';
import { UsageChart, type Grain } from './usage-chart';
import { stack } from './usage-series';

interface AnswersChartProps {
  readonly by: Grain;
  /** Bars in chronological order. */
  readonly bars: readonly AnswerBar[];
  readonly boundsMs: readonly number[];
}

/** Kinds in the order of the chart's stack. */
const KINDS = [
  { name: 'succeeded', title: 'Succeeded', color: 'var(--chart-3)', count: ({ answers }: AnswerBar) => answers?.succeeded },
  { name: '4xx', title: '4xx', color: 'var(--chart-2)', count: ({ answers }: AnswerBar) => answers?.rejected },
  { name: '5xx', title: '5xx', color: 'var(--chart-4)', count: ({ answers }: AnswerBar) => answers?.failed },
  { name: 'caller left', title: 'Caller left', color: 'var(--chart-6)', count: ({ answers }: AnswerBar) => answers?.abandoned },
  { name: 'not known', title: 'Not known', color: 'var(--chart-other)', count: notKnown },
] as const;

const HALF = 0.5;
const NEARLY_ALL = 0.95;

const columnsOf = (by: Grain, boundsMs: readonly number[]): readonly Column<AnswerBar>[] => {
  const within = ({ answers }: AnswerBar, share: number): string =>
    formatWithin(answers ? withinMs(answers.took, boundsMs, share) : undefined, boundsMs);
  return [
    { header: by === 'day' ? 'Day' : 'Hour', isTitle: true, cell: ({ slot }) => (by === 'day' ? formatDay(slot) : formatHour(slot)) },
    ...KINDS.map(({ title, count }) => ({
      header: title,
      isNumber: true,
      cell: (bar: AnswerBar) => {
        const value = count(bar);
        return value === undefined ? '–' : formatCount(value);
      },
    })),
    { header: 'Half within', isNumber: true, cell: (bar) => within(bar, HALF) },
    { header: '95% within', isNumber: true, cell: (bar) => within(bar, NEARLY_ALL) },
  ];
};

/** Durations of responses, or why they are not known. */
function Times({ answers, boundsMs }: { readonly answers: AnswerBar['answers']; readonly boundsMs: readonly number[] }): ReactNode {
  const took = answers?.took ?? [];
  const [half, most] = [HALF, NEARLY_ALL].map((share) => formatWithin(withinMs(took, boundsMs, share), boundsMs));
  const times =
    half === '–'
      ? 'No response was measured.'
      : `Half of the responses took ${half} or less, 95% ${most} or less.`.replaceAll(/(over [\d.]+ m?s) or less/g, '$1');
  return (
    <Text size="sm" c="dimmed" mb="xs">
      {times} Measured to the last byte of the response. Not known: requests that are still running, and responses that the gateway did not
      report.
    </Text>
  );
}

/** The responses of products to admitted requests by class of status, and their durations. */
export function AnswersChart({ by, bars, boundsMs }: AnswersChartProps): ReactNode {
  const entries = bars.flatMap((bar) => KINDS.map(({ name, color, count }) => ({ slot: bar.slot, name, color, value: count(bar) ?? 0 })));
  const asked = bars.filter(({ admitted, answers }) => admitted > 0 || answers !== null).reverse();
  const series = stack(
    entries,
    bars.map(({ slot }) => slot),
  );
  const table = (
    <DataTable caption={`Answers by ${by}`} columns={columnsOf(by, boundsMs)} rows={asked} rowKey={({ slot }) => slot} hasLines />
  );
  const note = <Times answers={sumAnswers(bars.map(({ answers }) => answers))} boundsMs={boundsMs} />;
  return (
    <UsageChart title="Answers" by={by} series={series} table={table} note={note}>
      No requests were admitted.
    </UsageChart>
  );
}
