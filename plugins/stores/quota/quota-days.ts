import { type Clock } from '../../core/ports';
import { type QuotaWindows, windowsAt } from '../../core/access/quota';

/** Three consecutive days, for a store that knows the time but not the time zone. */
export interface DayTable {
  /** Start of the first, second and third day, and end of the third; Unix seconds. */
  readonly boundaries: readonly [number, number, number, number];
  readonly days: readonly [QuotaWindows, QuotaWindows, QuotaWindows];
}

export interface StoreDaysOptions {
  /** IANA name; day and month turn at its midnight. */
  readonly timeZone: string;
  readonly clock: Clock;
  /** Added to the store's clock; tests turn days with it. */
  readonly clockOffsetSeconds?: () => number;
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

/** The three days that a store's clock may be in, by what was last seen of that clock. */
export class StoreDays {
  /** The store's clock minus this node's, in seconds. */
  private skewSeconds = 0;
  private table: DayTable | undefined;

  constructor(private readonly options: StoreDaysOptions) {}

  current(): DayTable {
    const now = this.options.clock.now() / 1000 + this.skewSeconds;
    if (!this.table || now < this.table.boundaries[1] || now >= this.table.boundaries[2]) {
      this.table = dayTableAt(now, this.options.timeZone);
    }
    return this.table;
  }

  /** Seconds to add to the store's clock. */
  offset(): number {
    return this.options.clockOffsetSeconds?.() ?? 0;
  }

  /** @param storeSeconds the store's clock just now with the offset added, Unix seconds */
  noteTime(storeSeconds: number): void {
    this.skewSeconds = storeSeconds - this.options.clock.now() / 1000;
  }
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
