import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SupervisedDatabase } from './database';
import { type InstanceReport, type ProcessIdentity, removeState, writeState } from './instance-state';
import { rotateLog } from './log-file';
import { type ChildSpec, type ReadyLine, SupervisedChild } from './supervised-child';

/** Identifies processes, so that a later one with the same id is not mistaken for an earlier one. */
export interface ProcessTable {
  identifyProcess(pid: number): ProcessIdentity;
  isSameProcess(identity: ProcessIdentity): boolean;
}

export interface SupervisorOptions {
  readonly report: InstanceReport;
  /** The folder of what is sold; absolute. */
  readonly config: string;
  /** URLs by process. */
  readonly metrics: Readonly<Record<string, string>>;
  readonly redisUrl: string | null;
  readonly quotaTimeZone: string;
  readonly processes: ProcessTable;
}

/** Milliseconds that front processes have to drain before the rest stops. With the database, stopping must take at most 15 s. */
const FRONT_DRAIN_MS = 5_000;
const DRAIN_MS = 3_500;
/** Milliseconds after which every running process is killed. */
const STOP_DEADLINE_MS = 12_000;
const LOG_CHECK_MS = 30_000;

/** Keeps the processes of one instance. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #children: SupervisedChild[] = [];
  readonly #logs: string[] = [];
  readonly #logTimer: NodeJS.Timeout;
  #report: InstanceReport;
  #databaseUrl = '';
  #database: SupervisedDatabase | undefined;
  #databaseStart: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#report = options.report;
    this.#logs.push(join(options.report.dataDir, 'logs', 'supervisor.log'));
    this.#logTimer = setInterval(() => this.#logs.forEach((file) => rotateLog(file)), LOG_CHECK_MS);
    this.#logTimer.unref();
  }

  /** The database that other commands connect to. */
  useDatabase(url: string): void {
    this.#databaseUrl = url;
    this.#remember();
  }

  /** Also stops the embedded server, after everything that uses it, even if it is still starting. */
  keepDatabase(starting: Promise<SupervisedDatabase>): void {
    this.#databaseStart = starting.then(
      (database) => void (this.#database = database),
      () => undefined,
    );
  }

  /** Called when everything responds. Publishes the addresses for other commands. */
  complete(report: InstanceReport): InstanceReport {
    this.#report = report;
    this.#remember();
    return report;
  }

  /**
   * Starts a child and resolves when it responds.
   * @throws Error, readable
   */
  async run(spec: ChildSpec): Promise<ReadyLine> {
    if (this.#stopped) throw new Error('the start was interrupted');
    rotateLog(spec.logFile);
    this.#logs.push(spec.logFile);
    const child = new SupervisedChild(spec, { onEvent: (name, event) => this.note(name, event), onSpawn: () => this.#remember() });
    this.#children.push(child);
    return child.start();
  }

  /** One line in the supervisor's log. */
  note(name: string, event: string): void {
    appendFileSync(this.#logs[0] ?? '', `${new Date().toISOString()} ${name} ${event}\n`, { mode: 0o600 });
  }

  /** Stops everything: front processes first, the database last. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  /** Kills everything. */
  kill(): void {
    for (const child of this.#children) child.kill();
    try {
      this.#database?.kill();
    } catch {
      // It had already ended.
    }
  }

  async #stopAll(): Promise<void> {
    this.note('supervisor', 'stops');
    clearInterval(this.#logTimer);
    const forced = setTimeout(() => this.kill(), STOP_DEADLINE_MS);
    const front = this.#children.filter((child) => child.spec.isFront);
    await Promise.all(front.map((child) => child.stop(FRONT_DRAIN_MS)));
    await Promise.all(this.#children.filter((child) => !front.includes(child)).map((child) => child.stop(DRAIN_MS)));
    await this.#databaseStart;
    await this.#database?.stop().catch((error: unknown) => this.note('database', String(error)));
    clearTimeout(forced);
    removeState(this.#options.report.dataDir);
  }

  #remember(): void {
    if (this.#stopped) return;
    const { config, metrics, redisUrl, quotaTimeZone, processes } = this.#options;
    const children = this.#children.flatMap((child) => {
      const { pid } = child;
      return pid === undefined ? [] : [{ name: child.spec.name, ...processes.identifyProcess(pid) }];
    });
    writeState({
      ...this.#report,
      supervisor: processes.identifyProcess(process.pid),
      children,
      databaseUrl: this.#databaseUrl,
      config,
      metrics,
      redisUrl,
      quotaTimeZone,
    });
  }
}
