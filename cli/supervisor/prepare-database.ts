import { type Pool } from 'pg';
import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { seedDemoCustomer } from '../../services/selling/customers/join-customer';
import { grantPrivileges, ROLES_MISSING } from '../database-roles/grant-privileges';
import { describeConnectionError, isConnectionError } from '../database-problem';
import { readMigrationStanding } from '../postgres/migrations';

/** For a connection and for each statement: on a busy machine a server that has just started may take some seconds for its first. */
const PATIENCE_MS = 30_000;

async function prepare(db: Pool, url: string, catalogue: Catalogue): Promise<string | undefined> {
  const { pending, unknown } = await readMigrationStanding(db);
  if (unknown.length > 0) {
    throw new Error(`the database was used by a newer version of Tollgate (migration ${unknown.join(', ')}); start that version`);
  }
  // Asking is cheap; the program that migrates takes longer to load than everything else here.
  if (pending.length > 0) await migrate(url);
  await applyCatalogue(db, catalogue, { actor: 'npm start' });
  await seedDemoCustomer(db);
  return (await grantPrivileges(db)) ? undefined : ROLES_MISSING;
}

/**
 * Brings schema and catalogue up to date and makes sure that there is a customer to begin with. May run at every start.
 * @returns what an operator should know of it, if anything
 * @throws Error with one readable sentence when the database cannot be used
 */
export async function prepareDatabase(url: string, catalogue: Catalogue): Promise<string | undefined> {
  const pool = createPool(url, { max: 1, statementTimeoutMs: PATIENCE_MS, applicationName: 'tollgate start' });
  try {
    return await prepare(pool, url, catalogue);
  } catch (cause) {
    if (isConnectionError(cause)) throw new Error(describeConnectionError(cause, url), { cause });
    throw new Error(`the database cannot be prepared: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  } finally {
    await pool.end();
  }
}
