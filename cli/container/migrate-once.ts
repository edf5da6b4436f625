import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { seedCatalogue } from '../../plugins/stores/postgres/seed-catalogue';
import { readMigrationStanding } from '../supervisor/migrations';

/**
 * Brings schema, products and plans up to date, and nothing else. May run again, and several times at once.
 * @returns the names of the migrations that this call applied
 * @throws Error with one readable sentence; a database of a newer version is left alone
 */
export async function migrateOnce(url: string | undefined): Promise<string[]> {
  if (!url) throw new Error('DATABASE_URL is required');
  const pool = createPool(url, { max: 1, applicationName: 'tollgate migrate' });
  try {
    const { pending, unknown } = await readMigrationStanding(pool);
    if (unknown.length > 0) throw new Error(`it was used by a newer version of Tollgate (migration ${unknown.join(', ')})`);
    const applied = pending.length > 0 ? await migrate(url) : [];
    await seedCatalogue(pool);
    return applied;
  } catch (cause) {
    throw new Error(`the database cannot be migrated: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  } finally {
    await pool.end();
  }
}
