import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock } from '../../../../plugins/core/ports';

/** Waits for this caller's turn. Turns are at least an interval apart, in order of arrival. Rejects when the signal fires. */
export type Pacer = (signal: AbortSignal) => Promise<void>;

export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

const sleepFor: Sleep = (ms, signal) => sleep(ms, undefined, { signal });

/** @param intervalMs milliseconds between two turns */
export function createPacer(intervalMs: number, clock: Clock, wait: Sleep = sleepFor): Pacer {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const now = clock.monotonic();
    const turn = Math.max(now, nextAt);
    nextAt = turn + intervalMs;
    if (turn > now) await wait(turn - now, signal);
  };
}
