import { type Pool, type PoolClient } from 'pg';
import { inTransaction } from '../../plugins/stores/postgres/database';
import {
  ANSWER_FUNCTIONS,
  ANSWER_ROLES,
  ERASING_FUNCTIONS,
  ERASING_ROLES,
  PROCESS_ROLES,
  PRUNING_FUNCTIONS,
  PRUNING_ROLES,
  REFUND_FUNCTIONS,
  REFUND_ROLES,
  TABLE_PRIVILEGES,
} from './privileges';

/** An arbitrary number that nothing else locks. Without the lock, several starters would write the same catalogue rows at once. */
const LOCK = 720_260_021;

const INSUFFICIENT_PRIVILEGE = '42501';
/** Codes for a duplicate role and a unique violation: another starter created the role at the same time. */
const ALREADY_THERE: readonly unknown[] = ['42710', '23505'];

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

/**
 * Creates group roles without a login. Roles belong to the whole server, so they may already exist for another database.
 * @returns false when this user may not create them
 */
async function ensureRoles(db: Pool): Promise<boolean> {
  const { rows } = await db.query<{ name: string }>('SELECT rolname AS name FROM pg_roles WHERE rolname = ANY($1)', [PROCESS_ROLES]);
  const missing = PROCESS_ROLES.filter((role) => !rows.some(({ name }) => name === role));
  for (const role of missing) {
    try {
      await db.query(`CREATE ROLE ${role} NOLOGIN`);
    } catch (error) {
      if (codeOf(error) === INSUFFICIENT_PRIVILEGE) return false;
      if (!ALREADY_THERE.includes(codeOf(error))) throw error;
    }
  }
  return true;
}

/** Lets only the owner create tables, including temporary ones. A database that belongs to somebody else is left alone. */
const CLOSE_SCHEMA = `
DO $$ BEGIN
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$`;

async function grantTables(client: PoolClient): Promise<void> {
  for (const role of PROCESS_ROLES) {
    await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`);
    await client.query(`GRANT USAGE ON SCHEMA public TO ${role}`);
  }
  for (const [role, tables] of Object.entries(TABLE_PRIVILEGES)) {
    for (const [table, privileges] of Object.entries(tables)) await client.query(`GRANT ${privileges} ON ${table} TO ${role}`);
  }
}

/** Grants execution by name, because a later migration may change the parameters. */
async function openFunctions(client: PoolClient, names: readonly string[], roles: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ signature: string }>(
    `SELECT oid::regprocedure::text AS signature FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = ANY($1)`,
    [names],
  );
  for (const { signature } of rows) {
    // Without a fixed search path, a function would use the caller's tables with the owner's rights.
    await client.query(`ALTER FUNCTION ${signature} SECURITY DEFINER SET search_path = public, pg_temp`);
    await client.query(`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC, ${PROCESS_ROLES.join(', ')}`);
    await client.query(`GRANT EXECUTE ON FUNCTION ${signature} TO ${roles.join(', ')}`);
  }
}

/**
 * Gives the process roles exactly the rights that they need in the migrated schema. It may run at every start, even under running
 * processes: everything changes in one transaction. Roles get no login here; see create-logins.ts.
 * @param db connected as the schema's owner
 * @returns false when the roles are missing and this user may not create them; nothing was changed then, and every process keeps its
 * present role
 */
export async function grantPrivileges(db: Pool): Promise<boolean> {
  if (!(await ensureRoles(db))) return false;
  await inTransaction(db, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(CLOSE_SCHEMA);
    await grantTables(client);
    await openFunctions(client, REFUND_FUNCTIONS, REFUND_ROLES);
    await openFunctions(client, ANSWER_FUNCTIONS, ANSWER_ROLES);
    await openFunctions(client, PRUNING_FUNCTIONS, PRUNING_ROLES);
    await openFunctions(client, ERASING_FUNCTIONS, ERASING_ROLES);
  });
  return true;
}

/** The advice to a platform engineer when {@link grantPrivileges} returns false. */
export const ROLES_MISSING =
  'the database user may not create roles: all processes share its rights. As a user who can create roles, run ' +
  `CREATE ROLE ${PROCESS_ROLES.join('; CREATE ROLE ')}; then migrate again (docs/operate/secrets.md)`;
