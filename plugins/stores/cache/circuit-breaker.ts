import { type Clock } from '../../core/ports';

/** Keeps callers away from a store that just failed. After the pause one caller may try; the others wait for its success. */
export interface CircuitBreaker {
  /** True when the caller may try; asking takes the one trial after a pause. */
  mayTry(): boolean;
  /** True from a failure to the next success. Asking takes no trial. */
  isOpen(): boolean;
  succeeded(): void;
  /** @param startedAt monotonic milliseconds; an attempt from before the last success says nothing about the store of today */
  failed(startedAt: number): void;
}

export function createCircuitBreaker({ clock, pauseMs }: { clock: Clock; pauseMs: number }): CircuitBreaker {
  let openUntil: number | undefined;
  let lastSuccessAt = -Infinity;
  return {
    mayTry() {
      if (openUntil === undefined) return true;
      const now = clock.monotonic();
      if (now < openUntil) return false;
      openUntil = now + pauseMs;
      return true;
    },
    isOpen: () => openUntil !== undefined,
    succeeded() {
      openUntil = undefined;
      lastSuccessAt = clock.monotonic();
    },
    failed(startedAt) {
      if (startedAt >= lastSuccessAt) openUntil = clock.monotonic() + pauseMs;
    },
  };
}
