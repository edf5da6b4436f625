import { type QuotaCounter } from '../../plugins/core/ports';

/** One store with two nodes that count in it, whose clocks are seconds apart, and a hand on the store's clock. */
export interface QuotaHarness {
  readonly counter: QuotaCounter;
  readonly otherNode: QuotaCounter;
  /** Sets the store's clock to this moment; it runs on from there. The nodes' own clocks stay as they are. */
  setStoreClock(iso: string): void;
  close(): Promise<void>;
}
