import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What an installation takes of its machine. */
export interface Footprint {
  /** Milliseconds of CPU of all its processes so far, ended children included. */
  readonly cpuMs: number;
  /** Memory that only they have, in MB: pages of files and of PostgreSQL's shared buffers are not in it. */
  readonly memoryMb: number;
  readonly diskMb: number;
}

const MS_PER_TICK = 10;
const PAGE_BYTES = 4_096;

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Ended meanwhile.
    return '';
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A process, its children, theirs and so on. */
function treeOf(pid: number): number[] {
  const found = [pid];
  for (const each of found) {
    // Children belong to the thread that started them.
    for (const thread of threadsOf(each))
      found.push(...read(`/proc/${each}/task/${thread}/children`).split(' ').filter(Boolean).map(Number));
  }
  return found;
}

function cpuMsOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return times.reduce((sum, ticks) => sum + Number(ticks) * MS_PER_TICK, 0);
}

function memoryMbOf(pid: number): number {
  const [, resident = 0, shared = 0] = read(`/proc/${pid}/statm`).split(' ').map(Number);
  return ((resident - shared) * PAGE_BYTES) / 1e6;
}

function diskMbOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    try {
      if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).blocks * 512;
    } catch {
      // Removed meanwhile.
    }
  }
  return bytes / 1e6;
}

/** @param folders everything that the installation writes to */
export function readFootprint(supervisor: number, folders: readonly string[]): Footprint {
  const processes = treeOf(supervisor);
  const sum = (figure: (pid: number) => number): number => processes.reduce((total, pid) => total + figure(pid), 0);
  return { cpuMs: sum(cpuMsOf), memoryMb: sum(memoryMbOf), diskMb: folders.reduce((total, folder) => total + diskMbOf(folder), 0) };
}
