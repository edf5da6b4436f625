import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { grantPrivileges } from '../../../cli/database-roles/grant-privileges';
import { type ProcessRole } from '../../../cli/database-roles/privileges';
import { startEmbeddedPostgres } from '../../../cli/postgres/embedded-postgres';
import { migrate } from '../../../plugins/stores/postgres/migrate';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { oncePerRun } from '../once-per-run';
import { runFolder } from '../run-folder';
import { CATALOGUE } from '../catalogue';

const TEMPLATE = 'tollgate_template';

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

async function startServer(): Promise<string> {
  // Test data is thrown away, so that no write needs to wait for the disk.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };
  const { url } = await startEmbeddedPostgres({ dataDir: join(runFolder(), 'postgres'), settings });
  await cheapenSignIn(url);
  return url;
}

/** Tests sign in thousands of times, and each time node would hash the password 4,096 times. */
async function cheapenSignIn(url: string): Promise<void> {
  const { username, password } = new URL(url);
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query('SET scram_iterations = 1');
    await admin.query(`ALTER ROLE ${admin.escapeIdentifier(username)} PASSWORD ${admin.escapeLiteral(password)}`);
  } finally {
    await admin.end();
  }
}

/**
 * URL of the run's one server; the first test that asks starts it, globalTeardown stops it. Whoever asks later is told, and does not
 * look at the server: a starter ends one that does not answer for some seconds, which on a busy machine is no reason to.
 */
export function testServerUrl(): Promise<string> {
  return oncePerRun('server-url', startServer);
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

/** Migrates and seeds one database that all others are copies of, once per run. */
async function prepareTemplate(admin: Pool, url: string): Promise<void> {
  await oncePerRun('template', async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
    await admin.query(`CREATE DATABASE ${TEMPLATE}`);
    await migrate(onDatabase(url, TEMPLATE));
    const pool = createPool(onDatabase(url, TEMPLATE), { max: 1 });
    try {
      await applyCatalogue(pool, CATALOGUE, { actor: 'test' });
      await grantPrivileges(pool);
    } finally {
      await pool.end();
    }
    return TEMPLATE;
  });
}

/** A fresh database with schema, products and plans, on a real server. `empty: true` leaves out the schema. */
export async function testDatabase({ empty = false }: { empty?: boolean } = {}): Promise<TestDatabase> {
  const server = await testServerUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = adminPool(server);
  if (!empty) await prepareTemplate(admin, server);
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
