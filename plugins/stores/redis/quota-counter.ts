import { randomUUID } from 'node:crypto';
import { type RefundRequest, type Settlement, type SettlementOutcome, StoreUnavailable } from '../../core/ports';
import { type RefundOutcome } from '../../core/catalogue/refunds';
import { type Changed, type GiveBack, giveBackOf, type QuotaLedger } from '../postgres/quota/quota-ledger';
import { type Demand, type QuotaBackend, rateIn, type Taken } from '../quota/quota-coalescer';
import { NO_USAGE, type SeenUsage, type SubscriptionUsage, usedOf } from '../quota/quota-usage';
import { quotaKey, readReply, scriptArguments, type ScriptReply, StoreDays, type StoreDaysOptions } from './quota-script';
import { type WatchedConnection } from './watched-connection';

/** The part of PostgreSQL that the Redis counter needs. */
export type UsageLedger = Pick<QuotaLedger, 'syncOne' | 'giveBack' | 'settle'>;

/** The part of Redis that the counter needs. */
export type ScriptConnection = Pick<WatchedConnection, 'runScript' | 'readField' | 'probe'>;

export interface RedisQuotaCounterOptions extends StoreDaysOptions {
  readonly connection: ScriptConnection;
  readonly ledger: UsageLedger;
  readonly seen: SeenUsage;
}

/** A key can vanish between its seeding and the next try, but not this many times. */
const MAX_SEEDINGS = 4;
/** Forgetting a subscription early costs only one more read of PostgreSQL. */
const MAX_REMEMBERED = 200_000;
/** The second call uses Redis's day, unless Redis's clock jumps by days between two calls. */
const MAX_TRIES = 3;
const READ_ONLY = { limits: { daily: 0, monthly: 0 }, units: 0 };

/** Counts in Redis, by Redis's clock. PostgreSQL remembers what Redis may not know. */
export class RedisQuotaCounter implements QuotaBackend {
  /** Subscriptions into whose key PostgreSQL's figures were merged since Redis was last away. */
  private seeded = new Set<string>();
  private readonly giveBacks: GiveBacks;
  private readonly days: StoreDays;
  seedings = 0;

  constructor(private readonly options: RedisQuotaCounterOptions) {
    this.days = new StoreDays(options);
    const merge = (usage: SubscriptionUsage): Promise<void> => this.merge(usage).catch(() => this.forgetSeed(usage.subscriptionId));
    this.giveBacks = new GiveBacks({ ...options, merge });
  }

  /** Units since the start that Redis granted too late, after their requests had moved on. */
  get lateUnits(): number {
    return this.giveBacks.lateUnits;
  }

  /** True when Redis takes writes. */
  async probe(): Promise<boolean> {
    const seconds = await this.options.connection.probe();
    if (seconds === undefined) return false;
    this.days.noteTime(seconds + this.days.offset());
    return true;
  }

  /** PostgreSQL may have granted units meanwhile, so every subscription is merged again before its next spend. */
  forgetSeeds(): void {
    this.seeded = new Set();
  }

  /** @throws StoreUnavailable; the units may have been taken, and are given back if Redis reports so later */
  async take(demand: Demand): Promise<Taken> {
    if (this.seeded.size >= MAX_REMEMBERED) this.seeded = new Set();
    const { subscriptionId } = demand;
    // If the seeds are forgotten during this call, PostgreSQL's figures read so far are too old to count as merged.
    const { seeded } = this;
    let seed = seeded.has(subscriptionId) ? undefined : await this.trySeed(subscriptionId);
    for (let round = 0; round < MAX_SEEDINGS; round++) {
      const reply = await this.run({ demand, seed, onLate: (late) => this.noteLate(late) });
      if (reply.kind === 'taken') {
        // A read does not count as seeding: it may run beside a spend on the fallback, with figures from before that spend.
        if (seed && demand.units > 0) seeded.add(subscriptionId);
        this.options.seen.record(reply.usage);
        const { granted, windows, usage, debt } = reply;
        const used = { usedDaily: usedOf(usage.ofDay), usedMonthly: usedOf(usage.ofMonth) };
        return { granted, standing: { ...windows, ...used, ...rateIn(debt, demand.limits) } };
      }
      seed = await this.findSeed(subscriptionId, reply.day);
    }
    throw new StoreUnavailable('Redis loses what is written to it');
  }

  /** Forgets the seed of one subscription, after the fallback served it. */
  forgetSeed(subscriptionId: string): void {
    this.seeded.delete(subscriptionId);
  }

  /**
   * Merges PostgreSQL's present figures of a subscription.
   * @throws StoreUnavailable
   */
  async reseed(subscriptionId: string): Promise<void> {
    await this.merge(await this.findSeed(subscriptionId, this.today()));
  }

  /**
   * Merges PostgreSQL's figures into an existing key. A key that an emptied Redis lost is created only by the next spend, which also
   * reports what this node saw and PostgreSQL does not know yet.
   * @throws StoreUnavailable
   */
  async merge(usage: SubscriptionUsage): Promise<void> {
    const demand = { subscriptionId: usage.subscriptionId, ...READ_ONLY };
    await this.run({ demand, seed: usage, mergesOnly: true, onLate: () => undefined });
  }

  /** @throws StoreUnavailable */
  refund(refund: RefundRequest): Promise<RefundOutcome> {
    return this.giveBacks.refund(refund);
  }

  /** @throws StoreUnavailable */
  settle(settlement: Settlement): Promise<SettlementOutcome> {
    return this.giveBacks.settle(settlement);
  }

  /** Makes one last attempt to give back units that were granted too late. */
  close(): Promise<void> {
    return this.giveBacks.close();
  }

  /** Calls the script with the three days that Redis's clock may be in. @throws StoreUnavailable */
  private async run(call: {
    demand: Demand;
    seed: SubscriptionUsage | undefined;
    mergesOnly?: boolean;
    onLate: (reply: ScriptReply) => void;
  }): Promise<Exclude<ScriptReply, { kind: 'elsewhen' }>> {
    const { subscriptionId } = call.demand;
    for (let round = 0; round < MAX_TRIES; round++) {
      const table = this.days.current();
      const answer = await this.options.connection.runScript({
        key: quotaKey(subscriptionId),
        args: scriptArguments({ ...call, table, offsetSeconds: this.days.offset() }),
        onLate: (late) => call.onLate(readReply(late, subscriptionId, table)),
      });
      const reply = readReply(answer, subscriptionId, table);
      if (reply.kind !== 'elsewhen') return reply;
      this.days.noteTime(reply.nowSeconds);
    }
    throw new StoreUnavailable('the clock of Redis keeps jumping');
  }

  /** The day that Redis's clock is probably in. */
  private today(): string {
    return this.days.current().days[1].day;
  }

  private noteLate(reply: ScriptReply): void {
    if (reply.kind !== 'taken') return;
    this.options.seen.record(reply.usage);
    this.giveBacks.addLate(reply.usage, reply.granted);
  }

  /** Without PostgreSQL an existing key is used as it is. The next spend tries the merge again. */
  private async trySeed(subscriptionId: string): Promise<SubscriptionUsage | undefined> {
    try {
      return await this.findSeed(subscriptionId, this.today());
    } catch {
      return undefined;
    }
  }

  private async findSeed(subscriptionId: string, day: string): Promise<SubscriptionUsage> {
    this.seedings++;
    const { ledger, seen } = this.options;
    const [today, ...others] = [...seen.find(subscriptionId)].sort((a) => (a.day === day ? -1 : 1));
    // Yesterday's units may belong to the same month.
    const isToday = today?.day === day;
    for (const other of isToday ? others : today ? [today, ...others] : []) await ledger.syncOne(other);
    return ledger.syncOne(isToday ? today : { subscriptionId, day, ofDay: NO_USAGE, ofMonth: NO_USAGE });
  }
}

interface GiveBacksOptions extends Pick<RedisQuotaCounterOptions, 'connection' | 'ledger' | 'seen'> {
  /** Sends Redis what PostgreSQL knows. Never fails. */
  readonly merge: (usage: SubscriptionUsage) => Promise<void>;
}

const RETRY_MS = 1_000;

/** Changes the units that a day took from Redis: gives back a refunded request or units granted too late, or settles a request. */
class GiveBacks {
  private waiting: GiveBack[] = [];
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;
  lateUnits = 0;

  constructor(private readonly options: GiveBacksOptions) {}

  /**
   * PostgreSQL decides, because only it knows every refunded request id, whichever store granted the unit. Redis learns of it at once. If
   * that fails, the unit stays counted there until the subscription is merged again.
   * @throws StoreUnavailable
   */
  async refund(request: RefundRequest): Promise<RefundOutcome> {
    const taken = giveBackOf(request);
    return this.change(taken, () => this.options.ledger.giveBack(taken));
  }

  /** @throws StoreUnavailable */
  settle(settlement: Settlement): Promise<SettlementOutcome> {
    return this.change(settlement, () => this.options.ledger.settle(settlement));
  }

  private async change<Outcome extends RefundOutcome | SettlementOutcome>(
    of: Pick<GiveBack, 'subscriptionId' | 'day'>,
    write: () => Promise<Changed<Outcome>>,
  ): Promise<Outcome> {
    let changed = await write();
    if (changed.outcome === 'uncharged') {
      await this.tellLedger(of);
      changed = await write();
    }
    if (changed.outcome === 'refunded' || changed.outcome === 'settled') await this.options.merge(changed.usage);
    return changed.outcome;
  }

  /** Gives back units that were granted too late, and repeats failed attempts. Until then the units count, so nothing is granted twice. */
  addLate({ subscriptionId, day }: SubscriptionUsage, units: number): void {
    if (units === 0) return;
    this.lateUnits += units;
    // The id makes a second attempt harmless when PostgreSQL gave the units back and its reply was lost.
    this.waiting.push({ requestId: `late-${randomUUID()}`, subscriptionId, day, units, mostOfDay: null, isExempt: false });
    void this.giveAllBack();
  }

  /** Makes one last attempt to give back what waits. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    await this.giveAllBack();
  }

  private async giveAllBack(): Promise<void> {
    const { waiting } = this;
    this.waiting = [];
    for (const units of waiting) await this.giveLateBack(units).catch(() => this.waiting.push(units));
    if (this.waiting.length > 0 && !this.isClosed) this.retryLater();
  }

  private async giveLateBack(units: GiveBack): Promise<void> {
    await this.tellLedger(units);
    const { usage } = await this.options.ledger.giveBack(units);
    await this.options.merge(usage);
  }

  /** Otherwise only another late unit would repeat these, and it may never come. */
  private retryLater(): void {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.giveAllBack(), RETRY_MS);
    this.retry.unref();
  }

  /** A refund can come within the second before PostgreSQL learns of Redis's units, so those are reported to PostgreSQL first. */
  private async tellLedger({ subscriptionId, day }: Pick<GiveBack, 'subscriptionId' | 'day'>): Promise<void> {
    const { connection, ledger, seen } = this.options;
    const known = seen.find(subscriptionId).find((each) => each.day === day);
    const field = await connection.readField(quotaKey(subscriptionId), `${day}s`).catch(() => null);
    const redis = Math.max(Number(field ?? 0), known?.ofDay.redis ?? 0);
    await ledger.syncOne({ subscriptionId, day, ofDay: { ...NO_USAGE, redis }, ofMonth: NO_USAGE });
  }
}
