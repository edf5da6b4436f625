import { randomUUID } from 'node:crypto';
import { type QuotaLimits } from '../../plugins/core/catalogue/catalogue';
import { type QuotaCounter, type RefundRequest, type Settlement, type SpendResult } from '../../plugins/core/ports';

/** One store with two nodes that count in it, whose clocks are seconds apart, and a hand on the store's clock. */
export interface QuotaHarness {
  readonly counter: QuotaCounter;
  readonly otherNode: QuotaCounter;
  /** Sets the store's clock to this moment; it runs on from there. The nodes' own clocks stay as they are. */
  setStoreClock(iso: string): void;
  close(): Promise<void>;
}

export const LIMITS: QuotaLimits = { daily: 5, monthly: 100 };
/** Far ahead of any clock: refunds older than eight days of the database's own clock are forgotten. */
export const TODAY = '2096-11-20';

/** One node, asked about one subscription. */
export class Node {
  constructor(
    private readonly counter: QuotaCounter,
    readonly subscriptionId: string,
  ) {}

  of(subscriptionId: string): Node {
    return new Node(this.counter, subscriptionId);
  }

  spend(limits = LIMITS, units?: number): Promise<SpendResult> {
    return this.counter.spend({ subscriptionId: this.subscriptionId, limits, units });
  }

  /** At once. */
  spends(times: number, limits = LIMITS): Promise<SpendResult[]> {
    return Promise.all(Array.from({ length: times }, () => this.spend(limits)));
  }

  /** A request of today that was not given back yet, unless told otherwise. */
  refund(given: Partial<RefundRequest> = {}): ReturnType<QuotaCounter['refund']> {
    const { subscriptionId } = this;
    return this.counter.refund({ subscriptionId, day: TODAY, requestId: randomUUID(), dailyLimit: LIMITS.daily, ...given });
  }

  refunds(times: number, given: Partial<RefundRequest>): Promise<string[]> {
    return Promise.all(Array.from({ length: times }, () => this.refund(given)));
  }

  settle(units: number, given: Partial<Settlement> = {}): ReturnType<QuotaCounter['settle']> {
    return this.counter.settle({ subscriptionId: this.subscriptionId, day: TODAY, id: randomUUID(), ...given, units });
  }

  standing(): ReturnType<QuotaCounter['readStanding']> {
    return this.counter.readStanding(this.subscriptionId);
  }

  /** Of the day and the month. */
  async used(): Promise<[number, number]> {
    const { usedDaily, usedMonthly } = await this.standing();
    return [usedDaily, usedMonthly];
  }
}
