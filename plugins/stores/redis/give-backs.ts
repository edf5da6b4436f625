import { randomUUID } from 'node:crypto';
import { type RefundRequest } from '../../core/ports';
import { type RefundOutcome } from '../../core/selling/refunds';
import { type GiveBack, giveBackOf, type QuotaLedger } from '../postgres/quota/quota-ledger';
import { NO_USAGE, type SubscriptionUsage } from '../quota/quota-parts';
import { type SeenUsage } from '../quota/quota-seen';
import { quotaKey } from './quota-script';
import { type WatchedConnection } from './watched-connection';

export interface GiveBacksOptions {
  readonly connection: Pick<WatchedConnection, 'readField'>;
  readonly ledger: Pick<QuotaLedger, 'syncOne' | 'giveBack'>;
  readonly seen: SeenUsage;
  /** Tells Redis what Postgres knows. Never fails. */
  readonly merge: (usage: SubscriptionUsage) => Promise<void>;
}

const RETRY_MS = 1_000;

/** Units that Redis granted and that are given back: for a request, or because the grant came after its request had moved on. */
export class GiveBacks {
  private waiting: GiveBack[] = [];
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;
  lateUnits = 0;

  constructor(private readonly options: GiveBacksOptions) {}

  /**
   * Postgres decides, since it alone knows every request id whichever store granted the unit; Redis is told at once. When that fails the
   * unit stays counted there until the subscription is merged again.
   * @throws StoreUnavailable
   */
  async refund(request: RefundRequest): Promise<RefundOutcome> {
    const { ledger, merge } = this.options;
    const taken = giveBackOf(request);
    let given = await ledger.giveBack(taken);
    if (given.outcome === 'uncharged') {
      await this.tellLedger(taken);
      given = await ledger.giveBack(taken);
    }
    if (given.outcome === 'refunded') await merge(given.usage);
    return given.outcome;
  }

  /** Gives back what was granted too late. What fails is tried again; until then it counts, so that nothing is granted twice. */
  addLate({ subscriptionId, day }: SubscriptionUsage, units: number): void {
    if (units === 0) return;
    this.lateUnits += units;
    // An id like a request's: Postgres may have given them back and its answer been lost, and they are given back once.
    this.waiting.push({ requestId: `late-${randomUUID()}`, subscriptionId, day, units, mostOfDay: null, isExempt: false });
    void this.giveAllBack();
  }

  /** One last attempt, and no more after it. */
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

  /** The ledger may be away or take no writes for a while, and no other late unit may ever come. */
  private retryLater(): void {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.giveAllBack(), RETRY_MS);
    this.retry.unref();
  }

  /** Postgres learns of Redis's units within a second; a refund may be quicker. */
  private async tellLedger({ subscriptionId, day }: GiveBack): Promise<void> {
    const { connection, ledger, seen } = this.options;
    const known = seen.find(subscriptionId).find((each) => each.day === day);
    const field = await connection.readField(quotaKey(subscriptionId), `${day}s`).catch(() => null);
    const redis = Math.max(Number(field ?? 0), known?.ofDay.redis ?? 0);
    await ledger.syncOne({ subscriptionId, day, ofDay: { ...NO_USAGE, redis }, ofMonth: NO_USAGE });
  }
}
