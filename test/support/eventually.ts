import { setTimeout as sleep } from 'node:timers/promises';

const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;
/** Of the time waited so far. */
const PAUSE_SHARE = 0.05;

/**
 * Waits until a condition holds; the limit is long because it only decides how late a failure is reported. What takes long is asked for
 * more rarely: a condition often asks a database or a process, which has to get ready meanwhile.
 */
export async function eventually(condition: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - start;
    if (waited > limitMs) throw new Error('the condition did not come true');
    await sleep(Math.min(Math.max(waited * PAUSE_SHARE, MIN_PAUSE_MS), MAX_PAUSE_MS));
  }
}
