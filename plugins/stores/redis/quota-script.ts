import { StoreUnavailable } from '../../core/ports';
import { type QuotaWindows } from '../../core/access/quota';
import { type DayTable } from '../quota/quota-days';
import { type Demand, type SubscriptionUsage } from '../quota/quota-parts';

/** What quota-counter.lua answered. */
export type ScriptReply =
  | { readonly kind: 'taken'; readonly granted: number; readonly windows: QuotaWindows; readonly usage: SubscriptionUsage }
  /** Redis knows nothing of the subscription; nothing was taken. `day` is the day that Redis's clock says. */
  | { readonly kind: 'unseeded'; readonly day: string }
  /** Redis's clock, in Unix seconds with the offset added, is in none of the three days; nothing was taken. */
  | { readonly kind: 'elsewhen'; readonly nowSeconds: number };

/** One slot for all that belongs to a subscription, so that a cluster can run the script. */
export function quotaKey(subscriptionId: string): string {
  return `tollgate:quota:{${subscriptionId}}`;
}

/** @param call.seed what Postgres knows, merged before anything is taken */
export function scriptArguments(call: {
  readonly demand: Demand;
  readonly seed: SubscriptionUsage | undefined;
  readonly table: DayTable;
  readonly offsetSeconds: number;
}): (string | number)[] {
  const { units, limits, least = 0 } = call.demand;
  const { boundaries, days } = call.table;
  const args = [units, limits.daily, limits.monthly, ...boundaries, ...days.map(({ day }) => day), call.offsetSeconds, least];
  if (!call.seed) return args;
  const { day, ofDay, ofMonth } = call.seed;
  return [...args, day, ofDay.redis, ofDay.postgres, ofDay.refunded, ofMonth.redis, ofMonth.postgres, ofMonth.refunded];
}

/**
 * @param table the days that the call named
 * @throws StoreUnavailable for anything that the script cannot have answered
 */
export function readReply(reply: unknown, subscriptionId: string, { days }: DayTable): ScriptReply {
  if (!isNumbers(reply)) throw new StoreUnavailable('Redis answered something unexpected');
  const [first = 0, second = 0] = reply;
  if (first === -2) return { kind: 'elsewhen', nowSeconds: second };
  const windows = days[(first === -1 ? second : first) - 1];
  if (!windows) throw new StoreUnavailable('Redis answered something unexpected');
  if (first === -1) return { kind: 'unseeded', day: windows.day };
  const [, granted = 0, redis = 0, postgres = 0, refunded = 0, monthRedis = 0, monthPostgres = 0, monthRefunded = 0] = reply;
  const ofDay = { redis, postgres, refunded };
  const ofMonth = { redis: monthRedis, postgres: monthPostgres, refunded: monthRefunded };
  return { kind: 'taken', granted, windows, usage: { subscriptionId, day: windows.day, ofDay, ofMonth } };
}

function isNumbers(reply: unknown): reply is number[] {
  return Array.isArray(reply) && reply.every((each) => typeof each === 'number');
}
