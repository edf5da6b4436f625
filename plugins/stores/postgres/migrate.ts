import { join } from 'node:path';

/** Where the numbered SQL files are, beside this module in the sources and in the build. */
export const MIGRATIONS_FOLDER = join(__dirname, 'migrations');
/** Names of applied migrations. */
const MIGRATIONS_TABLE = 'schema_migration';

/**
 * Brings the schema up to date. Two starters at once both succeed: the second waits on an advisory lock and finds nothing to do.
 * @returns the names of the migrations that this call applied
 * @throws Error from PostgreSQL; then nothing was changed, since all pending migrations share one transaction
 */
export async function migrate(url: string): Promise<string[]> {
  // Loaded on use: only the process that migrates pays for it.
  const { runner } = await import('node-pg-migrate');
  const applied = await runner({
    databaseUrl: { connectionString: url, application_name: 'tollgate migrate', connectionTimeoutMillis: 10_000 },
    dir: MIGRATIONS_FOLDER,
    // Other files may lie beside the SQL, such as editors' backups.
    ignorePattern: '(?!.*\\.sql$).*',
    migrationsTable: MIGRATIONS_TABLE,
    direction: 'up',
    advisoryLockMode: 'wait',
    log: () => undefined,
  });
  return applied.map(({ name }) => name);
}
