import { type QuotaWindows, windowsAt } from '../../core/quota';

/** Three consecutive days, for a store that knows the time but not the time zone. */
export interface DayTable {
  /** Start of the first, second and third day, and end of the third; Unix seconds. */
  readonly boundaries: readonly [number, number, number, number];
  readonly days: readonly [QuotaWindows, QuotaWindows, QuotaWindows];
}

/** Yesterday, today and tomorrow of a moment. @param atSeconds Unix seconds */
export function dayTableAt(atSeconds: number, timeZone: string): DayTable {
  const today = windowsAt(atSeconds, timeZone);
  const yesterday = windowsAt(today.dayStartsAt - 1, timeZone);
  const tomorrow = windowsAt(today.dayEndsAt, timeZone);
  return {
    boundaries: [yesterday.dayStartsAt, today.dayStartsAt, tomorrow.dayStartsAt, tomorrow.dayEndsAt],
    days: [yesterday, today, tomorrow],
  };
}

/** Hours of a UTC day of which at least one falls into the same calendar day in every zone from UTC-12 to UTC+14. */
const PROBES_HOURS = [12, 0, 24];

/**
 * Windows of a day that a store named.
 * @param day `YYYY-MM-DD`
 * @throws RangeError when the zone has no such day
 */
export function windowsOfDay(day: string, timeZone: string): QuotaWindows {
  const midnightUtc = Date.parse(`${day}T00:00:00Z`) / 1000;
  for (const hours of PROBES_HOURS) {
    const windows = windowsAt(midnightUtc + hours * 3600, timeZone);
    if (windows.day === day) return windows;
  }
  throw new RangeError(`the quota time zone has no day ${day}`);
}

/** Days asked for again and again: today's, and yesterday's around midnight. */
const KEPT_DAYS = 8;

/** {@link windowsOfDay} that remembers, because a look-up costs tens of microseconds and comes with every answer. */
export function createDayLookup(timeZone: string): (day: string) => QuotaWindows {
  const known = new Map<string, QuotaWindows>();
  return (day) => {
    const found = known.get(day);
    if (found) return found;
    const windows = windowsOfDay(day, timeZone);
    if (known.size >= KEPT_DAYS) known.clear();
    known.set(day, windows);
    return windows;
  };
}
