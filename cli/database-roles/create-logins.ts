import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DATABASE_ROLES, type DatabaseRole, OWNER_ROLE } from './privileges';

/** PostgreSQL's default (scram_iterations). */
const SCRAM_ITERATIONS = 4_096;
const LOCK = 720_260_022;

/** The form in which PostgreSQL stores a password (RFC 5803). With it, neither the statement nor a log of statements holds the password. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyOf('Server Key').toString('base64')}`;
}

/** A single block, so that the role exists afterwards even if another process creates it at the same time. */
function ensureLogin(role: DatabaseRole, password: string): string {
  return `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role}; END IF;
    ALTER ROLE ${role} LOGIN PASSWORD '${scramVerifier(password)}';
  END $$`;
}

/**
 * Hands the database, the schema and everything in it over to the owner's role. Until then, objects that a superuser created or restored
 * belong to the superuser. Sequences of columns follow their tables. Extensions keep their owner.
 */
const HAND_OVER = `
DO $$ DECLARE item record; BEGIN
  EXECUTE format('ALTER DATABASE %I OWNER TO ${OWNER_ROLE}', current_database());
  ALTER SCHEMA public OWNER TO ${OWNER_ROLE};
  FOR item IN
    SELECT format('ALTER TABLE %s OWNER TO ${OWNER_ROLE}', oid::regclass) AS command FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND relowner <> '${OWNER_ROLE}'::regrole
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO ${OWNER_ROLE}', oid::regprocedure) FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND proowner <> '${OWNER_ROLE}'::regrole
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
  LOOP EXECUTE item.command; END LOOP;
END $$`;

/** The time-out that migrate.ts also uses when it changes tables in use. */
const LOCK_TIMEOUT_MS = 500;

/**
 * Gives every role a login, and the schema to the owner's role. Only for a server that Tollgate has to itself: under `npm start` and in
 * compose. It may run at every start.
 * @param adminUrl of a superuser, on Tollgate's database
 */
export async function createLogins(adminUrl: string, passwords: Readonly<Record<DatabaseRole, string>>): Promise<void> {
  const admin = new Client({ connectionString: adminUrl, application_name: 'tollgate roles', lock_timeout: LOCK_TIMEOUT_MS });
  admin.on('error', () => undefined);
  await admin.connect();
  try {
    await admin.query('BEGIN');
    await admin.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    for (const role of DATABASE_ROLES) await admin.query(ensureLogin(role, passwords[role]));
    await admin.query(HAND_OVER);
    await admin.query('COMMIT');
  } finally {
    await admin.end();
  }
}

/** The same database under another login. */
export function loginUrl(url: string, role: DatabaseRole, password: string): string {
  const changed = new URL(url);
  changed.username = role;
  changed.password = encodeURIComponent(password);
  return changed.href;
}
