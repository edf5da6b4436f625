import { type Clock } from '../../core/ports';

/** Keeps callers away from a store that has just failed. After the pause one caller may try; the others wait for its success. */
export class CircuitBreaker {
  private openUntil: number | undefined;
  private lastSuccessAt = -Infinity;

  constructor(private readonly options: { readonly clock: Clock; readonly pauseMs: number }) {}

  /** True when the caller may try. Calling it takes the one trial after a pause. */
  mayTry(): boolean {
    if (this.openUntil === undefined) return true;
    const now = this.options.clock.monotonic();
    if (now < this.openUntil) return false;
    this.openUntil = now + this.options.pauseMs;
    return true;
  }

  /** True from a failure to the next success. Calling it takes no trial. */
  isOpen(): boolean {
    return this.openUntil !== undefined;
  }

  succeeded(): void {
    this.openUntil = undefined;
    this.lastSuccessAt = this.options.clock.monotonic();
  }

  /** @param startedAt monotonic milliseconds; an attempt from before the last success says nothing about the store now */
  failed(startedAt: number): void {
    if (startedAt >= this.lastSuccessAt) this.openUntil = this.options.clock.monotonic() + this.options.pauseMs;
  }
}
