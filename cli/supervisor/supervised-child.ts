import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { logSize, logTail, withLog } from './log-file';
import { type ReadyLine, watchForReadyLine } from './ready-line';

/** How one process is run. It takes requests once it has printed a {@link ReadyLine}. */
export interface ChildSpec {
  /** Also the name of its log. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly logFile: string;
  /** Takes requests from outside: ends before the others, so that those it has taken are still answered. */
  readonly isFront?: boolean;
  /** Before each start: removes what a crashed predecessor left. */
  readonly prepare?: () => Promise<void>;
}

export interface SupervisedChild {
  readonly spec: ChildSpec;
  /** The running process, undefined between a death and the restart. */
  readonly pid: () => number | undefined;
  /** @throws Error, readable, when it does not come up */
  start(): Promise<ReadyLine>;
  /** Ends it and stays ended. Resolves when the process is gone. */
  stop(graceMs: number): Promise<void>;
  /** Ends it at once and stays ended, without waiting. */
  kill(): void;
}

export interface SupervisionEvents {
  /** For the supervisor's log: one sentence without the child's name. */
  readonly onEvent: (child: string, event: string) => void;
  /** A process was started: its id is worth remembering in case the supervisor is killed. */
  readonly onSpawn: () => void;
}

const READY_POLL_MS = 20;
const READY_DEADLINE_MS = 60_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 2_000;
/** A child that lived this long is started again at once; its earlier deaths are forgiven. */
const STEADY_AFTER_MS = 10_000;
/** Deaths before the first readiness that make a start fail rather than go on trying. */
const START_ATTEMPTS = 3;

/** Runs one process and starts it again whenever it dies. */
export function superviseChild(spec: ChildSpec, events: SupervisionEvents): SupervisedChild {
  let child: ChildProcess | undefined;
  let stopping = false;
  let ready: ReadyLine | undefined;
  let deaths = 0;
  /** Where the log of the last attempt begins. */
  let logStart = 0;
  let keeper: Promise<void> | undefined;
  const wake = new AbortController();

  async function spawnOnce(): Promise<void> {
    await spec.prepare?.();
    if (stopping) return;
    const startedAt = performance.now();
    logStart = logSize(spec.logFile);
    const exited = new Promise<string>((resolve) => {
      child = spawnChild(spec, (line) => {
        ready = line;
        events.onEvent(spec.name, 'answers');
      });
      child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code ?? 'unknown'}`}`));
    });
    events.onSpawn();
    events.onEvent(spec.name, 'is started');
    const reason = await exited;
    child = undefined;
    if (performance.now() - startedAt > STEADY_AFTER_MS) deaths = 0;
    deaths += 1;
    if (!stopping) events.onEvent(spec.name, reason);
  }

  async function keepRunning(): Promise<void> {
    while (!stopping) {
      await spawnOnce().catch((error: unknown) => {
        deaths += 1;
        events.onEvent(spec.name, `could not be started: ${error instanceof Error ? error.message : String(error)}`);
      });
      if (!ready && deaths >= START_ATTEMPTS) return;
      const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, deaths - 1));
      if (!stopping) await sleep(backoffMs, undefined, { signal: wake.signal }).catch(() => undefined);
    }
  }

  async function untilReady(): Promise<ReadyLine> {
    const deadline = performance.now() + READY_DEADLINE_MS;
    while (!ready) {
      if (stopping) throw new Error('the start was cut short');
      if (deaths >= START_ATTEMPTS)
        throw new Error(`${spec.name} does not start; its log, ${spec.logFile}, ends with:\n${logTail(spec.logFile, logStart)}`);
      if (performance.now() > deadline)
        throw new Error(`${spec.name} does not answer after ${READY_DEADLINE_MS / 1_000} s; see ${spec.logFile}`);
      await sleep(READY_POLL_MS);
    }
    return ready;
  }

  return {
    spec,
    pid: () => child?.pid,
    start() {
      keeper = keepRunning();
      return untilReady();
    },
    async stop(graceMs) {
      stopping = true;
      wake.abort();
      child?.kill('SIGTERM');
      const forced = setTimeout(() => child?.kill('SIGKILL'), graceMs);
      await keeper;
      clearTimeout(forced);
    },
    kill() {
      stopping = true;
      wake.abort();
      child?.kill('SIGKILL');
    },
  };
}

/**
 * Errors and logs go straight to the file, so that a busy child costs the supervisor nothing; stdout, which carries the ready line, goes
 * through it. The child leads its own process group: a Ctrl-C in the terminal reaches the supervisor alone, which then ends its children
 * in order.
 */
function spawnChild(spec: ChildSpec, onReady: (line: ReadyLine) => void): ChildProcess {
  return withLog(spec.logFile, (log) => {
    const child = spawn(spec.command, spec.args, { cwd: spec.cwd, env: spec.env, detached: true, stdio: ['pipe', 'pipe', log] });
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (chunk: Buffer) => appendFileSync(spec.logFile, chunk));
    if (child.stdout) watchForReadyLine(child.stdout, onReady);
    return child;
  });
}
