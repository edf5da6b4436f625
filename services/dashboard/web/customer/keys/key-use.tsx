import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type KeyUsage } from '../../../contract/usage';
import { keyUsageQuery } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Loaded } from '../../parts/components/loaded';
import { formatCount } from '../../parts/format/numbers';
import { addDays, dayOf, daysBetween, formatDay, formatHour, lastHours } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { GrainSwitch } from '../usage/grain-switch';
import { sumAnswers, type AnswerBar } from '../usage/answers';
import { AnswersChart } from '../usage/answers-chart';
import { OUTCOMES, outcomeTitle, sumOutcomes, type Outcomes } from '../usage/outcomes';
import { UsageChart, type Grain } from '../usage/usage-chart';

/** With the running one. */
const LENGTHS = { day: 14, hour: 48 } as const;

/** Requests of one day or hour with one key, over all products. */
interface Bar extends Outcomes, AnswerBar {}

interface Shown {
  readonly by: Grain;
  readonly from: string;
  readonly to: string;
  /** Days, or the moments at which hours begin. */
  readonly slots: readonly string[];
}

function shownOf(by: Grain, timeZone: string): Shown {
  const nowMs = Date.now();
  const to = dayOf(new Date(nowMs), timeZone);
  if (by === 'day') {
    const from = addDays(to, 1 - LENGTHS.day);
    return { by, from, to, slots: daysBetween(from, to) };
  }
  const slots = lastHours(nowMs, LENGTHS.hour, timeZone);
  return { by, from: dayOf(new Date(slots[0] ?? nowMs), timeZone), to, slots };
}

const columnsOf = (by: Grain): readonly Column<Bar>[] => [
  { header: outcomeTitle(by), isTitle: true, cell: ({ slot }) => (by === 'day' ? formatDay(slot) : formatHour(slot)) },
  ...OUTCOMES.map(({ name, count }) => ({
    header: outcomeTitle(name),
    isNumber: true,
    cell: (bar: Bar) => formatCount(count(bar)),
  })),
];

interface UseChartProps {
  readonly by: Grain;
  readonly bars: readonly Bar[];
  readonly onSwitch: (by: Grain) => void;
}

/** What was asked with the key in each day or hour of `slots`. */
function barsOf(use: KeyUsage['use'], { by, slots }: Shown): Bar[] {
  return slots.map((slot) => {
    const own = use.filter((each) => (by === 'day' ? each.day : each.startsAt) === slot);
    return { slot, ...sumOutcomes(own), answers: sumAnswers(own.map(({ answers }) => answers)) };
  });
}

function UseChart({ by, bars, onSwitch }: UseChartProps): ReactNode {
  const series = OUTCOMES.filter(({ count }) => bars.some((bar) => count(bar) > 0)).map(({ name, color }) => ({ name, color }));
  const rows = bars.map((bar) => ({ slot: bar.slot, values: Object.fromEntries(OUTCOMES.map(({ name, count }) => [name, count(bar)])) }));
  const table = (
    <DataTable caption={`Requests by ${by}`} columns={columnsOf(by)} rows={[...bars].reverse()} rowKey={({ slot }) => slot} hasLines />
  );
  const length = `the last ${LENGTHS[by]} ${by}s`;
  return (
    <UsageChart
      title={`Requests of ${length}`}
      by={by}
      series={{ series, rows }}
      table={table}
      aside={<GrainSwitch by={by} onChange={onSwitch} />}
    >
      <Text component="span" size="sm" c="dimmed">
        No requests with this key in {length}.
      </Text>
    </UsageChart>
  );
}

/** What was asked with a key in the last two weeks, or by hour in the last two days. */
export function KeyUse({ keyId }: { readonly keyId: string }): ReactNode {
  const { quotaTimeZone } = useSession();
  const [by, setBy] = useState<Grain>('day');
  const shown = shownOf(by, quotaTimeZone);
  const query = useQuery(keyUsageQuery(keyId, { by, from: shown.from, to: shown.to }));
  return (
    <Loaded query={query} height={320}>
      {({ use, answerTimesMs }) => {
        const bars = barsOf(use, shown);
        return (
          <Stack gap="md">
            <UseChart by={by} bars={bars} onSwitch={setBy} />
            {bars.some(({ admitted }) => admitted > 0) && <AnswersChart by={by} bars={bars} boundsMs={answerTimesMs} />}
          </Stack>
        );
      }}
    </Loaded>
  );
}
