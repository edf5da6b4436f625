import { type Clock } from '../../../../plugins/core/ports';
import { NOW_MS } from '../../../kit/test-clock';

/** Time that only passes when told. The wall clock stands still: sessions must not depend on it. */
export class MovingClock implements Clock {
  private passedMs = 0;

  now(): number {
    return NOW_MS;
  }

  monotonic(): number {
    return this.passedMs;
  }

  pass(ms: number): void {
    this.passedMs += ms;
  }
}
