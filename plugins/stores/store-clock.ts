import { type Clock } from '../core/ports';

/** One look at the store's clock. */
export interface ClockSample {
  /** The store's clock, Unix milliseconds. */
  readonly storeMs: number;
  /** Monotonic milliseconds of this process before the question and after the answer. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** A worse look replaces a better one once that has aged: this much error a millisecond is far beyond any quartz. */
const DRIFT = 0.01;

/**
 * The wall clock of all nodes: the store's, so that expiry is judged alike everywhere and a node whose own clock is wrong, or is set
 * while it runs, decides as the others do. Goes on by monotonic time while the store is away. Before the first look it is the node's own.
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
    // The store read its clock somewhere between the two.
    const errorMs = (answeredAt - askedAt) / 2;
    if (this.known && errorMs > this.known.errorMs + (answeredAt - this.known.at) * DRIFT) return;
    this.known = { offsetMs: storeMs - (askedAt + answeredAt) / 2, errorMs, at: answeredAt };
  }
}
