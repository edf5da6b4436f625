import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, StoreUnavailable } from '../../core/ports';
import { type QuotaWindows } from '../../core/quota';
import { type DayTable, dayTableAt } from '../quota/quota-days';
import { type Demand, type SubscriptionUsage } from '../quota/quota-parts';
import { type ScriptConnection } from './script-caller';

export interface QuotaScriptOptions {
  readonly connection: ScriptConnection;
  readonly timeZone: string;
  readonly clock: Clock;
  /** Added to Redis's clock; tests turn days with it. */
  readonly clockOffsetSeconds?: () => number;
}

export type ScriptReply =
  | { readonly kind: 'taken'; readonly granted: number; readonly windows: QuotaWindows; readonly usage: SubscriptionUsage }
  /** Redis knows nothing of the subscription; nothing was taken. `day` is the day that Redis's clock says. */
  | { readonly kind: 'unseeded'; readonly day: string };

/** Unless Redis's clock runs backwards by days between two calls, the second finds its day. */
const MOST_TRIES = 3;

/** One slot for all that belongs to a subscription, so that a cluster can run the script. */
export function quotaKey(subscriptionId: string): string {
  return `tollgate:quota:{${subscriptionId}}`;
}

/** Calls quota-counter.lua: writes its arguments, reads its reply, and finds the three days that Redis's clock may be in. */
export class QuotaScript {
  private readonly source = readFileSync(join(__dirname, 'quota-counter.lua'), 'utf8');
  /** Redis's clock minus this node's, in seconds. */
  private skewSeconds = 0;
  private table: DayTable | undefined;

  constructor(private readonly options: QuotaScriptOptions) {}

  /** The day it probably is in Redis. */
  currentDay(): string {
    return this.currentTable().days[1].day;
  }

  /** @param redisSeconds Redis's clock just now, Unix seconds */
  noteRedisTime(redisSeconds: number): void {
    this.skewSeconds = redisSeconds + this.offset() - this.options.clock.now() / 1000;
  }

  /**
   * @param call.seed what Postgres knows, merged before anything is taken
   * @param call.onLate gets the answer when it comes after the call was given up
   * @throws StoreUnavailable
   */
  async run(call: { demand: Demand; seed: SubscriptionUsage | undefined; onLate: (reply: ScriptReply) => void }): Promise<ScriptReply> {
    const { demand, seed } = call;
    for (let round = 0; round < MOST_TRIES; round++) {
      const table = this.currentTable();
      const read = (reply: unknown): ScriptReply | number => readReply(reply, demand.subscriptionId, table);
      const reply = read(
        await this.options.connection.runScript({
          source: this.source,
          key: quotaKey(demand.subscriptionId),
          args: this.argumentsOf(demand, table, seed),
          onLate: (late) => {
            const answer = read(late);
            if (typeof answer !== 'number') call.onLate(answer);
          },
        }),
      );
      if (typeof reply !== 'number') return reply;
      this.noteRedisTime(reply - this.offset());
    }
    throw new StoreUnavailable('the clock of Redis does not hold still');
  }

  private offset(): number {
    return this.options.clockOffsetSeconds?.() ?? 0;
  }

  private currentTable(): DayTable {
    const now = this.options.clock.now() / 1000 + this.skewSeconds;
    if (!this.table || now < this.table.boundaries[1] || now >= this.table.boundaries[2]) {
      this.table = dayTableAt(now, this.options.timeZone);
    }
    return this.table;
  }

  private argumentsOf({ units, limits }: Demand, { boundaries, days }: DayTable, seed: SubscriptionUsage | undefined): (string | number)[] {
    const args = [units, limits.daily, limits.monthly, ...boundaries, days[0].day, days[1].day, days[2].day, this.offset()];
    if (!seed) return args;
    const { day, ofDay, ofMonth } = seed;
    return [...args, day, ofDay.redis, ofDay.postgres, ofDay.refunded, ofMonth.redis, ofMonth.postgres, ofMonth.refunded];
  }
}

/** @returns a number, Redis's clock, when it is in none of the table's days */
function readReply(reply: unknown, subscriptionId: string, { days }: DayTable): ScriptReply | number {
  if (!isNumbers(reply)) throw new StoreUnavailable('Redis answered something unexpected');
  const [first = 0, second = 0] = reply;
  if (first === -2) return second;
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
