import { randomUUID } from 'node:crypto';
import { StoreUnavailable } from '../../core/ports';
import { type Demand, NO_USAGE, type QuotaBackend, type Refund, type SubscriptionUsage, type Taken, usedOf } from '../quota/quota-parts';
import { type SeenUsage } from '../quota/quota-seen';
import { type QuotaScript, type ScriptReply, quotaKey } from './quota-script';
import { type ScriptConnection } from './script-caller';

/** What the Redis counter asks of Postgres. */
export interface UsageLedger {
  syncOne(seen: SubscriptionUsage): Promise<SubscriptionUsage>;
  giveBack(units: { requestId: string; subscriptionId: string; day: string; units: number }): Promise<{
    outcome: 'refunded' | 'repeated' | 'uncharged';
    usage: SubscriptionUsage;
  }>;
}

export interface RedisQuotaCounterOptions {
  readonly connection: ScriptConnection;
  readonly script: QuotaScript;
  readonly ledger: UsageLedger;
  readonly seen: SeenUsage;
}

/** A key can vanish again between its seeding and the next try; not this often. */
const MOST_SEEDINGS = 4;
/** Forgetting early only costs a look into Postgres. */
const MOST_REMEMBERED = 200_000;
const RETRY_MS = 1_000;
const READ_ONLY = { limits: { daily: 0, monthly: 0 }, units: 0 };

/**
 * Units that were granted after their requests had moved on, waiting to be given back. Their id is like a request's: Postgres may have
 * given them back and its answer been lost, and they are given back once.
 */
type LateUnits = { requestId: string; subscriptionId: string; day: string; units: number };

/** Counts in Redis, by Redis's clock, with Postgres as the memory of what Redis may not know. */
export class RedisQuotaCounter implements QuotaBackend {
  /** Subscriptions into whose key Postgres's figures were merged since Redis was last away. */
  private seeded = new Set<string>();
  private late: LateUnits[] = [];
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;
  seedings = 0;
  lateUnits = 0;

  constructor(private readonly options: RedisQuotaCounterOptions) {}

  /** Postgres may have granted units meanwhile: every subscription is merged again before its next spend. */
  forgetSeeds(): void {
    this.seeded = new Set();
  }

  /** @throws StoreUnavailable; the units may then have been taken, and are given back if Redis says so later */
  async take(demand: Demand): Promise<Taken> {
    if (this.seeded.size >= MOST_REMEMBERED) this.seeded = new Set();
    const { script, seen } = this.options;
    const { subscriptionId } = demand;
    // What Postgres is asked for now is too old to count as merged once these are forgotten.
    const { seeded } = this;
    let seed = seeded.has(subscriptionId) ? undefined : await this.trySeed(subscriptionId);
    for (let round = 0; round < MOST_SEEDINGS; round++) {
      const reply = await script.run({ demand, seed, onLate: (late) => this.giveBackLate(late) });
      if (reply.kind === 'taken') {
        // A read may run beside a spend that went to the fallback, with figures from before it.
        if (seed && demand.units > 0) seeded.add(subscriptionId);
        seen.record(reply.usage);
        const { granted, windows, usage } = reply;
        return { granted, standing: { ...windows, usedDaily: usedOf(usage.ofDay), usedMonthly: usedOf(usage.ofMonth) } };
      }
      seed = await this.findSeed(subscriptionId, reply.day);
    }
    throw new StoreUnavailable('Redis loses what it is told');
  }

  /** The same for one subscription, after the fallback served it. */
  forgetSeed(subscriptionId: string): void {
    this.seeded.delete(subscriptionId);
  }

  /** Merges what Postgres knows of a subscription now. @throws StoreUnavailable */
  async reseed(subscriptionId: string): Promise<void> {
    await this.merge(await this.findSeed(subscriptionId, this.options.script.currentDay()));
  }

  /** Merges what Postgres knows into a key that exists or is of today. @throws StoreUnavailable */
  async merge(usage: SubscriptionUsage): Promise<void> {
    const demand = { subscriptionId: usage.subscriptionId, ...READ_ONLY };
    await this.options.script.run({ demand, seed: usage, onLate: () => undefined });
  }

  /**
   * Postgres decides, since it alone knows every request id whichever store granted the unit; Redis is told at once.
   * @throws StoreUnavailable
   */
  async refund({ subscriptionId, day, requestId }: Refund): Promise<boolean> {
    const { ledger } = this.options;
    const unit = { requestId, subscriptionId, day, units: 1 };
    let given = await ledger.giveBack(unit);
    if (given.outcome === 'uncharged') {
      await this.tellLedger(subscriptionId, day);
      given = await ledger.giveBack(unit);
    }
    // A failure leaves the unit counted in Redis until the subscription is merged again.
    if (given.outcome === 'refunded') await this.merge(given.usage).catch(() => this.seeded.delete(subscriptionId));
    return given.outcome === 'refunded';
  }

  /** Gives back what was granted too late. What fails is tried again; until then it counts, so nothing is granted twice. */
  async giveBackLateUnits(): Promise<void> {
    const waiting = this.late;
    this.late = [];
    for (const units of waiting) {
      try {
        await this.tellLedger(units.subscriptionId, units.day);
        const { usage } = await this.options.ledger.giveBack(units);
        await this.merge(usage).catch(() => this.seeded.delete(units.subscriptionId));
      } catch {
        this.late.push(units);
      }
    }
    if (this.late.length > 0 && !this.isClosed) this.retryLater();
  }

  /** One last attempt to give back, and no more after it. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    await this.giveBackLateUnits();
  }

  /** The ledger may be away or take no writes for a while, and no other late unit may ever come. */
  private retryLater(): void {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.giveBackLateUnits(), RETRY_MS);
    this.retry.unref();
  }

  private giveBackLate(reply: ScriptReply): void {
    if (reply.kind !== 'taken') return;
    const { granted, usage } = reply;
    this.options.seen.record(usage);
    if (granted === 0) return;
    this.lateUnits += granted;
    this.late.push({ requestId: `late-${randomUUID()}`, subscriptionId: usage.subscriptionId, day: usage.day, units: granted });
    void this.giveBackLateUnits();
  }

  /** Postgres learns of Redis's units within a second; a refund may be quicker. */
  private async tellLedger(subscriptionId: string, day: string): Promise<void> {
    const { connection, ledger, seen } = this.options;
    const known = seen.find(subscriptionId).find((each) => each.day === day);
    const field = await connection.readField(quotaKey(subscriptionId), `${day}s`).catch(() => null);
    const redis = Math.max(Number(field ?? 0), known?.ofDay.redis ?? 0);
    await ledger.syncOne({ subscriptionId, day, ofDay: { ...NO_USAGE, redis }, ofMonth: NO_USAGE });
  }

  /** Without Postgres an existing key is used as it is; the merge is tried again with the next spend. */
  private async trySeed(subscriptionId: string): Promise<SubscriptionUsage | undefined> {
    try {
      return await this.findSeed(subscriptionId, this.options.script.currentDay());
    } catch {
      return undefined;
    }
  }

  private async findSeed(subscriptionId: string, day: string): Promise<SubscriptionUsage> {
    this.seedings++;
    const { ledger, seen } = this.options;
    const [today, ...others] = [...seen.find(subscriptionId)].sort((a) => (a.day === day ? -1 : 1));
    // Yesterday's units belong to the month too.
    const isToday = today?.day === day;
    for (const other of isToday ? others : today ? [today, ...others] : []) await ledger.syncOne(other);
    return ledger.syncOne(isToday ? today : { subscriptionId, day, ofDay: NO_USAGE, ofMonth: NO_USAGE });
  }
}
