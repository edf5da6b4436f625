import { type Clock, StoreUnavailable } from '../../core/ports';
import { type QuotaWindows, windowsAt } from '../../core/access/quota';
import { paceOf } from '../../core/access/rate';
import { type Demand } from '../quota/quota-coalescer';
import { type SubscriptionUsage } from '../quota/quota-usage';

/** Three consecutive days for Redis, which knows the time but not the time zone. */
export interface DayTable {
  /** Start of the first, second and third day, and end of the third; Unix seconds. */
  readonly boundaries: readonly [number, number, number, number];
  readonly days: readonly [QuotaWindows, QuotaWindows, QuotaWindows];
}

export interface StoreDaysOptions {
  /** IANA name; days and months change at its midnight. */
  readonly timeZone: string;
  readonly clock: Clock;
  /** Added to Redis's clock; tests move to other days with it. */
  readonly clockOffsetSeconds?: () => number;
}

/** Yesterday, today and tomorrow at a time. @param atSeconds Unix seconds */
function dayTableAt(atSeconds: number, timeZone: string): DayTable {
  const today = windowsAt(atSeconds, timeZone);
  const yesterday = windowsAt(today.dayStartsAt - 1, timeZone);
  const tomorrow = windowsAt(today.dayEndsAt, timeZone);
  return {
    boundaries: [yesterday.dayStartsAt, today.dayStartsAt, tomorrow.dayStartsAt, tomorrow.dayEndsAt],
    days: [yesterday, today, tomorrow],
  };
}

/** The three days that Redis's clock may be in, based on its last known time. */
export class StoreDays {
  /** Redis's clock minus this node's, in seconds. */
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

  /** Seconds to add to Redis's clock. */
  offset(): number {
    return this.options.clockOffsetSeconds?.() ?? 0;
  }

  /** @param storeSeconds the present time of Redis's clock with the offset added, Unix seconds */
  noteTime(storeSeconds: number): void {
    this.skewSeconds = storeSeconds - this.options.clock.now() / 1000;
  }
}

/** A reply of quota-counter.lua. */
export type ScriptReply =
  | {
      readonly kind: 'taken';
      readonly granted: number;
      readonly windows: QuotaWindows;
      readonly usage: SubscriptionUsage;
      /** Undefined if the call named no rate. */
      readonly debt: number | undefined;
    }
  /** Redis knows nothing of the subscription; nothing was taken. `day` is today by Redis's clock. */
  | { readonly kind: 'unseeded'; readonly day: string }
  /** Redis's clock, in Unix seconds with the offset added, is in none of the three days; nothing was taken. */
  | { readonly kind: 'elsewhen'; readonly nowSeconds: number };

/** The hash tag puts all keys of a subscription into one slot, so that a cluster can run the script. */
export function quotaKey(subscriptionId: string): string {
  return `tollgate:quota:{${subscriptionId}}`;
}

/**
 * @param call.seed PostgreSQL's figures; the script merges them before it takes anything
 * @param call.mergesOnly the seed changes an existing key and creates none
 */
export function scriptArguments(call: {
  readonly demand: Demand;
  readonly seed: SubscriptionUsage | undefined;
  readonly mergesOnly?: boolean;
  readonly table: DayTable;
  readonly offsetSeconds: number;
}): (string | number)[] {
  const { units, limits, least = 0 } = call.demand;
  const { boundaries, days } = call.table;
  const { daily, monthly, rate } = limits;
  const pace = rate ? [paceOf(rate), rate.burst] : [0, 0];
  const args = [units, daily, monthly, ...boundaries, ...days.map(({ day }) => day), call.offsetSeconds, least, ...pace];
  if (!call.seed) return args;
  const { day, ofDay, ofMonth } = call.seed;
  const seed = [day, ofDay.redis, ofDay.postgres, ofDay.refunded, ofMonth.redis, ofMonth.postgres, ofMonth.refunded];
  return call.mergesOnly ? [...args, ...seed, 1] : [...args, ...seed];
}

/**
 * @param table the days that the call named
 * @throws StoreUnavailable for a reply that the script cannot have sent
 */
export function readReply(reply: unknown, subscriptionId: string, { days }: DayTable): ScriptReply {
  if (!isNumbers(reply)) throw new StoreUnavailable('Redis sent an unexpected reply');
  const [first = 0, second = 0] = reply;
  if (first === -2) return { kind: 'elsewhen', nowSeconds: second };
  const windows = days[(first === -1 ? second : first) - 1];
  if (!windows) throw new StoreUnavailable('Redis sent an unexpected reply');
  if (first === -1) return { kind: 'unseeded', day: windows.day };
  const [, granted = 0, redis = 0, postgres = 0, refunded = 0, monthRedis = 0, monthPostgres = 0, monthRefunded = 0, debt] = reply;
  const ofDay = { redis, postgres, refunded };
  const ofMonth = { redis: monthRedis, postgres: monthPostgres, refunded: monthRefunded };
  return { kind: 'taken', granted, windows, usage: { subscriptionId, day: windows.day, ofDay, ofMonth }, debt };
}

function isNumbers(reply: unknown): reply is number[] {
  return Array.isArray(reply) && reply.every((each) => typeof each === 'number');
}
