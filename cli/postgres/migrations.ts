import { type Pool } from 'pg';
import { migrationNames } from '../../plugins/stores/postgres/migrate';

export interface MigrationStanding {
  /** Names that this version has and the database lacks. */
  readonly pending: readonly string[];
  /** Names that only the database has, because a newer version used it. */
  readonly unknown: readonly string[];
}

/** True for an error of a query on a database without our tables. */
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

/** Compares the database with the migrations of this version. */
export async function readMigrationStanding(db: Pool): Promise<MigrationStanding> {
  const wanted = migrationNames();
  const applied = await readApplied(db);
  return { pending: wanted.filter((name) => !applied.includes(name)), unknown: applied.filter((name) => !wanted.includes(name)) };
}
