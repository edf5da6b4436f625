import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { commandAs, type ServerAccount, serverAccount } from './embedded-postgres-account';
import {
  disownPidFile,
  freePort,
  isPortFree,
  readOrCreatePassword,
  readPidFile,
  type ServerFiles,
  serverFiles,
  serverPrograms,
} from './embedded-postgres-files';
import { isAlive, isServerOf, stopServer } from './embedded-postgres-process';

/** Role and database that Tollgate uses in its own server. */
const NAME = 'tollgate';
/** First start takes about 1.3 s; a start after a crash replays the log. */
const START_DEADLINE_MS = 30_000;
const ADOPT_DEADLINE_MS = 5_000;

export interface EmbeddedPostgresOptions {
  /** Folder for data, password and port; created when missing. */
  readonly dataDir: string;
  /** Default: the one used last time, else any free one. */
  readonly port?: number;
  /** Where the server's own messages go. Default: `postgres.log` in `dataDir`. */
  readonly logFile?: string;
  /** Further server settings, for example `{ fsync: 'off' }` for throw-away test data. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** Holds the password: never log it. */
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  /** True when a server left behind by an earlier run was taken over. */
  readonly adopted: boolean;
  /** Ends the server within 13 s at most; a second call does nothing. */
  stop(): Promise<void>;
}

/** Small: a laptop runs it beside everything else. Terse messages keep row values out of the log. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

interface Run {
  readonly options: EmbeddedPostgresOptions;
  readonly files: ServerFiles;
  readonly account: ServerAccount | undefined;
  readonly password: string;
  readonly logFile: string;
}

function urlOf(run: Run, port: number, database: string): string {
  return `postgres://${NAME}:${run.password}@127.0.0.1:${port}/${database}`;
}

/** Connects to the server and creates Tollgate's database when it is missing. */
async function checkServer(run: Run, port: number): Promise<void> {
  const client = new Client({ connectionString: urlOf(run, port, 'postgres'), connectionTimeoutMillis: 3_000, query_timeout: 3_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`).catch(ignoreDuplicate);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function ignoreDuplicate(error: unknown): void {
  const code = (error as { code?: unknown }).code;
  if (code !== '42P04' && code !== '23505') throw error;
}

/** Runs initdb beside the final place and moves the result there, so that a start cut short leaves no half-made cluster. */
async function createCluster(run: Run): Promise<void> {
  const { files, account } = run;
  const draft = join(files.folder, `cluster.${process.pid}`);
  const pwFile = join(files.folder, `initdb-password.${process.pid}`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(pwFile, run.password, { mode: 0o600 });
  if (account) for (const path of [draft, pwFile]) chownSync(path, account.uid, account.gid);
  const args = ['-D', draft, `--username=${NAME}`, `--pwfile=${pwFile}`, '--auth=scram-sha-256', '--encoding=UTF8'];
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  try {
    const child = launch(run, { command: serverPrograms().initdb, args: [...args, ...locale], paths: [draft] });
    const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
    if (code !== 0) throw new Error(explainFailure(run, 'create its data folder'));
    if (!existsSync(files.cluster)) renameSync(draft, files.cluster);
  } catch (error) {
    // Another starter may have moved its own cluster there between the question and the move.
    if (!existsSync(files.cluster)) throw error;
  } finally {
    rmSync(pwFile, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
}

function launch(run: Run, program: { command: string; args: readonly string[]; paths: readonly string[] }): ChildProcess {
  const { file, args, ids } = commandAs(run.account, program.command, program.args, program.paths);
  const log = openSync(run.logFile, 'a', 0o600);
  try {
    // Its own session: Ctrl-C in the terminal must reach the services first, which still need the database to finish.
    return spawn(file, args, {
      ...ids,
      detached: true,
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

/** Turns what the server wrote last into one sentence. */
function explainFailure(run: Run, task: string): string {
  const recent = readFileSync(run.logFile, 'utf8').slice(-4_000);
  const prefix = `the embedded PostgreSQL could not ${task}`;
  if (/No space left on device/i.test(recent)) return `${prefix}: the disk is full`;
  if (/Address already in use|could not bind/i.test(recent)) return `${prefix}: its port is in use by another program`;
  if (/Permission denied|has invalid permissions|wrong ownership/i.test(recent))
    return `${prefix}: its user may not use ${run.files.folder}`;
  const last = recent.match(/^.*(?:FATAL|PANIC|error):.*$/gm)?.at(-1);
  return `${prefix}: ${last?.replace(/^.*?(?:FATAL|PANIC|error):\s*/, '') ?? 'no reason was given'} (see ${run.logFile})`;
}

/** Starts the program and waits until it takes connections. Undefined when another starter or dying backends hold the data: try again. */
async function startServer(run: Run, port: number, deadline: number): Promise<number | undefined> {
  const settings = { ...SETTINGS, ...run.options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logStart = existsSync(run.logFile) ? statSync(run.logFile).size : 0;
  const args = ['-D', run.files.cluster, '-p', String(port), ...flags];
  const child = launch(run, { command: serverPrograms().postgres, args, paths: [run.files.cluster] });
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  child.unref();
  while (performance.now() < deadline) {
    if (failure) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) {
      const said = readFileSync(run.logFile, 'utf8').slice(logStart);
      if (/lock file .* already exists|shared memory block .* is still in use/.test(said)) return undefined;
      throw new Error(explainFailure(run, 'start'));
    }
    const running = readPidFile(run.files);
    if (running?.pid === child.pid && running?.ready) return running.pid;
    await sleep(15);
  }
  if (child.pid !== undefined) await stopServer(child.pid);
  throw new Error(explainFailure(run, `start within ${START_DEADLINE_MS / 1_000} s`));
}

/** Takes over a healthy server that an earlier run left behind, and ends an unhealthy one. */
async function adoptRunning(run: Run): Promise<EmbeddedPostgres | undefined> {
  const running = readPidFile(run.files);
  if (!running) return undefined;
  if (!isServerOf(running.pid, run.files)) {
    if (isAlive(running.pid)) disownPidFile(run.files);
    return undefined;
  }
  const wanted = run.options.port ?? running.port;
  const end = performance.now() + ADOPT_DEADLINE_MS;
  while (wanted === running.port && isAlive(running.pid) && performance.now() < end) {
    try {
      await checkServer(run, running.port);
      return handle(run, running.pid, { port: running.port, adopted: true });
    } catch {
      await sleep(100);
    }
  }
  await stopServer(running.pid);
  return undefined;
}

function handle(run: Run, pid: number, { port, adopted }: { port: number; adopted: boolean }): EmbeddedPostgres {
  writeFileSync(run.files.portFile, String(port));
  const stop = async (): Promise<void> => {
    if (isServerOf(pid, run.files)) await stopServer(pid);
  };
  return { url: urlOf(run, port, NAME), pid, port, adopted, stop };
}

async function choosePort(run: Run): Promise<number> {
  if (run.options.port !== undefined) {
    if (await isPortFree(run.options.port)) return run.options.port;
    throw new Error(`the embedded PostgreSQL could not start: port ${run.options.port} is in use by another program`);
  }
  const last = existsSync(run.files.portFile) ? Number(readFileSync(run.files.portFile, 'utf8')) : 0;
  return last > 0 && (await isPortFree(last)) ? last : freePort();
}

function prepare(options: EmbeddedPostgresOptions): Run {
  try {
    const files = serverFiles(options.dataDir);
    const logFile = options.logFile ?? join(files.folder, 'postgres.log');
    closeSync(openSync(logFile, 'a', 0o600));
    const account = serverAccount();
    if (account && process.getuid?.() === 0 && existsSync(files.cluster)) chmodSync(files.cluster, 0o700);
    return { options, files, account, password: readOrCreatePassword(files), logFile };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const reason = code === 'ENOSPC' ? 'the disk is full' : code === 'EACCES' ? 'permission was denied' : message;
    throw new Error(`the embedded PostgreSQL could not use ${options.dataDir}: ${reason}`, { cause: error });
  }
}

/**
 * Starts the PostgreSQL that npm installed, on the loopback address only, with its data in the given folder. A server that an earlier
 * run left behind (its parent was killed) is taken over when healthy and ended when not; there is never a second one on the folder,
 * even with two starters at once. The server outlives this process unless `stop` is called.
 * @throws Error whose message is one readable sentence
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const run = prepare(options);
  const deadline = performance.now() + START_DEADLINE_MS;
  while (performance.now() < deadline) {
    const adopted = await adoptRunning(run);
    if (adopted) return adopted;
    if (!existsSync(run.files.cluster)) await createCluster(run);
    const port = await choosePort(run);
    const pid = await startServer(run, port, deadline);
    if (pid !== undefined) {
      await checkServer(run, port);
      return handle(run, pid, { port, adopted: false });
    }
    await sleep(100);
  }
  throw new Error(explainFailure(run, 'start'));
}
