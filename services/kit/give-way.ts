import { getPriority, setPriority } from 'node:os';

/** On the kernel's scale from -20 to 19: a third of the turns of the rest of the process (sched(7)), enough to end within every deadline. */
const NICER_BY = 5;
const MOST_NICE = 19;

/**
 * Called in a thread that computes for long: where cores are short, whoever only has to answer goes first. On Linux a thread has a priority of
 * its own; elsewhere the call would slow down the whole process, and does nothing.
 */
export function giveWay(): void {
  // 0 is the calling thread.
  if (process.platform === 'linux') setPriority(0, Math.min(MOST_NICE, getPriority(0) + NICER_BY));
}
