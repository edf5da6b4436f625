import { windowsAt } from '../../../plugins/core/access/quota';
import { type OutageView } from './list-outages';
import { type AvailabilityDay } from './product-answers';

/** With fewer responses a day no outage can be detected, so the day is unknown unless there was one. */
export const MIN_RESPONSES = 20;

/** A day on which it is known whether the product was failing, up to now if the day is today. */
export interface KnownDay extends Downtime {
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
}

export interface Downtime {
  readonly minutes: number;
  /** The minutes among them with an outage. */
  readonly down: number;
}

export interface Observed {
  /** Days of any products. */
  readonly days: readonly AvailabilityDay[];
  readonly outages: readonly Pick<OutageView, 'product' | 'beganAt' | 'endedAt'>[];
  readonly nowMs: number;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
}

const MINUTE_MS = 60_000;

/** Minutes that both intervals have in common. */
function overlap([from, to]: readonly [number, number], [start, end]: readonly [number, number]): number {
  return Math.max(0, Math.min(to, end) - Math.max(from, start)) / MINUTE_MS;
}

/** The known days of a product among the last `count`, today included, oldest first. */
export function knownDays(product: string, { days, outages, nowMs, timeZone }: Observed, count: number): KnownDay[] {
  const answered = new Map(days.filter((each) => each.product === product).map((each) => [each.day, each.answered]));
  const failing = outages
    .filter((each) => each.product === product)
    .map(({ beganAt, endedAt }) => [beganAt.getTime(), endedAt?.getTime() ?? nowMs] as const);
  const known: KnownDay[] = [];
  let at = nowMs / 1_000;
  for (let place = 0; place < count; place += 1) {
    const { day, dayStartsAt, dayEndsAt } = windowsAt(at, timeZone);
    const span = [dayStartsAt * 1_000, Math.min(dayEndsAt * 1_000, nowMs)] as const;
    const down = failing.reduce((sum, each) => sum + overlap(each, span), 0);
    if (down > 0 || (answered.get(day) ?? 0) >= MIN_RESPONSES) known.unshift({ day, minutes: (span[1] - span[0]) / MINUTE_MS, down });
    at = dayStartsAt - 1;
  }
  return known;
}

/** The sum of all these days. */
export function addUpDays(days: readonly Downtime[]): Downtime {
  return days.reduce((all, { minutes, down }) => ({ minutes: all.minutes + minutes, down: all.down + down }), { minutes: 0, down: 0 });
}

/** Percent with two decimals, never rounded up: 100 means no outage. */
export function availablePercent({ minutes, down }: Downtime): number {
  if (down === 0) return 100;
  return Math.min(99.99, Math.floor(((minutes - down) / minutes) * 10_000) / 100);
}
