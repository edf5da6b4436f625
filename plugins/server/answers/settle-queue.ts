import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type QuotaCounter, type Settlement } from '../../core/ports';
import { type SettleQueueStats } from '../../core/store-stats';

export interface SettleQueueOptions {
  readonly counter: Pick<QuotaCounter, 'settle'>;
  /** Called when a call failed. The call is repeated. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two rounds; 100 unless given. */
  readonly paceMs?: number;
  /** Milliseconds after a round with a failed call; 1,000 unless given. */
  readonly retryMs?: number;
}

/** Maximum counters that wait. The rest keep what was taken in advance, and count as lost. */
const MAX_WAITING = 20_000;
/** Milliseconds for which a used-up limit may go unnoticed. A busy counter is written ten times a second, however many requests it has. */
const PACE_MS = 100;
const RETRY_MS = 1_000;

/**
 * Charges, in the background, what requests cost beyond the units taken for them. One call covers all requests of a counter and day since
 * the last call. A call has an id, so it may be repeated if its response was lost.
 */
export class SettleQueue {
  /** Amounts by counter and day. */
  private waiting = new Map<string, { subscriptionId: string; day: string; units: number }>();
  private failed: Settlement[] = [];
  private working: Promise<void> | undefined;
  private isClosing = false;
  private readonly counts = { charged: 0, lost: 0 };

  constructor(private readonly options: SettleQueueOptions) {}

  /** Never throws. */
  add({ subscriptionId, day, units }: Omit<Settlement, 'id'>): void {
    const place = `${subscriptionId} ${day}`;
    const due = this.waiting.get(place);
    if (due) due.units += units;
    else if (this.waiting.size >= MAX_WAITING) this.counts.lost += units;
    else this.waiting.set(place, { subscriptionId, day, units });
    this.working ??= this.work();
  }

  stats(): SettleQueueStats {
    return { waiting: this.waiting.size + this.failed.length, units: this.counts };
  }

  /** Tries everything that waits once more. Calls that fail then are lost. Never throws. */
  async close(): Promise<void> {
    this.isClosing = true;
    while (this.working) await this.working;
  }

  private async work(): Promise<void> {
    // Amounts that arrive in this turn of the event loop join the call.
    await Promise.resolve();
    while (this.waiting.size + this.failed.length > 0) {
      const news = [...this.waiting.values()].map((due) => ({ ...due, id: `units-${randomUUID()}` }));
      const round = [...this.failed, ...news];
      this.waiting = new Map();
      this.failed = [];
      await Promise.all(round.map((settlement) => this.settle(settlement)));
      const { paceMs = PACE_MS, retryMs = RETRY_MS } = this.options;
      if (!this.isClosing || this.failed.length > 0) await sleep(this.failed.length > 0 ? retryMs : paceMs, undefined, { ref: false });
    }
    this.working = undefined;
  }

  private async settle(settlement: Settlement): Promise<void> {
    const { units } = settlement;
    try {
      const outcome = await this.options.counter.settle(settlement);
      this.counts[outcome === 'uncharged' ? 'lost' : 'charged'] += units;
    } catch (error) {
      this.options.onError(error);
      if (this.isClosing) this.counts.lost += units;
      else this.failed.push(settlement);
    }
  }
}
