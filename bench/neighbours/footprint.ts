import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { processTree, readProc } from '../../test/support/system/child-processes';

/** The resources of its machine that an installation uses. */
export interface Footprint {
  /** Milliseconds of CPU of all its processes so far, including ended children. */
  readonly cpuMs: number;
  /** Private memory in MB: excludes pages of files and PostgreSQL's shared buffers. */
  readonly memoryMb: number;
  readonly diskMb: number;
}

const MS_PER_TICK = 10;
const PAGE_BYTES = 4_096;

function cpuMsOf(pid: number): number {
  const stat = readProc(`${pid}/stat`);
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return times.reduce((sum, ticks) => sum + Number(ticks) * MS_PER_TICK, 0);
}

function memoryMbOf(pid: number): number {
  const [, resident = 0, shared = 0] = readProc(`${pid}/statm`).split(' ').map(Number);
  return ((resident - shared) * PAGE_BYTES) / 1e6;
}

function diskMbOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    try {
      if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).blocks * 512;
    } catch {
      // It was removed in the meantime.
    }
  }
  return bytes / 1e6;
}

/** @param folders all folders that the installation writes to */
export function readFootprint(supervisor: number, folders: readonly string[]): Footprint {
  const processes = processTree(supervisor);
  const sum = (figure: (pid: number) => number): number => processes.reduce((total, pid) => total + figure(pid), 0);
  return { cpuMs: sum(cpuMsOf), memoryMb: sum(memoryMbOf), diskMb: folders.reduce((total, folder) => total + diskMbOf(folder), 0) };
}
