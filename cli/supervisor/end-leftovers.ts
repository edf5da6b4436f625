import { setTimeout as sleep } from 'node:timers/promises';
import { readState, removeState } from './instance-state';
import { type ProcessTable } from './supervisor';

const POLL_MS = 20;
const DEADLINE_MS = 5_000;

/**
 * Ends the processes that a killed supervisor left running. They normally end by themselves; if they hang, they hold ports that this start
 * needs. The database is not among them, because starting it ends the old one.
 */
export async function endLeftovers(dataDir: string, processes: ProcessTable): Promise<void> {
  const left = (readState(dataDir)?.children ?? []).filter((child) => processes.isSameProcess(child));
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
  const deadline = performance.now() + DEADLINE_MS;
  while (left.some((child) => processes.isSameProcess(child)) && performance.now() < deadline) await sleep(POLL_MS);
  removeState(dataDir);
}
