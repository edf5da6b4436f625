import {
  existsSync,
  readFileSync,
  statSync,
  chmodSync,
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildProcess, spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join, dirname } from 'node:path';
import { Client } from 'pg';
import { findFreePorts, isPortFree } from './free-port';
import { removeDrafts, serverPrograms, DRAFT_PREFIX, readOrCreatePassword, type ServerFiles, serverFiles } from './embedded-postgres-files';
import { endLeftover, isServerOf, stopServer } from './embedded-postgres-process';

/** A first start takes about 1.3 s; a start after a crash replays the log. */
const START_DEADLINE_MS = 30_000;
const POLL_MS = 20;
const CONNECT_TIMEOUT_MS = 1_500;

export interface EmbeddedPostgresOptions {
  /** Folder for data and password; created when missing. */
  readonly dataDir: string;
  /** Default: any free port. */
  readonly port?: number;
  /** File of the server's own messages. Default: `postgres.log` in `dataDir`. */
  readonly logFile?: string;
  /** Further server settings, for example `{ fsync: 'off' }` for throw-away test data. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** URL of the superuser. It contains the password: never log it. */
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  /** Ends the server, usually at once and within 13 s at most. A second call does nothing. */
  stop(): Promise<void>;
}

/** Small values, because a laptop runs the server beside everything else. Terse messages keep row values out of the log. */
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

async function choosePort(wanted: number | undefined): Promise<number> {
  if (wanted === undefined) return (await findFreePorts(1))[0] ?? 0;
  if (await isPortFree(wanted)) return wanted;
  throw new Error(`the embedded PostgreSQL could not start: port ${wanted} is in use by another program`);
}

/** Connects to the server and creates Tollgate's database when it is missing. */
async function connectOnce({ password, files }: Run, port: number): Promise<void> {
  const connectionString = `postgres://${NAME}:${password}@127.0.0.1:${port}/postgres`;
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`);
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== '28P01') throw cause;
    throw new WrongPassword(`${files.passwordFile} does not hold the password of the data beside it`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}

class WrongPassword extends Error {}

/** True while backends of a killed server still hold its memory. They end shortly. */
function isHeldByOldBackends({ logFile }: Run, logStart: number): boolean {
  return /shared memory block .* is still in use/.test(readFileSync(logFile, 'utf8').slice(logStart));
}

/** @returns its process id once it responds; undefined when it must be started again shortly */
async function startServer(run: Run, args: readonly string[], port: number): Promise<number | undefined> {
  const logStart = statSync(run.logFile).size;
  const child = launch(run, { command: serverPrograms().postgres, folder: run.files.cluster, args: ['-p', String(port), ...args] });
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  child.unref();
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!failure && performance.now() < deadline) {
    await sleep(POLL_MS);
    if (child.exitCode !== null || child.signalCode !== null) {
      if (isHeldByOldBackends(run, logStart)) return undefined;
      throw explainFailure(run, 'start');
    }
    try {
      await connectOnce(run, port);
      return child.pid;
    } catch (error) {
      if (error instanceof WrongPassword) failure = error;
    }
  }
  if (child.pid !== undefined) await stopServer(child.pid);
  throw failure ?? explainFailure(run, `start within ${START_DEADLINE_MS / 1_000} s`);
}

/** URL of Tollgate's database on a server on this port, without a login. */
export const databaseAt = (port: number): string => `postgres://127.0.0.1:${port}/${NAME}`;

/**
 * Starts the PostgreSQL that npm installed, on the loopback address only, with its data in the given folder. A server that an earlier run
 * left behind (its parent was killed) is ended first, so that there is never a second server on the folder. The caller makes sure that no
 * other process starts one there at the same time. The server outlives this process unless `stop` is called.
 * @throws Error whose message is one readable sentence
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const run = prepareRun(options);
  await endLeftover(run.files);
  removeDrafts(run.files);
  if (!existsSync(run.files.cluster)) await createCluster(run);
  const port = await choosePort(options.port);
  const flags = Object.entries({ ...SETTINGS, ...options.settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const deadline = performance.now() + START_DEADLINE_MS;
  let pid: number | undefined;
  while ((pid = await startServer(run, flags, port)) === undefined) {
    if (performance.now() > deadline) throw explainFailure(run, 'start');
    await sleep(100);
  }
  const server = pid;
  const stop = async (): Promise<void> => {
    if (isServerOf(server, run.files)) await stopServer(server);
  };
  return { url: `postgres://${NAME}:${run.password}@127.0.0.1:${port}/${NAME}`, pid: server, port, stop };
}

/** Name of Tollgate's role and database on its own server. */
const NAME = 'tollgate';

/** Facts about the machine for one start. */
interface Run {
  readonly files: ServerFiles;
  readonly account: ServerAccount | undefined;
  readonly password: string;
  readonly logFile: string;
}

/**
 * Finds out how to run the server.
 * @throws Error with one readable sentence when the folder cannot be used
 */
function prepareRun({ dataDir, logFile }: { readonly dataDir: string; readonly logFile?: string | undefined }): Run {
  try {
    const files = serverFiles(dataDir);
    const log = logFile ?? join(files.folder, 'postgres.log');
    closeSync(openSync(log, 'a', 0o600));
    const account = serverAccount(files.cluster);
    // A copy made by other programs may be open to everybody, and PostgreSQL refuses such a folder.
    if (existsSync(files.cluster)) chmodSync(files.cluster, 0o700);
    return { files, account, password: readOrCreatePassword(files), logFile: log };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const reason = code === 'ENOSPC' ? 'the disk is full' : code === 'EACCES' ? 'permission was denied' : message;
    throw new Error(`the embedded PostgreSQL could not use ${dataDir}: ${reason}`, { cause: error });
  }
}

/** Runs one of PostgreSQL's programs on `folder`, with its messages in the log. */
function launch({ account, logFile }: Run, { command, folder, args }: { command: string; folder: string; args: string[] }): ChildProcess {
  const { file, args: words, ids } = commandAs(account, command, ['-D', folder, ...args], [folder]);
  const log = openSync(logFile, 'a', 0o600);
  try {
    // In its own session, because Ctrl-C in the terminal must reach the services first. They still need the database to finish.
    return spawn(file, words, {
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

/** Turns the server's last messages into one sentence. */
function explainFailure({ logFile }: Run, task: string): Error {
  const messages = readFileSync(logFile, 'utf8').match(/(?<=(?:FATAL|PANIC|error): ).*$/gm);
  return new Error(`the embedded PostgreSQL could not ${task}: ${messages?.at(-1)?.trim() ?? 'no reason was given'} (see ${logFile})`);
}

/** Runs initdb in a temporary folder and moves the result into place, so that an interrupted start leaves no partial cluster. */
async function createCluster(run: Run): Promise<void> {
  const { files, account, password } = run;
  const draft = mkdtempSync(join(files.folder, DRAFT_PREFIX));
  const pwFile = `${draft}.password`;
  writeFileSync(pwFile, password, { mode: 0o600 });
  if (account) for (const path of [draft, pwFile]) chownSync(path, account.uid, account.gid);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const args = [`--username=${NAME}`, `--pwfile=${pwFile}`, '--auth=scram-sha-256', ...locale];
  try {
    const initdb = launch(run, { command: serverPrograms().initdb, folder: draft, args });
    const [code] = (await once(initdb, 'close')) as [number | null];
    if (code !== 0) throw explainFailure(run, 'create its data folder');
    renameSync(draft, files.cluster);
  } finally {
    removeDrafts(files);
  }
}

/** The system account that runs PostgreSQL, which refuses to run as root. */
interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

const ACCOUNT = 'postgres';

function idOf(option: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [option, ACCOUNT], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return undefined;
  }
}

function findAccount(): ServerAccount | undefined {
  const uid = idOf('-u');
  const gid = idOf('-g');
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/**
 * The account to run the server as, or undefined if the caller's own is fine. For root it is the owner of existing data, otherwise the
 * system user `postgres`, which is created when missing.
 * @throws Error with one readable sentence when it can be neither found nor created
 */
function serverAccount(cluster: string): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = existsSync(cluster) ? statSync(cluster) : undefined;
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const account = findOrCreateAccount();
  // Root copied the data here; PostgreSQL must own it.
  if (owner) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, cluster]);
  return account;
}

function findOrCreateAccount(): ServerAccount {
  const found = findAccount();
  if (found) return found;
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', ACCOUNT], { stdio: 'ignore' });
  } catch (cause) {
    throw new Error(`PostgreSQL cannot run as root, and the system user "${ACCOUNT}" could not be created`, { cause });
  }
  const created = findAccount();
  if (!created) throw new Error(`PostgreSQL cannot run as root, and the system user "${ACCOUNT}" was not found after it was created`);
  return created;
}

/** True when the account may enter every folder above the path. */
function canReach(account: ServerAccount, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly ids: { uid?: number; gid?: number };
}

/**
 * A command line that runs a program as the account. If a folder above one of `paths` is closed to it (a clone below /root, or in a folder
 * made by mktemp), root lends it the single capability that opens folders.
 * @throws Error with one readable sentence when the account cannot reach the paths
 */
function commandAs(account: ServerAccount | undefined, command: string, args: readonly string[], paths: readonly string[]): ServerCommand {
  if (!account) return { file: command, args, ids: {} };
  const closed = [command, ...paths].find((path) => !canReach(account, path));
  if (closed === undefined) return { file: command, args, ids: { uid: account.uid, gid: account.gid } };
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  if (setpriv === undefined) {
    throw new Error(
      `PostgreSQL runs as the user "${ACCOUNT}", which may not enter the folders above ${closed}; open them or move the project`,
    );
  }
  const who = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return {
    file: setpriv,
    args: [...who, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup', command, ...args],
    ids: {},
  };
}
