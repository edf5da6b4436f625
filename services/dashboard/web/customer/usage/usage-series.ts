/** Number of colours in design/tokens.css that are distinguishable, even with a colour vision deficiency. */
const CHART_COLORS = 7;

const chartColor = (place: number): string => `var(--chart-${(place % CHART_COLORS) + 1})`;

/** Refusals that customers see most come first. Their colours stay the same in every chart. */
const CODES = [
  'caller_not_whitelisted',
  'quota_daily_exceeded',
  'key_unknown',
  'key_expired',
  'product_not_authorised',
  'subscription_missing',
  'quota_monthly_exceeded',
  'rate_exceeded',
  'key_inactive',
  'subscription_inactive',
  'concurrency_exceeded',
  'ambiguous_key',
];

/** One bar of a stacked chart, with a figure for each series. */
interface SeriesRow {
  /** A day, `YYYY-MM-DD`, or the time at which an hour begins. */
  readonly slot: string;
  readonly values: Readonly<Record<string, number>>;
}

export interface Series {
  readonly series: readonly { readonly name: string; readonly color: string }[];
  readonly rows: readonly SeriesRow[];
}

interface Entry {
  readonly slot: string;
  readonly name: string;
  readonly color: string;
  readonly value: number;
}

/** Requests for one product, with keys of one mode. */
interface OfProduct {
  readonly product: string;
  readonly mode: 'live' | 'test';
}

/** Counted requests of one day. */
interface UsedDay extends OfProduct {
  readonly day: string;
  readonly used: number;
}

/** The unit of the chart of use: units if the responses of a product say what they cost. */
export function usedTitle(days: readonly Pick<UsedDay, 'product'>[], products: readonly { id: string; countsUnits: boolean }[]): string {
  const byUnits = new Set(products.flatMap(({ id, countsUnits }) => (countsUnits ? [id] : [])));
  return days.some(({ product }) => byUnits.has(product)) ? 'Units used' : 'Requests used';
}

/** Admitted requests of one hour. */
interface AdmittedHour extends OfProduct {
  readonly startsAt: string;
  readonly admitted: number;
}

/** Refused requests of one day with one code. */
interface RefusedDay {
  readonly day: string;
  readonly code: string;
  readonly count: number;
}

/** Products with their names, in the catalogue's order. */
type Products = readonly { readonly id: string; readonly title: string }[];

/** Distinct colours end here, so the smallest series are shown as one. */
const MAX_SERIES = 6;
const OTHERS = 'others';
const OTHERS_COLOR = 'var(--chart-other)';

/** Sums entries by slot and name; every slot has a row, the largest series come first. */
export function stack(entries: readonly Entry[], slots: readonly string[]): Series {
  const totals = new Map<string, { total: number; color: string }>();
  for (const { name, color, value } of entries) totals.set(name, { total: (totals.get(name)?.total ?? 0) + value, color });
  const ranked = [...totals].filter(([, { total }]) => total > 0).sort(([, a], [, b]) => b.total - a.total);
  const kept = ranked.slice(0, ranked.length > MAX_SERIES ? MAX_SERIES - 1 : MAX_SERIES);
  const series = kept.map(([name, { color }]) => ({ name, color }));
  const names = new Set(series.map(({ name }) => name));
  const bySlot = new Map<string, Record<string, number>>();
  for (const { slot, name, value } of entries) {
    const values = bySlot.get(slot) ?? {};
    const shown = names.has(name) ? name : OTHERS;
    values[shown] = (values[shown] ?? 0) + value;
    bySlot.set(slot, values);
  }
  const rows = slots.map((slot) => ({ slot, values: bySlot.get(slot) ?? {} }));
  return { series: ranked.length > kept.length ? [...series, { name: OTHERS, color: OTHERS_COLOR }] : series, rows };
}

/**
 * The colour of a product in every chart, whatever else is shown and however much it was used. Test keys are lighter.
 * @param order of the product in the catalogue; -1 for one that is no longer sold
 */
function productColor(order: number, mode: 'live' | 'test'): string {
  const color = order < 0 ? OTHERS_COLOR : chartColor(order);
  return mode === 'live' ? color : `color-mix(in srgb, ${color} 45%, var(--surface))`;
}

/** The colour of a refusal's code. */
function codeColor(code: string): string {
  const place = CODES.indexOf(code);
  return place < 0 ? OTHERS_COLOR : chartColor(place);
}

function nameAndColor({ product, mode }: OfProduct, products: Products): Pick<Entry, 'name' | 'color'> {
  const order = products.findIndex(({ id }) => id === product);
  const title = products[order]?.title ?? product;
  return { name: mode === 'test' ? `${title} (test)` : title, color: productColor(order, mode) };
}

/** Counted requests by product, mode and day, with test keys apart. */
export function usedSeries(used: readonly UsedDay[], products: Products, days: readonly string[]): Series {
  const entries = used.map((each) => ({ slot: each.day, ...nameAndColor(each, products), value: each.used }));
  return stack(entries, days);
}

/** Admitted requests by product, mode and hour, with test keys apart. */
export function admittedSeries(hours: readonly AdmittedHour[], products: Products, slots: readonly string[]): Series {
  const entries = hours.map((each) => ({ slot: each.startsAt, ...nameAndColor(each, products), value: each.admitted }));
  return stack(entries, slots);
}

/** Refused requests, by code and day. */
export function refusedSeries(refusals: readonly RefusedDay[], days: readonly string[]): Series {
  return stack(
    refusals.map(({ day, code, count }) => ({ slot: day, name: code, color: codeColor(code), value: count })),
    days,
  );
}

/** Requests by decision of the access layer. */
export interface Outcomes {
  readonly admitted: number;
  readonly refused: number;
  readonly unavailable: number;
}

/** Outcomes in the order of a chart's stack. */
export const OUTCOMES = [
  { name: 'admitted', color: 'var(--chart-1)', count: ({ admitted }: Outcomes) => admitted },
  { name: 'refused', color: 'var(--chart-2)', count: ({ refused }: Outcomes) => refused },
  { name: 'could not be checked', color: 'var(--chart-4)', count: ({ unavailable }: Outcomes) => unavailable },
] as const;

/** `Admitted`, for the head of a table. */
export function outcomeTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** All of them together. */
export function sumOutcomes(each: readonly Outcomes[]): Outcomes {
  const sum = (count: (of: Outcomes) => number): number => each.reduce((total, of) => total + count(of), 0);
  return { admitted: sum((of) => of.admitted), refused: sum((of) => of.refused), unavailable: sum((of) => of.unavailable) };
}
