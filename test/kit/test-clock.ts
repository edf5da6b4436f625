import { type Clock } from '../../plugins/core/ports';

/** 2026-03-14 09:26:53 UTC, in every test. */
export const NOW_MS = Date.UTC(2026, 2, 14, 9, 26, 53);

/** Stands still for decisions; deadlines run on real timers. */
export const testClock: Clock = { now: () => NOW_MS, monotonic: () => 0 };
