import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** Linux reports times in hundredths of a second, whatever unit the kernel uses internally (USER_HZ, proc(5)). */
const MS_PER_TICK = 10;
/** Indexes of utime and stime after the name in `/proc/…/stat`; they are fields 14 and 15 of all. */
const [UTIME, STIME] = [11, 12];

/** The kernel's id of the calling thread; undefined without `/proc`. */
export function ownTask(): string | undefined {
  try {
    return basename(readlinkSync('/proc/thread-self'));
  } catch {
    return undefined;
  }
}

/**
 * CPU milliseconds that a thread of this process has used, in steps of ten; undefined once it has ended.
 * @param task its {@link ownTask}
 */
export function threadCpuMs(task: string): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/self/task/${task}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name is in parentheses and may hold any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[UTIME]) + Number(fields[STIME])) * MS_PER_TICK;
}
