import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { type ProcessRole } from '../../../cli/database-roles/privileges';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { oncePerRun } from '../once-per-run';

const TEMPLATE = 'tollgate_template';

/** Loaded by the one file that starts them: migrations, catalogue and roles cost each other file a third of a second. */
const firstDatabase = () => import('./first-database.js');

/** How long a test waits for a connection of its pool, which hundreds of queries may have asked for before it, and for a query. */
export const PATIENCE_MS = 120_000;

/** One database of one test file. */
export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** URL under which one may do what that process may, and nothing else. */
  urlAs(role: ProcessRole): string;
  /** Ends the pool and drops the database. */
  close(): Promise<void>;
}

/**
 * URL of the run's one server; the first test that asks starts it, globalTeardown stops it. Whoever asks later is told, and does not
 * look at the server: a starter ends one that does not answer for some seconds, which on a busy machine is no reason to.
 */
export function testServerUrl(): Promise<string> {
  return oncePerRun('server-url', async () => (await firstDatabase()).startServer());
}

function onDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Where a worker of jest keeps its pool, which outlives test files and what they have loaded. */
const KEPT = Symbol.for('tollgate test admin');
const keeper: typeof process & { [KEPT]?: Pool } = process;

/** Of one connection, since a connection costs as much as a database. It does not keep the worker alive. */
function adminPool(server: string): Pool {
  const connectionString = onDatabase(server, 'postgres');
  if (keeper[KEPT]?.options.connectionString === connectionString) return keeper[KEPT];
  const pool = new Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  pool.on('error', () => undefined);
  return (keeper[KEPT] = pool);
}

/** A fresh database with schema, products and plans, on a real server. `empty: true` leaves out the schema. */
export async function testDatabase({ empty = false }: { empty?: boolean } = {}): Promise<TestDatabase> {
  const server = await testServerUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = adminPool(server);
  if (!empty) await oncePerRun('template', async () => (await firstDatabase()).fillTemplate(admin, onDatabase(server, TEMPLATE)));
  // Otherwise each page goes through the log, which costs four times as much.
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${empty ? 'template0' : TEMPLATE} STRATEGY FILE_COPY`);
  const url = onDatabase(server, name);
  const pool = createPool(url, { max: 5, applicationName: 'tollgate test', statementTimeoutMs: PATIENCE_MS });
  const close = async (): Promise<void> => {
    await pool.end();
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  };
  const urlAs = (role: ProcessRole): string => `${url}?options=${encodeURIComponent(`-c role=${role}`)}`;
  return { url, pool, urlAs, close };
}
