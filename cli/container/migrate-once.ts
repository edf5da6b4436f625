import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { catalogueFile, readCatalogue } from '../../services/kit/read-catalogue';
import { grantPrivileges, ROLES_MISSING } from '../database-roles/grant-privileges';
import { updateApiDocuments } from '../api-documents';
import { readMigrationStanding } from '../postgres/migrations';

export interface Migrated {
  /** Names of the migrations that this call applied. */
  readonly applied: readonly string[];
  /** Sentences for the platform engineer. */
  readonly notes?: readonly string[];
}

/**
 * Brings schema, products with their API documents, plans and the privileges of the process roles up to date, and nothing else. It may run
 * repeatedly, and several times at once.
 * @param catalogue path of the catalogue
 * @throws Error with one readable sentence; a database of a newer version is left alone
 */
export async function migrateOnce(url: string | undefined, catalogue: string = catalogueFile({})): Promise<Migrated> {
  if (!url) throw new Error('DATABASE_URL is required');
  const pool = createPool(url, { max: 1, applicationName: 'tollgate migrate' });
  try {
    const { pending, unknown } = await readMigrationStanding(pool);
    if (unknown.length > 0) throw new Error(`it was used by a newer version of Tollgate (migration ${unknown.join(', ')})`);
    const applied = pending.length > 0 ? await migrate(url) : [];
    const sold = readCatalogue(catalogue);
    await applyCatalogue(pool, sold, { actor: 'migrate' });
    const notes = [...(await updateApiDocuments(pool, sold, catalogue)), ...((await grantPrivileges(pool)) ? [] : [ROLES_MISSING])];
    return { applied, ...(notes.length > 0 && { notes }) };
  } catch (cause) {
    throw new Error(`the database cannot be migrated: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  } finally {
    await pool.end();
  }
}
