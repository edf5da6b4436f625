import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** Folder of the numbered SQL files, beside this module in the sources and in the build. */
export const MIGRATIONS_FOLDER = join(__dirname, 'migrations');
/**
 * A change of a table waits for the transactions that use the table, and all later transactions wait behind it. It waits at most this long,
 * well below a plugin server's statement time-out. Then the others get their turn, and the change is tried again.
 */
const LOCK_TIMEOUT_MS = 500;
const RETRY_MS = 1_000;
const PATIENCE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 30_000;
/** An arbitrary number that nothing else locks. The lock makes two processes that start at once run one after the other. */
const LOCK = 720_260_024;

const MIGRATION_TABLE = `
CREATE TABLE IF NOT EXISTS schema_migration (
  name text PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE schema_migration IS 'The migrations that this database has.'`;

export interface MigrateOptions {
  /** Folder of the numbered SQL files. Default: those of this version. */
  readonly folder?: string;
  /** Milliseconds for which it retries on a database in use. Default: a minute. */
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

/** Applies all in one transaction. node-pg-migrate, which commits by itself, could leave half of them applied. */
async function applyPending(client: Client, folder: string): Promise<string[]> {
  await client.query(MIGRATION_TABLE);
  const { rows } = await client.query<{ name: string }>('SELECT name FROM schema_migration ORDER BY name');
  const applied = rows.map(({ name }) => name);
  const pending = migrationNames(folder).filter((name) => !applied.includes(name));
  const last = applied.at(-1) ?? '';
  if (pending[0] !== undefined && pending[0] < last) throw new Error(`migration ${pending[0]} comes before ${last}, which is applied`);
  for (const name of pending) await client.query(readFileSync(join(folder, `${name}.sql`), 'utf8'));
  await client.query('INSERT INTO schema_migration (name) SELECT unnest($1::text[])', [pending]);
  return pending;
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
    // Closing the connection rolls back what was not committed.
    await client.end();
  }
}

/**
 * Brings the schema up to date, also under running plugin servers. If two processes start at once, both succeed: the second waits on an
 * advisory lock and finds nothing to do.
 * @returns the names of the migrations that this call applied
 * @throws Error from PostgreSQL, or saying that another transaction is in the way; then nothing was changed, since all pending migrations
 * share one transaction
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
        throw new Error('a long transaction is using the tables; end it and migrate again', { cause });
      }
    }
    await sleep(RETRY_MS);
  }
}
