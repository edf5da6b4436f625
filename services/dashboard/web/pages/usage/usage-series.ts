import { type Usage } from '../../../contract/usage';
import { daysBetween, formatDay } from '../../format/time';

/** One day of a stacked chart: its label, and a figure for each series. */
export interface SeriesRow {
  readonly day: string;
  readonly label: string;
  readonly values: Readonly<Record<string, number>>;
}

export interface Series {
  readonly names: readonly string[];
  readonly rows: readonly SeriesRow[];
}

interface Entry {
  readonly day: string;
  readonly name: string;
  readonly value: number;
}

/** Distinct colours end here: the smallest series are shown as one. */
const MOST_SERIES = 6;
const OTHERS = 'others';

/** Sums entries by day and name; every day of the period has a row, the largest series come first. */
function stack(entries: readonly Entry[], from: string, to: string): Series {
  const totals = new Map<string, number>();
  for (const { name, value } of entries) totals.set(name, (totals.get(name) ?? 0) + value);
  const ranked = [...totals].filter(([, total]) => total > 0).sort(([, a], [, b]) => b - a);
  const kept = new Set(ranked.slice(0, ranked.length > MOST_SERIES ? MOST_SERIES - 1 : MOST_SERIES).map(([name]) => name));
  const names = ranked.length > kept.size ? [...kept, OTHERS] : [...kept];
  const byDay = new Map<string, Record<string, number>>();
  for (const { day, name, value } of entries) {
    const values = byDay.get(day) ?? {};
    const shown = kept.has(name) ? name : OTHERS;
    values[shown] = (values[shown] ?? 0) + value;
    byDay.set(day, values);
  }
  const rows = daysBetween(from, to).map((day) => ({ day, label: formatDay(day), values: byDay.get(day) ?? {} }));
  return { names, rows };
}

/** A product, apart for test keys. */
function nameOf({ product, mode }: Usage['days'][number]): string {
  return mode === 'test' ? `${product} (test)` : product;
}

/** Requests that counted, by product, mode and day. */
export function usedSeries(usage: Usage, from: string, to: string): Series {
  return stack(
    usage.days.map((each) => ({ day: each.day, name: nameOf(each), value: each.used })),
    from,
    to,
  );
}

/** Refused requests, by code and day. */
export function refusedSeries(usage: Usage, from: string, to: string): Series {
  return stack(
    usage.refusals.map(({ day, code, count }) => ({ day, name: code, value: count })),
    from,
    to,
  );
}
