import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { adoptSchema, checkAdopted, isFromBeforeBaseline } from './adopt-schema';

/** Where the numbered SQL files are, beside this module in the sources and in the build. */
export const MIGRATIONS_FOLDER = join(__dirname, 'migrations');
/**
 * A change of a table waits for the transactions that use it, and everybody else waits behind it: for this long at the most, which is well
 * below what a plugin server gives a statement. Then they get their turn, and it is tried again.
 */
const LOCK_TIMEOUT_MS = 500;
const RETRY_MS = 1_000;
const PATIENCE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 30_000;
/** Any number that nothing else locks: two starters at once come one after the other. */
const LOCK = 720_260_024;

const MIGRATION_TABLE = `
CREATE TABLE IF NOT EXISTS schema_migration (
  name text PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE schema_migration IS 'The migrations that this database has.'`;

export interface MigrateOptions {
  /** Where the numbered SQL files are; those of this version unless given. */
  readonly folder?: string;
  /** Milliseconds for which a database that is in use is tried again; a minute unless given. */
  readonly patienceMs?: number;
}

/** SQLSTATE lock_not_available. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === '55P03';
}

/** Names of the migrations in a folder, in their order. Other files may lie beside the SQL, such as editors' backups. */
export function migrationNames(folder: string = MIGRATIONS_FOLDER): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files.map((file) => file.slice(0, -'.sql'.length)).sort();
}

/** @returns undefined for a database without the table: it was never migrated */
async function readApplied(client: Client): Promise<string[] | undefined> {
  const { rows } = await client.query<{ name: string | null }>("SELECT to_regclass('schema_migration')::text AS name");
  if (rows[0]?.name === null) return undefined;
  const applied = await client.query<{ name: string }>('SELECT name FROM schema_migration ORDER BY name');
  return applied.rows.map(({ name }) => name);
}

/** In one transaction with an adoption; node-pg-migrate, which commits by itself, could not share it. */
async function applyPending(client: Client, folder: string): Promise<string[]> {
  const names = migrationNames(folder);
  const sqlOf = (name: string): string => readFileSync(join(folder, `${name}.sql`), 'utf8');
  const before = (await readApplied(client)) ?? [];
  const isAdopted = isFromBeforeBaseline(before);
  const adopted = isAdopted ? await adoptSchema(client, { applied: before, names, sqlOf }) : [];
  await client.query(MIGRATION_TABLE);
  const applied = isAdopted ? adopted : before;
  const pending = names.filter((name) => !applied.includes(name));
  const last = applied.at(-1) ?? '';
  if (pending[0] !== undefined && pending[0] < last) throw new Error(`migration ${pending[0]} comes before ${last}, which is applied`);
  for (const name of pending) await client.query(sqlOf(name));
  const fresh = [...adopted, ...pending];
  await client.query('INSERT INTO schema_migration (name) SELECT unnest($1::text[])', [fresh]);
  if (isAdopted) await checkAdopted(client);
  return fresh;
}

async function runMigrations(url: string, folder: string): Promise<string[]> {
  const client = new Client({
    connectionString: url,
    application_name: 'tollgate migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
  });
  // A connection that breaks fails the query that runs on it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const applied = await applyPending(client, folder);
    await client.query('COMMIT');
    return applied;
  } finally {
    // What was not committed is taken back with the connection.
    await client.end();
  }
}

/**
 * Brings the schema up to date, also under running plugin servers. Two starters at once both succeed: the second waits on an advisory lock
 * and finds nothing to do. A database from before 0.1.0 is adopted, see adopt-schema.ts.
 * @returns the names of the migrations that this call applied
 * @throws Error from PostgreSQL, or saying that another transaction is in the way, or why a database from before 0.1.0 cannot be adopted;
 * then nothing was changed, since all pending migrations share one transaction
 */
export async function migrate(
  url: string,
  { folder = MIGRATIONS_FOLDER, patienceMs = PATIENCE_MS }: MigrateOptions = {},
): Promise<string[]> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      return await runMigrations(url, folder);
    } catch (cause) {
      if (!isLockTimeout(cause)) throw cause;
      if (performance.now() + RETRY_MS > end) {
        throw new Error('a transaction that takes long uses the tables; end it and migrate again', { cause });
      }
    }
    await sleep(RETRY_MS);
  }
}
