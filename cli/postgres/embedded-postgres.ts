import { existsSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { findFreePorts, isPortFree } from './free-port';
import { removeDrafts, serverPrograms } from './embedded-postgres-files';
import { endLeftover, isServerOf, stopServer } from './embedded-postgres-process';
import { createCluster, explainFailure, launch, NAME, prepareRun, type Run } from './embedded-postgres-programs';

/** A first start takes about 1.3 s; a start after a crash replays the log. */
const START_DEADLINE_MS = 30_000;
const POLL_MS = 20;
const CONNECT_TIMEOUT_MS = 1_500;

export interface EmbeddedPostgresOptions {
  /** Folder for data and password; created when missing. */
  readonly dataDir: string;
  /** Default: any free one. */
  readonly port?: number;
  /** Where the server's own messages go. Default: `postgres.log` in `dataDir`. */
  readonly logFile?: string;
  /** Further server settings, for example `{ fsync: 'off' }` for throw-away test data. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** Of the superuser. Holds the password: never log it. */
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  /** Ends the server within 13 s at most, usually at once; a second call does nothing. */
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

/** Backends of a server that was killed end within a moment, and hold its memory until then. */
function isHeldByOldBackends({ logFile }: Run, logStart: number): boolean {
  return /shared memory block .* is still in use/.test(readFileSync(logFile, 'utf8').slice(logStart));
}

/** @returns its process id once it answers, undefined when it has to be started again in a moment */
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

/** Tollgate's database on a server that listens, or will listen, on this port; a login is to be added. */
export const databaseAt = (port: number): string => `postgres://127.0.0.1:${port}/${NAME}`;

/**
 * Starts the PostgreSQL that npm installed, on the loopback address only, with its data in the given folder. A server that an earlier
 * run left behind (its parent was killed) is ended first, so that there is never a second one on the folder. The caller makes sure that
 * no other process starts one there at the same time. The server outlives this process unless `stop` is called.
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
