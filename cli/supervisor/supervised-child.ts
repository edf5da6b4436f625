import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Readable } from 'node:stream';
import { logSize, logTail, withLog } from './log-file';

/** How to run one process. It takes requests once it has printed a {@link ReadyLine}. */
export interface ChildSpec {
  /** Also the name of its log. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly logFile: string;
  /** True if it takes requests from outside. It stops before the others, so that the requests it has accepted still get a response. */
  readonly isFront?: boolean;
  /** Runs before each start and removes what a crashed predecessor left. */
  readonly prepare?: () => Promise<void>;
}

export interface SupervisionEvents {
  /** For the supervisor's log: one sentence without the child's name. */
  readonly onEvent: (child: string, event: string) => void;
  /** Called when a process started. Its id is recorded in case the supervisor is killed. */
  readonly onSpawn: () => void;
}

const READY_POLL_MS = 20;
const READY_DEADLINE_MS = 60_000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;
/** A child that lived this long is restarted at once, and its earlier deaths no longer count. */
const STEADY_AFTER_MS = 10_000;
/** Number of deaths before the first readiness after which a start fails. */
const START_ATTEMPTS = 3;

/** Runs one process and restarts it whenever it dies. */
export class SupervisedChild {
  readonly #events: SupervisionEvents;
  readonly #wake = new AbortController();
  #child: ChildProcess | undefined;
  #ready: ReadyLine | undefined;
  #deaths = 0;
  /** Size of the log when the last attempt began. */
  #logStart = 0;
  #keeper: Promise<void> | undefined;

  constructor(
    readonly spec: ChildSpec,
    events: SupervisionEvents,
  ) {
    this.#events = events;
  }

  /** The running process, undefined between a death and the restart. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws Error, readable, when it does not come up */
  async start(): Promise<ReadyLine> {
    this.#keeper = this.#keepRunning();
    const { name, logFile } = this.spec;
    const deadline = performance.now() + READY_DEADLINE_MS;
    while (!this.#ready) {
      if (this.#isStopping) throw new Error('the start was interrupted');
      if (this.#deaths >= START_ATTEMPTS)
        throw new Error(`${name} does not start; its log, ${logFile}, ends with:\n${logTail(logFile, this.#logStart)}`);
      if (performance.now() > deadline) throw new Error(`${name} does not respond after ${READY_DEADLINE_MS / 1_000} s; see ${logFile}`);
      await sleep(READY_POLL_MS);
    }
    return this.#ready;
  }

  /** Stops it for good. Resolves when the process is gone. */
  async stop(graceMs: number): Promise<void> {
    this.#wake.abort();
    this.#child?.kill('SIGTERM');
    const forced = setTimeout(() => this.#child?.kill('SIGKILL'), graceMs);
    await this.#keeper;
    clearTimeout(forced);
  }

  /** Kills it for good, without waiting. */
  kill(): void {
    this.#wake.abort();
    this.#child?.kill('SIGKILL');
  }

  get #isStopping(): boolean {
    return this.#wake.signal.aborted;
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isStopping) {
      await this.#runIdempotently().catch((error: unknown) => {
        this.#deaths += 1;
        this.#note(`could not be started: ${error instanceof Error ? error.message : String(error)}`);
      });
      if (!this.#ready && this.#deaths >= START_ATTEMPTS) return;
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, this.#deaths - 1));
      if (!this.#isStopping) await sleep(backoffMs, undefined, { signal: this.#wake.signal }).catch(() => undefined);
    }
  }

  /** Starts the process and waits for its end. */
  async #runIdempotently(): Promise<void> {
    await this.spec.prepare?.();
    if (this.#isStopping) return;
    const startedAt = performance.now();
    this.#logStart = logSize(this.spec.logFile);
    const child = spawnChild(this.spec, (line) => {
      this.#ready = line;
      this.#note('answers');
    });
    this.#child = child;
    const ended = untilEnded(child);
    this.#events.onSpawn();
    this.#note('is started');
    const reason = await ended;
    this.#child = undefined;
    if (performance.now() - startedAt > STEADY_AFTER_MS) this.#deaths = 0;
    this.#deaths += 1;
    if (!this.#isStopping) this.#note(reason);
  }

  #note(event: string): void {
    this.#events.onEvent(this.spec.name, event);
  }
}

/** Resolves with the reason of its end. */
function untilEnded(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code ?? 'unknown'}`}`));
  });
}

/**
 * Errors and logs go straight to the file, so that a busy child costs the supervisor nothing. stdout, which carries the ready line, goes
 * through the supervisor. The child leads its own process group: a Ctrl-C in the terminal reaches only the supervisor, which then stops its
 * children in order.
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

/** The JSON line that a process prints on stdout when it takes requests. Ports and addresses are further members. */
export type ReadyLine = Readonly<Record<string, unknown>> & { readonly ready: true };

/** Far longer than any ready line. A process that prints something else first must not fill the memory. */
const MAX_WAIT_CHARACTERS = 65_536;

function parse(line: string): ReadyLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'ready' in value && value.ready === true ? { ...value, ready: true } : undefined;
  } catch {
    return undefined;
  }
}

/** Calls `found` with the first ready line of the stream, at most once. The stream stays readable for others. */
function watchForReadyLine(stream: Readable, found: (line: ReadyLine) => void): void {
  let text = '';
  const look = (chunk: Buffer): void => {
    text += chunk.toString();
    const lines = text.split('\n');
    text = (lines.pop() ?? '').slice(0, MAX_WAIT_CHARACTERS);
    const ready = lines.map(parse).find((line) => line !== undefined);
    if (!ready) return;
    stream.off('data', look);
    found(ready);
  };
  stream.on('data', look);
}
