import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type KeyUsage } from '../../../contract/usage';
import { keyUsageQuery } from '../../api/queries';
import { DataTable, type Column } from '../../components/data-table';
import { Loaded } from '../../components/loaded';
import { formatCount } from '../../format/numbers';
import { addDays, dayOf, daysBetween, formatDay } from '../../format/time';
import { useSession } from '../../hooks/use-session';
import { DayChart } from '../usage/day-chart';

/** With the last one. */
const DAYS = 14;

/** Requests of one day with one key. */
interface Day {
  readonly day: string;
  readonly admitted: number;
  readonly refused: number;
  readonly unavailable: number;
}

/** Every day of the period, over all products. */
function daysOf(use: KeyUsage['use'], from: string, to: string): Day[] {
  return daysBetween(from, to).map((day) => {
    const own = use.filter((each) => each.day === day);
    const sum = (count: (each: KeyUsage['use'][number]) => number): number => own.reduce((total, each) => total + count(each), 0);
    return {
      day,
      admitted: sum((each) => each.admitted),
      refused: sum((each) => each.refused),
      unavailable: sum((each) => each.unavailable),
    };
  });
}

const OUTCOMES = [
  { name: 'let in', color: 'indigo.6', count: ({ admitted }: Day) => admitted },
  { name: 'refused', color: 'orange.5', count: ({ refused }: Day) => refused },
  { name: 'could not be checked', color: 'red.7', count: ({ unavailable }: Day) => unavailable },
] as const;

const COLUMNS: readonly Column<Day>[] = [
  { header: 'Day', isTitle: true, cell: ({ day }) => formatDay(day) },
  ...OUTCOMES.map(({ name, count }) => ({
    header: name.charAt(0).toUpperCase() + name.slice(1),
    isNumber: true,
    cell: (day: Day) => formatCount(count(day)),
  })),
];

/** What was asked with a key in the last two weeks. */
export function KeyUse({ keyId }: { readonly keyId: string }): ReactNode {
  const { quotaTimeZone } = useSession();
  const to = dayOf(new Date(), quotaTimeZone);
  const from = addDays(to, 1 - DAYS);
  const query = useQuery(keyUsageQuery(keyId, from, to));
  return (
    <Loaded query={query} height={320}>
      {({ use }) => {
        const days = daysOf(use, from, to);
        const series = OUTCOMES.filter(({ count }) => days.some((day) => count(day) > 0)).map(({ name, color }) => ({ name, color }));
        const rows = days.map((day) => ({
          day: day.day,
          values: Object.fromEntries(OUTCOMES.map(({ name, count }) => [name, count(day)])),
        }));
        const table = (
          <DataTable caption="Requests by day" columns={COLUMNS} rows={[...days].reverse()} rowKey={({ day }) => day} hasLines />
        );
        return (
          <DayChart title="Requests of the last 14 days" series={{ series, rows }} table={table}>
            <Text component="span" size="sm" c="dimmed">
              No requests with this key in the last 14 days.
            </Text>
          </DayChart>
        );
      }}
    </Loaded>
  );
}
