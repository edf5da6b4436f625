import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** Where the numbered SQL files are, beside this module in the sources and in the build. */
export const MIGRATIONS_FOLDER = join(__dirname, 'migrations');
/** Names of applied migrations. */
const MIGRATIONS_TABLE = 'schema_migration';
/**
 * A change of a table waits for the transactions that use it, and everybody else waits behind it: for this long at the most, which is well
 * below what a plugin server gives a statement. Then they get their turn, and it is tried again.
 */
const LOCK_TIMEOUT_MS = 500;
const RETRY_MS = 1_000;
const PATIENCE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 30_000;

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

/**
 * Brings the schema up to date, also under running plugin servers. Two starters at once both succeed: the second waits on an advisory lock
 * and finds nothing to do.
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
        throw new Error('a transaction that takes long uses the tables; end it and migrate again', { cause });
      }
    }
    await sleep(RETRY_MS);
  }
}

async function runMigrations(url: string, dir: string): Promise<string[]> {
  // Loaded on use: only the process that migrates pays for it.
  const { runner } = await import('node-pg-migrate');
  // A connection of its own: the library does not wait for the end of one that it opened, and would not notice when the server ends it.
  const dbClient = new Client({
    connectionString: url,
    application_name: 'tollgate migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
  });
  // A connection that breaks fails the query that runs on it.
  dbClient.on('error', () => undefined);
  await dbClient.connect();
  try {
    const applied = await runner({
      dbClient,
      dir,
      // Other files may lie beside the SQL, such as editors' backups.
      ignorePattern: '(?!.*\\.sql$).*',
      migrationsTable: MIGRATIONS_TABLE,
      direction: 'up',
      advisoryLockMode: 'wait',
      log: () => undefined,
    });
    return applied.map(({ name }) => name);
  } finally {
    await dbClient.end();
  }
}
