import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Indexes of idle and iowait in user, nice, system, idle, iowait, irq, softirq, steal: the times in which the machine did no work. */
const IDLE_FIELDS = new Set([3, 4]);
const MS_PER_TICK = 10;

/** Milliseconds of CPU that everything on this machine has used so far. */
export function machineCpuMs(): number {
  const fields = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? [];
  return fields.reduce((sum, ticks, index) => sum + (IDLE_FIELDS.has(index) ? 0 : ticks * MS_PER_TICK), 0);
}

const LOOK_MS = 500;
const FREE_SHARE = 0.25;

/**
 * Waits until the machine is three quarters idle, because times that are measured beside other work mean little.
 * @param patienceMs for all waits together
 */
export function createWaitUntilFree(patienceMs: number): () => Promise<void> {
  let leftMs = patienceMs;
  return async () => {
    for (; leftMs > 0; leftMs -= LOOK_MS) {
      const before = machineCpuMs();
      await sleep(LOOK_MS);
      if (machineCpuMs() - before < LOOK_MS * cpus().length * FREE_SHARE) return;
    }
  };
}
