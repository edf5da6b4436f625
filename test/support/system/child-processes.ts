import { readFileSync } from 'node:fs';

/** A file below /proc; empty when its process has ended meanwhile, or where there is no Linux. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

/** Ids of the processes that this one started and that still are there; none of one that is gone itself. */
export function childProcesses(pid: number): number[] {
  // Children belong to the thread that started them: with us that is always the first.
  return (readProc(`${pid}/task/${pid}/children`).match(/\d+/g) ?? []).map(Number);
}

/** These processes, their children, theirs and so on. */
export function processTree(...pids: readonly number[]): number[] {
  const found = [...pids];
  for (const pid of found) found.push(...childProcesses(pid));
  return [...new Set(found)];
}
