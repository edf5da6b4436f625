import pLimit, { type LimitFunction } from 'p-limit';
import { type Clock, StoreUnavailable } from '../../core/ports';

export interface DoubtfulReadsOptions {
  readonly clock: Clock;
  /** Maximum concurrent reads. */
  readonly most: number;
  /** Maximum waiting reads. */
  readonly mostWaiting: number;
  /** A request that has waited this long is refused without a read. */
  readonly patienceMs: number;
}

/** Limits reads of keys that may not exist to a share of the store's connections. Reads run in order of arrival. */
export class DoubtfulReads {
  private readonly limit: LimitFunction;
  /** Number of refused reads. */
  refused = 0;

  constructor(private readonly options: DoubtfulReadsOptions) {
    this.limit = pLimit(options.most);
  }

  get hasRoom(): boolean {
    const { most, mostWaiting } = this.options;
    return this.limit.activeCount + this.limit.pendingCount < most + mostWaiting;
  }

  /** @throws StoreUnavailable when the read's turn does not come in time; otherwise what the work throws */
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
    return new StoreUnavailable('too many look-ups of keys that may not exist');
  }
}
