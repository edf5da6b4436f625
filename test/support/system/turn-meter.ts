import { join } from 'node:path';
import { readPidFile, serverFiles } from '../../../cli/postgres/embedded-postgres-files';
import { runFolder } from '../run-folder';
import { processTree, readProc } from './child-processes';

/** Tells how long processes were ready to run and got no turn. */
export interface TurnMeter {
  /**
   * Whether the machine was too busy for an access layer that refuses (503) whatever it cannot decide in time: during the request or in the
   * second before it, one of the processes under test waited for turns for longer than the shortest of its limits.
   * @param request times as `performance.now()` gives them
   */
  wasShortOfTurns(request: { readonly sentAt: number; readonly tookMs: number }): boolean;
  stop(): void;
}

interface Sample {
  readonly from: number;
  readonly to: number;
  /** Milliseconds by process id. */
  readonly waited: ReadonlyMap<number, number>;
}

const SAMPLE_MS = 100;
/** Postgres is given up after this long without an answer (FALLBACK_SILENCE in quota-store.ts), Redis and look-ups at 200 and 800 ms. */
const MIN_LIMIT_MS = 250;
/** A store that was given up is asked again four times a second. */
const BEFORE_MS = 1_000;

/** The children of this process, theirs and so on, and the run's own Postgres, whichever jest worker started it. */
function processesUnderTest(): number[] {
  const server = readPidFile(serverFiles(join(runFolder(), 'postgres')));
  return processTree(process.pid, ...(server === undefined ? [] : [server])).filter((pid) => pid !== process.pid);
}

/** Nanoseconds that a process has waited on a run queue so far: the second figure of its schedstat. */
function waitedSoFar(pid: number): number {
  return Number(readProc(`${pid}/schedstat`).split(' ')[1] ?? 0);
}

/** An access layer's refusal of what it could not decide, as its body names it. */
const UNDECIDED = /"code":"(?:access_layer|quota)_unavailable"/;

/** True for the 503 that the access layer itself gives; a gateway or service that has nobody to answer says something else. */
export function isUndecided({ status, text }: { readonly status: number; readonly text: string }): boolean {
  return status === 503 && UNDECIDED.test(text);
}

export function startTurnMeter(): TurnMeter {
  const samples: Sample[] = [];
  let known = new Map(processesUnderTest().map((pid) => [pid, waitedSoFar(pid)]));
  let sampledAt = performance.now();
  const sample = (): void => {
    const next = new Map(processesUnderTest().map((pid) => [pid, waitedSoFar(pid)]));
    const waited = new Map([...next].map(([pid, total]) => [pid, Math.max(0, total - (known.get(pid) ?? 0)) / 1e6]));
    const now = performance.now();
    samples.push({ from: sampledAt, to: now, waited });
    [known, sampledAt] = [next, now];
  };
  const timer = setInterval(sample, SAMPLE_MS).unref();
  return {
    wasShortOfTurns({ sentAt, tookMs }) {
      const during = samples.filter(({ from, to }) => to >= sentAt - BEFORE_MS && from <= sentAt + tookMs);
      const pids = new Set(during.flatMap(({ waited }) => [...waited.keys()]));
      return [...pids].some((pid) => during.reduce((sum, { waited }) => sum + (waited.get(pid) ?? 0), 0) >= MIN_LIMIT_MS);
    },
    stop() {
      clearInterval(timer);
      sample();
    },
  };
}

/** No excuse goes unsaid: a line in the output of the run. */
export function sayExcused(count: number): void {
  if (count > 0) process.stderr.write(`the machine gave no turns: ${count} refusals with 503 are not held against the access layer\n`);
}
