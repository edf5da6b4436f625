import pLimit, { type LimitFunction } from 'p-limit';
import { type Clock, StoreUnavailable } from '../../core/ports';

export interface DoubtfulReadsOptions {
  readonly clock: Clock;
  /** Most that run at a time. */
  readonly most: number;
  /** Most that wait for their turn. */
  readonly mostWaiting: number;
  /** Whoever has waited this long is refused without a read: nobody waits for what it would find. */
  readonly patienceMs: number;
}

/** Holds reads of what may well not exist to a share of the store's connections, in the order of their coming. */
export class DoubtfulReads {
  private readonly limit: LimitFunction;
  /** How many were refused. */
  refused = 0;

  constructor(private readonly options: DoubtfulReadsOptions) {
    this.limit = pLimit(options.most);
  }

  get hasRoom(): boolean {
    const { most, mostWaiting } = this.options;
    return this.limit.activeCount + this.limit.pendingCount < most + mostWaiting;
  }

  /** @throws StoreUnavailable when it is not this read's turn in time; what the work throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { clock, patienceMs } = this.options;
    const cameAt = clock.monotonic();
    return this.limit(() => {
      if (clock.monotonic() - cameAt >= patienceMs) throw this.refusal();
      return work();
    });
  }

  refusal(): StoreUnavailable {
    this.refused += 1;
    return new StoreUnavailable('too many keys that may not exist are looked up');
  }
}
