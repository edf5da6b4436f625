import { type DayAndMonth, type QuotaLimits } from '../catalogue/catalogue';
import { type RateReport, type RateStanding, reportRate } from './rate';

/** Calendar windows of a time in the quota time zone. Times are Unix seconds; a window holds its start and not its end. */
export interface QuotaWindows {
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly dayStartsAt: number;
  readonly dayEndsAt: number;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly monthStartsAt: number;
  readonly monthEndsAt: number;
}

export type QuotaWindowName = 'daily' | 'monthly';

/** The limit that refused. */
export type ExceededLimit = QuotaWindowName | 'rate';

/** The state of a subscription after a spend, a refund or a read. Counts are requests. */
export interface QuotaStanding extends QuotaWindows {
  readonly usedDaily: number;
  readonly usedMonthly: number;
  /** Absent if the limits have no rate, or nothing was requested. */
  readonly rate?: RateStanding | undefined;
}

/** Formatters are costly to create, so one is kept for each zone. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    formatters.set(timeZone, formatter);
  }
  return formatter;
}

/** Wall-clock time of `atSeconds` in the zone, as if it were UTC: its difference from `atSeconds` is the zone's offset at that time. */
function wallClock(atSeconds: number, timeZone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatterOf(timeZone).formatToParts(atSeconds * 1000)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

/** The first instant of a calendar day in the zone. A day whose midnight is skipped by a clock change starts at the change. */
function startOfDay(dayAsUtc: number, timeZone: string): number {
  let guess = dayAsUtc;
  // Two corrections are enough in every zone: the first lands within an hour of midnight, the second uses the offset in force there.
  for (let round = 0; round < 2; round++) guess += dayAsUtc - wallClock(guess, timeZone);
  const wall = wallClock(guess, timeZone);
  return wall < dayAsUtc ? guess + (dayAsUtc - wall) : guess;
}

const SECONDS_A_DAY = 86_400;

/**
 * The time at which a calendar day ends in the zone: the midnight that follows it.
 * @param day `YYYY-MM-DD`
 */
export function endOfDay(day: string, timeZone: string): Date {
  return new Date(startOfDay(Date.parse(`${day}T00:00:00Z`) / 1000 + SECONDS_A_DAY, timeZone) * 1000);
}

/**
 * The day and month that a time belongs to. Days can be 23 or 25 hours long where clocks change.
 * @param atSeconds Unix seconds
 * @param timeZone IANA name, for example `Asia/Kolkata`
 * @throws RangeError when the zone is unknown
 */
export function windowsAt(atSeconds: number, timeZone: string): QuotaWindows {
  const wall = new Date(wallClock(Math.floor(atSeconds), timeZone) * 1000);
  const year = wall.getUTCFullYear();
  const month = wall.getUTCMonth();
  const dayAsUtc = Date.UTC(year, month, wall.getUTCDate()) / 1000;
  const day = new Date(dayAsUtc * 1000).toISOString().slice(0, 10);
  return {
    day,
    dayStartsAt: startOfDay(dayAsUtc, timeZone),
    dayEndsAt: startOfDay(dayAsUtc + SECONDS_A_DAY, timeZone),
    month: day.slice(0, 7),
    monthStartsAt: startOfDay(Date.UTC(year, month, 1) / 1000, timeZone),
    monthEndsAt: startOfDay(Date.UTC(year, month + 1, 1) / 1000, timeZone),
  };
}

/** An hour of a day in the quota time zone. */
export interface QuotaHour {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** Whole hours since the day began, 0 to 25: clocks go back by up to two hours (Antarctica/Troll). */
  readonly hour: number;
}

/**
 * Finds the hour of a quota day that a time belongs to. It remembers one day's bounds, because most times are on the same day as the last
 * one.
 */
export class QuotaHours {
  private windows: QuotaWindows | undefined;

  /** @param timeZone quota time zone */
  constructor(private readonly timeZone: string) {}

  /** @param atMs Unix milliseconds */
  at(atMs: number): QuotaHour {
    const at = atMs / 1_000;
    if (!this.windows || at < this.windows.dayStartsAt || at >= this.windows.dayEndsAt) this.windows = windowsAt(at, this.timeZone);
    const { day, dayStartsAt } = this.windows;
    return { day, hour: Math.floor((at - dayStartsAt) / 3_600) };
  }
}

/** True when the runtime knows the zone; settings are checked with it at start. */
export function isTimeZone(name: string): boolean {
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

export interface SpendDecision {
  /** Number of the requested units that may be taken: all, or as many as both windows still have. */
  readonly granted: number;
  /** The window that refused the rest; the month when both are used up, because waiting for the next day would not help. */
  readonly exceeded: QuotaWindowName | undefined;
}

/** The rule that both counters implement: a unit is taken from day and month together or from neither. */
export function decideSpend(standing: { usedDaily: number; usedMonthly: number }, limits: DayAndMonth, requested: number): SpendDecision {
  const leftDaily = Math.max(0, limits.daily - standing.usedDaily);
  const leftMonthly = Math.max(0, limits.monthly - standing.usedMonthly);
  const granted = Math.min(requested, leftDaily, leftMonthly);
  if (granted === requested) return { granted, exceeded: undefined };
  return { granted, exceeded: leftMonthly <= leftDaily ? 'monthly' : 'daily' };
}

/** The report of a quota in the RateLimit fields. */
export interface QuotaReport {
  readonly daily: { limit: number; remaining: number; resetsAt: number; windowSeconds: number };
  readonly monthly: { limit: number; remaining: number; resetsAt: number; windowSeconds: number };
  /** Absent without a rate. */
  readonly rate?: RateReport | undefined;
  /** Units left before use is charged, in the window that has fewer of them. Absent if no use is charged beside the price. */
  readonly included?: QuotaReport['daily'] | undefined;
}

/** `remaining` is never negative: a plan change may leave more used than the new limit. */
export function reportQuota(standing: QuotaStanding, limits: QuotaLimits): QuotaReport {
  const windows = windowsOf(standing, limits);
  const included = limits.included && windowsOf(standing, limits.included);
  return {
    ...windows,
    ...(limits.rate && standing.rate && { rate: reportRate(standing.rate, limits.rate) }),
    ...(included && { included: included.daily.remaining <= included.monthly.remaining ? included.daily : included.monthly }),
  };
}

function windowsOf(standing: QuotaStanding, limits: DayAndMonth): Pick<QuotaReport, 'daily' | 'monthly'> {
  return {
    daily: {
      limit: limits.daily,
      remaining: Math.max(0, limits.daily - standing.usedDaily),
      resetsAt: standing.dayEndsAt,
      windowSeconds: standing.dayEndsAt - standing.dayStartsAt,
    },
    monthly: {
      limit: limits.monthly,
      remaining: Math.max(0, limits.monthly - standing.usedMonthly),
      resetsAt: standing.monthEndsAt,
      windowSeconds: standing.monthEndsAt - standing.monthStartsAt,
    },
  };
}

/**
 * The RateLimit fields of draft-ietf-httpapi-ratelimit-headers: `q` units a window, `w` and `t` in seconds, `r` units remaining. For a
 * rate, `r` is how many requests may come at once now, and `t` when one more may. For included use, `r` is what is left before use is
 * charged.
 * @param nowSeconds Unix seconds
 */
export function rateLimitHeaders(report: QuotaReport, nowSeconds: number): { 'RateLimit-Policy': string; RateLimit: string } {
  const { daily, monthly, included, rate } = report;
  const policy = (name: string, of: { limit: number; windowSeconds: number }): string => `"${name}";q=${of.limit};w=${of.windowSeconds}`;
  const left = (name: string, { remaining, resetsAt }: QuotaReport['daily']): string =>
    `"${name}";r=${remaining};t=${Math.max(0, Math.ceil(resetsAt - nowSeconds))}`;
  const also = included
    ? { policy: `, ${policy('included', included)}`, left: `, ${left('included', included)}` }
    : { policy: '', left: '' };
  const paced = rate
    ? { policy: `, ${policy('rate', rate)}`, left: `, "rate";r=${rate.remaining};t=${rate.waitSeconds}` }
    : { policy: '', left: '' };
  return {
    'RateLimit-Policy': `${policy('daily', daily)}, ${policy('monthly', monthly)}${also.policy}${paced.policy}`,
    RateLimit: `${left('daily', daily)}, ${left('monthly', monthly)}${also.left}${paced.left}`,
  };
}
