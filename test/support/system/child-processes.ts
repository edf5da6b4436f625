import { readFileSync } from 'node:fs';

/** Ids of the processes that this one started and that still are there; none of one that is gone itself. */
export function childProcesses(pid: number): number[] {
  try {
    return (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []).map(Number);
  } catch {
    return [];
  }
}
