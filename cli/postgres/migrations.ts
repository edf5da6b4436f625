import { type Pool } from 'pg';
import { isFromBeforeBaseline } from '../../plugins/stores/postgres/adopt-schema';
import { migrationNames } from '../../plugins/stores/postgres/migrate';

export interface MigrationStanding {
  /** Names that this version has and the database has not. */
  readonly pending: readonly string[];
  /** Names that only the database has: it was used by a newer version. */
  readonly unknown: readonly string[];
}

/** True for a query that met a database without our tables. */
export function isMissingTable(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '42P01';
}

async function readApplied(db: Pool): Promise<string[]> {
  try {
    const { rows } = await db.query<{ name: string }>('SELECT name FROM schema_migration ORDER BY name');
    return rows.map(({ name }) => name);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

/** Compares the database with the migrations of this version. A database from before 0.1.0 has none of them yet, and none that is newer. */
export async function readMigrationStanding(db: Pool): Promise<MigrationStanding> {
  const wanted = migrationNames();
  const applied = await readApplied(db);
  if (isFromBeforeBaseline(applied)) return { pending: wanted, unknown: [] };
  return { pending: wanted.filter((name) => !applied.includes(name)), unknown: applied.filter((name) => !wanted.includes(name)) };
}
