import { type RefundRequest, type Settlement, type SettlementOutcome, StoreUnavailable } from '../../core/ports';
import { type RefundOutcome } from '../../core/catalogue/refunds';
import { type QuotaStoreInUse } from '../../core/store-stats';
import { type Demand, type QuotaBackend, type Taken } from './quota-coalescer';
import { type StoreLog } from './quota-usage';

/** A counter whose data may be lost. Its counts are restored from the ledger. */
interface SeededQuotaBackend extends QuotaBackend {
  forgetSeeds(): void;
  forgetSeed(subscriptionId: string): void;
  reseed(subscriptionId: string): Promise<void>;
  /** @returns false while it takes no writes */
  probe(): Promise<boolean>;
}

export interface QuotaFailoverOptions {
  readonly primary: SeededQuotaBackend;
  readonly fallback: QuotaBackend;
  /** Called as soon as the primary is given up, because the counts that this node saw there must reach the fallback. */
  readonly onOpen: () => void;
  readonly log: StoreLog;
}

const PROBE_INTERVAL_MS = 250;
/** Maximum merges at the same time after the primary is back. */
const MERGE_CHUNK = 100;

/**
 * Redis, and PostgreSQL while Redis is away. One failure opens the breaker: all spends go to PostgreSQL until a probe finds Redis taking
 * writes again. Counting stays exact as long as all nodes use the same store and it keeps its data. Otherwise, for one subscription:
 * - Redis lost data: units that other nodes saw and had not yet written to PostgreSQL may be granted again. Each node writes every second,
 *   and at once when a connection breaks. The first node to come back has already written its own units.
 * - Some nodes lost Redis, others did not: each side may grant what the other granted since its last merge. A node merges when it returns,
 *   and at the latest a second after it last used the subscription.
 * - PostgreSQL crashed while it counted: at most the units of its last 0.6 s (three turns of its log writer) are granted again.
 * Units under way when a connection breaks may count twice, but always count.
 */
export class QuotaFailover implements QuotaBackend {
  private isOpen = false;
  private isClosed = false;
  private timer: NodeJS.Timeout | undefined;
  /** Subscriptions that the fallback changed while the primary was away. */
  private changedMeanwhile = new Set<string>();
  private hasFallbackFailed = false;
  readonly counts = { primaryCalls: 0, fallbackCalls: 0, failures: 0, opened: 0 };

  constructor(private readonly options: QuotaFailoverOptions) {}

  storeInUse(): QuotaStoreInUse {
    if (!this.isOpen) return 'redis';
    return this.hasFallbackFailed ? 'none' : 'postgres';
  }

  async take(demand: Demand): Promise<Taken> {
    if (!this.isOpen) {
      this.counts.primaryCalls++;
      try {
        return await this.options.primary.take(demand);
      } catch (cause) {
        // Only Redis's own failures open the breaker (see trouble). A call may also fail because PostgreSQL could not supply a seed.
        if (!(cause instanceof StoreUnavailable)) throw cause;
      }
    }
    return this.onFallback(demand.subscriptionId, () => this.options.fallback.take(demand));
  }

  async refund(refund: RefundRequest): Promise<RefundOutcome> {
    if (!this.isOpen) return this.options.primary.refund(refund);
    return this.onFallback(refund.subscriptionId, () => this.options.fallback.refund(refund));
  }

  async settle(settlement: Settlement): Promise<SettlementOutcome> {
    if (!this.isOpen) return this.options.primary.settle(settlement);
    return this.onFallback(settlement.subscriptionId, () => this.options.fallback.settle(settlement));
  }

  /**
   * Reports that the primary cannot be used.
   * @param reason for the log; names no address and no value
   */
  trouble(reason: string): void {
    if (this.isOpen || this.isClosed) return;
    this.isOpen = true;
    this.counts.opened++;
    this.options.primary.forgetSeeds();
    this.options.log.warn({ reason }, 'Redis cannot be used; quotas are counted in PostgreSQL');
    this.options.onOpen();
    this.timer = setInterval(() => void this.tryPrimary(), PROBE_INTERVAL_MS);
    this.timer.unref();
  }

  /** Checks now whether the primary is back. */
  async tryPrimary(): Promise<void> {
    if (!this.isOpen || this.isClosed || !(await this.options.primary.probe())) return;
    clearInterval(this.timer);
    this.isOpen = false;
    this.options.log.info({ subscriptions: this.changedMeanwhile.size }, 'Redis is back; quotas are counted there');
    await this.mergeChanges();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
  }

  private async onFallback<T>(subscriptionId: string, work: () => Promise<T>): Promise<T> {
    this.counts.fallbackCalls++;
    this.changedMeanwhile.add(subscriptionId);
    try {
      const result = await work();
      this.hasFallbackFailed = false;
      // The primary may be in use again by now, or other nodes may never have lost it.
      if (!this.isOpen) this.options.primary.forgetSeed(subscriptionId);
      return result;
    } catch (cause) {
      this.hasFallbackFailed = true;
      this.counts.failures++;
      throw cause;
    }
  }

  /** This node merges each subscription before its next spend anyway; merging now informs nodes that never lost Redis. */
  private async mergeChanges(): Promise<void> {
    const changed = [...this.changedMeanwhile];
    this.changedMeanwhile = new Set();
    for (let start = 0; start < changed.length; start += MERGE_CHUNK) {
      const chunk = changed.slice(start, start + MERGE_CHUNK);
      await Promise.all(chunk.map((id) => this.options.primary.reseed(id).catch(() => undefined)));
    }
  }
}
