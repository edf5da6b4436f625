import { setTimeout as sleep } from 'node:timers/promises';
import { type QuotaCounter, type RefundRequest } from '../../core/ports';
import { type RefundOutcome } from '../../core/catalogue/refunds';
import { type RefundQueueStats } from '../../core/store-stats';

export interface RefundQueueOptions {
  readonly counter: Pick<QuotaCounter, 'refund'>;
  /** Called when a call failed. The call is repeated. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds before a failed call is repeated; 1,000 unless given. */
  readonly retryMs?: number;
}

/**
 * Maximum refunds that wait. An outage of a busy product fails thousands of requests a second. Further requests stay charged and count as
 * lost.
 */
const MAX_WAITING = 20_000;
/** Calls at a time, few enough to leave the counter to requests. */
const AT_ONCE = 4;
const RETRY_MS = 1_000;

/**
 * Gives units back in the background. The counter identifies each request by its id, so a call whose response was lost may be repeated:
 * units that the call, or the request's own service, gave back are not given back twice.
 */
export class RefundQueue {
  private readonly waiting: RefundRequest[] = [];
  private readonly workers = new Set<Promise<void>>();
  private isClosing = false;
  private readonly counts: Record<RefundOutcome | 'lost', number> = { refunded: 0, repeated: 0, uncharged: 0, capped: 0, lost: 0 };

  constructor(private readonly options: RefundQueueOptions) {}

  /** Never throws. */
  add(refund: RefundRequest): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.counts.lost += 1;
      return;
    }
    this.waiting.push(refund);
    if (this.workers.size >= AT_ONCE) return;
    const worker = this.work().finally(() => this.workers.delete(worker));
    this.workers.add(worker);
  }

  stats(): RefundQueueStats {
    return { waiting: this.waiting.length, outcomes: this.counts };
  }

  /** Tries everything that waits once more. Calls that fail then are lost. Never throws. */
  async close(): Promise<void> {
    this.isClosing = true;
    await Promise.all(this.workers);
  }

  private async work(): Promise<void> {
    for (let refund = this.waiting.shift(); refund; refund = this.waiting.shift()) {
      try {
        this.counts[await this.options.counter.refund(refund)] += 1;
      } catch (error) {
        this.options.onError(error);
        if (this.isClosing) {
          this.counts.lost += 1;
          continue;
        }
        this.waiting.push(refund);
        await sleep(this.options.retryMs ?? RETRY_MS, undefined, { ref: false });
      }
    }
  }
}
