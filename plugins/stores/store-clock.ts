import { type Clock } from '../core/ports';

/** One reading of the store's clock. */
export interface ClockSample {
  /** The store's clock, Unix milliseconds. */
  readonly storeMs: number;
  /** Monotonic milliseconds of this process before the query and after the reply. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** A less exact reading replaces a more exact one that has aged. This error per millisecond is far above that of any quartz. */
const DRIFT = 0.01;

/**
 * The clock of all nodes: the store's. Expiry is then judged alike everywhere, and a node whose own clock is wrong, or is set while it
 * runs, decides like the others. While the store is away, it continues by monotonic time. Before the first reading it is the node's own
 * clock.
 */
export class StoreClock implements Clock {
  private known: { offsetMs: number; errorMs: number; at: number } | undefined;

  constructor(private readonly local: Clock) {}

  monotonic(): number {
    return this.local.monotonic();
  }

  now(): number {
    return this.known ? Math.round(this.local.monotonic() + this.known.offsetMs) : this.local.now();
  }

  learn({ storeMs, askedAt, answeredAt }: ClockSample): void {
    // The store read its clock at some time between the two.
    const errorMs = (answeredAt - askedAt) / 2;
    if (this.known && errorMs > this.known.errorMs + (answeredAt - this.known.at) * DRIFT) return;
    this.known = { offsetMs: storeMs - (askedAt + answeredAt) / 2, errorMs, at: answeredAt };
  }
}
