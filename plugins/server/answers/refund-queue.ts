import { setTimeout as sleep } from 'node:timers/promises';
import { type QuotaCounter, type RefundRequest } from '../../core/ports';
import { type RefundOutcome } from '../../core/catalogue/refunds';
import { type RefundQueueStats } from '../../core/store-stats';

export interface RefundQueueOptions {
  readonly counter: Pick<QuotaCounter, 'refund'>;
  /** Told of a call that failed; it is tried again. */
  readonly onError: (error: unknown) => void;
  /** Before a failed call is tried again; 1,000 unless given. */
  readonly retryMs?: number;
}

/** An outage of a busy product fails thousands of requests a second. What is above stays charged, and is counted as lost. */
const MAX_WAITING = 20_000;
/** Few enough to leave the counter to requests. */
const AT_ONCE = 4;
const RETRY_MS = 1_000;

/**
 * Gives units back in the background. The counter knows each request by its id, so that a call whose answer was lost may be made again: what was
 * given back by it, or by the request's own service, is not given back twice.
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

  /** Tries all that waits once more; what fails is lost. Never throws. */
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
