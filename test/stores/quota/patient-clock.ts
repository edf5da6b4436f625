import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock } from '../../../plugins/core/ports';

/** Two turns of the timer that looks for silent stores. */
const STEP_REAL_MS = 10;
/** No more than that timer takes for a turn that came in time. */
const STEP_MS = 5;

/**
 * A node's clock on which no time passes by itself: a store that gets no turn for a while is not taken for a silent one, however little
 * silence the node allows. The wall clock is the machine's, or ahead of it.
 */
export class PatientClock implements Clock {
  private passedMs = 0;

  constructor(private readonly aheadMs = 0) {}

  now(): number {
    return Date.now() + this.aheadMs;
  }

  monotonic(): number {
    return this.passedMs;
  }

  /** Lets time pass at half its speed, in turns that all come in time, until the condition holds. */
  async passUntil(condition: () => boolean): Promise<void> {
    while (!condition()) {
      this.passedMs += STEP_MS;
      await sleep(STEP_REAL_MS);
    }
  }
}
