import { randomBytes } from 'node:crypto';
import { appendFileSync, copyFileSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type QueryResult } from 'pg';
import { findFreeRow } from '../../../cli/postgres/free-port';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../cli/postgres/embedded-postgres';
import { serverFiles } from '../../../cli/postgres/embedded-postgres-files';
import { isAlive } from '../../../cli/postgres/embedded-postgres-process';
import { eventually } from '../eventually';
import { PATIENCE_MS } from '../postgres/postgres';
import { runFolder } from '../run-folder';
import { execFileSync } from 'node:child_process';

/** The server process and its backends. */
function processesOf(serverPid: number): number[] {
  const children = execFileSync('sh', ['-c', `pgrep -P ${serverPid} || true`], { encoding: 'utf8' });
  return [serverPid, ...children.split('\n').filter(Boolean).map(Number)];
}

/** Freezes or wakes a whole server, as a machine that hangs would: connections stay open and nothing answers. */
export function signalServer(serverPid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of processesOf(serverPid)) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A backend may end between the listing and the signal.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** A PostgreSQL server of one test, to be broken. */
export interface FaultPostgres {
  readonly url: string;
  readonly pid: number;
  /** Starts it again after `kill`, on the same data and port. */
  start(this: void): Promise<void>;
  /** SIGKILL to the server; its backends follow. */
  kill(this: void): Promise<void>;
  /** SIGSTOP to server and backends: connections stay, nothing is answered. */
  freeze(this: void): void;
  thaw(this: void): void;
  isRunning(): boolean;
  /** Runs one statement on a connection of its own, on this database of the server (Tollgate's unless named). */
  query(statement: string, database?: string): Promise<QueryResult<Record<string, unknown>>>;
  /** Where its data lie, and its port. */
  readonly place: Place;
  close(): Promise<void>;
}

/** A server that follows another one's stream until it is promoted. */
interface ReplicaPostgres extends FaultPostgres {
  /** Waits until it has replayed what the primary has written by now. */
  caughtUp(): Promise<void>;
  promote(): Promise<void>;
}

/** Streaming needs more than the embedded server's minimum. */
const SETTINGS = { wal_level: 'replica', max_wal_senders: '4', max_connections: '100', fsync: 'off' };

interface Place {
  readonly dataDir: string;
  readonly port: number;
}

async function runStatement(url: string, statement: string): Promise<QueryResult<Record<string, unknown>>> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS, query_timeout: PATIENCE_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A base backup by PostgreSQL's own functions, since the embedded distribution brings no pg_basebackup. */
async function copyCluster(source: string, from: Place, to: Place): Promise<void> {
  const [primary, replica] = [serverFiles(from.dataDir), serverFiles(to.dataDir)];
  const client = new Client({ connectionString: source });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('replica', true)");
    const isOwn = (path: string): boolean => !/postmaster\.(pid|opts)$/.test(path);
    cpSync(primary.cluster, replica.cluster, { recursive: true, filter: isOwn });
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    writeFileSync(join(replica.cluster, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  copyFileSync(primary.passwordFile, replica.passwordFile);
  const { username, password } = new URL(source);
  const conninfo = `host=127.0.0.1 port=${from.port} user=${username} password=${password}`;
  appendFileSync(join(replica.cluster, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  writeFileSync(join(replica.cluster, 'standby.signal'), '');
}

async function startAt(place: Place): Promise<FaultPostgres> {
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ ...place, settings: SETTINGS });
  const onDatabase = (name: string): string => {
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  const close = async (): Promise<void> => {
    signalServer(server.pid, 'SIGCONT');
    await server.stop();
    rmSync(place.dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  return {
    url: server.url,
    get pid() {
      return server.pid;
    },
    async start() {
      server = await startEmbeddedPostgres({ ...place, settings: SETTINGS });
    },
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      await eventually(() => !isAlive(server.pid));
    },
    freeze: () => signalServer(server.pid, 'SIGSTOP'),
    thaw: () => signalServer(server.pid, 'SIGCONT'),
    isRunning: () => isAlive(server.pid),
    query: (statement, database = 'tollgate') => runStatement(onDatabase(database), statement),
    place,
    close,
  };
}

async function newPlace(parent = runFolder()): Promise<Place> {
  return { dataDir: join(parent, `postgres-${randomBytes(4).toString('hex')}`), port: await findFreeRow(1) };
}

/** A server of its own with an empty database. @param parent the folder that its data go into; default the run's */
export async function startFaultPostgres(parent?: string): Promise<FaultPostgres> {
  return startAt(await newPlace(parent));
}

/** A streaming replica of a running server. */
export async function startPostgresCopy(primary: FaultPostgres): Promise<ReplicaPostgres> {
  const place = await newPlace();
  await copyCluster(primary.url, primary.place, place);
  const replica = await startAt(place);
  return Object.assign(replica, {
    async caughtUp() {
      const written = String((await primary.query('SELECT pg_current_wal_flush_lsn() AS lsn')).rows[0]?.['lsn']);
      const replayed = `SELECT pg_last_wal_replay_lsn() >= '${written}'::pg_lsn AS "isThere"`;
      await eventually(async () => (await replica.query(replayed)).rows[0]?.['isThere'] === true);
    },
    async promote() {
      await replica.query('SELECT pg_promote(true, 20)');
    },
  });
}
