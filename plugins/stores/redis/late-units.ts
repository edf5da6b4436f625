import { randomUUID } from 'node:crypto';
import { type GiveBack } from '../postgres/quota/quota-ledger';
import { type SubscriptionUsage } from '../quota/quota-parts';

const RETRY_MS = 1_000;

/**
 * Units that were granted after their requests had moved on, waiting to be given back. What fails is tried again; until then it counts,
 * so that nothing is granted twice.
 */
export class LateUnits {
  private waiting: GiveBack[] = [];
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;
  total = 0;

  constructor(private readonly giveBack: (units: GiveBack) => Promise<void>) {}

  add({ subscriptionId, day }: SubscriptionUsage, units: number): void {
    if (units === 0) return;
    this.total += units;
    // An id like a request's: Postgres may have given them back and its answer been lost, and they are given back once.
    this.waiting.push({ requestId: `late-${randomUUID()}`, subscriptionId, day, units });
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
    for (const units of waiting) await this.giveBack(units).catch(() => this.waiting.push(units));
    if (this.waiting.length > 0 && !this.isClosed) this.retryLater();
  }

  /** The ledger may be away or take no writes for a while, and no other late unit may ever come. */
  private retryLater(): void {
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.giveAllBack(), RETRY_MS);
    this.retry.unref();
  }
}
