import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Pool } from 'pg';
import { createLogins, loginUrl } from '../../cli/database-roles/create-logins';
import { grantPrivileges } from '../../cli/database-roles/grant-privileges';
import { DATABASE_ROLES, type DatabaseRole, OWNER_ROLE, PROCESS_ROLES, TABLE_PRIVILEGES } from '../../cli/database-roles/privileges';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../cli/postgres/embedded-postgres';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { CATALOGUE } from '../support/catalogue';
import { openedForTests } from '../support/opened';

/** Roles belong to a whole server, so that these tests have one of their own. */
let server: EmbeddedPostgres;
const pools: Pool[] = [];
const passwords: Record<DatabaseRole, string> = {
  tollgate_migrate: "migrate-'quoted'-/:@",
  tollgate_plugin: 'plugin-password',
  tollgate_dashboard: 'dashboard-password',
  tollgate_service: 'service-password',
};

function open(url: string): Pool {
  const pool = createPool(url, { max: 2 });
  pools.push(pool);
  return pool;
}

const urlOf = (role: DatabaseRole): string => loginUrl(server.url, role, passwords[role]);

/** `done`, or the SQLSTATE and message of the refusal. */
async function attempt(db: Pool, statement: string): Promise<string> {
  try {
    await db.query(statement);
    return 'done';
  } catch (error) {
    return `${String((error as { code?: unknown }).code)} ${(error as Error).message}`;
  }
}

/** That the role may do none of this. */
async function expectRefusals(db: Pool, ...statements: string[]): Promise<void> {
  for (const statement of statements)
    expect([statement, await attempt(db, statement)]).toEqual([statement, expect.stringMatching(/^42501 /)]);
}

const opened = openedForTests();
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-roles-'));
  const starting = startEmbeddedPostgres({ dataDir: join(folder, 'pg'), settings: { fsync: 'off' } });
  server = await opened.keep(starting, async (each) => {
    await Promise.all(pools.map((pool) => pool.end()));
    await each.stop();
  });
});

it('a database whose user may not create roles stays as it is until somebody who may has created them', async () => {
  const admin = open(server.url);
  await admin.query("CREATE ROLE plain LOGIN PASSWORD 'plain'");
  await admin.query('CREATE DATABASE plain OWNER plain');
  const url = server.url.replace(/\/\/.*@(.*)\/tollgate$/, '//plain:plain@$1/plain');
  await migrate(url);
  const db = open(url);
  expect(await grantPrivileges(db)).toBe(false);
  for (const role of PROCESS_ROLES) await admin.query(`CREATE ROLE ${role}`);
  expect(await grantPrivileges(db)).toBe(true);
});

describe('the roles of the database', () => {
  let admin: Pool;
  let owner: Pool;

  beforeAll(async () => {
    admin = open(server.url);
    // As a restore leaves it: everything belongs to the superuser.
    await migrate(server.url);
    await createLogins(server.url, passwords);
    owner = open(urlOf(OWNER_ROLE));
    await migrate(urlOf(OWNER_ROLE));
    await applyCatalogue(owner, CATALOGUE, { actor: 'test' });
    await grantPrivileges(owner);
    await owner.query("INSERT INTO customer (id, email) VALUES ('00000000-0000-4000-8000-000000000001', 'a@example.com')");
    await owner.query(`INSERT INTO credential (customer_id, hash, prefix, last_four, mode)
      VALUES ('00000000-0000-4000-8000-000000000001', sha256('x'), 'tg_live', 'abcd', 'live')`);
  });

  it('have no more than a login, and passwords of their own', async () => {
    const { rows } = await admin.query(
      'SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls AS more FROM pg_roles WHERE rolname = ANY($1)',
      [DATABASE_ROLES],
    );
    expect(rows).toEqual(DATABASE_ROLES.map(() => ({ more: false })));
    const other = loginUrl(server.url, 'tollgate_plugin', passwords.tollgate_service);
    expect(await attempt(open(other), 'SELECT 1')).toMatch(/^28P01 /);
  });

  it('leave schema, tables and functions to the owner, also those that a superuser made', async () => {
    const { rows } = await admin.query(`SELECT DISTINCT owner::regrole::text FROM (
      SELECT relowner AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace
      UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      UNION ALL SELECT nspowner FROM pg_namespace WHERE nspname = 'public'
      UNION ALL SELECT datdba FROM pg_database WHERE datname = 'tollgate') AS owners`);
    expect(rows).toEqual([{ owner: OWNER_ROLE }]);
  });

  it('say of every table which process uses it', async () => {
    const { rows } = await admin.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
    const named = new Set(['schema_migration', ...Object.values(TABLE_PRIVILEGES).flatMap((tables) => Object.keys(tables))]);
    expect(rows.map(({ name }) => name)).toEqual([...named].sort());
  });

  it.each(DATABASE_ROLES)('%s runs no program, reads no file and becomes nobody else', async (role) => {
    const db = open(urlOf(role));
    await expectRefusals(
      db,
      "COPY (SELECT 1) TO PROGRAM 'true'",
      "COPY customer FROM '/etc/passwd'",
      "SELECT pg_read_file('/etc/passwd')",
      'SELECT * FROM pg_authid',
      'SET ROLE tollgate',
      'CREATE ROLE another',
      'CREATE DATABASE another',
      `ALTER ROLE ${role === 'tollgate_plugin' ? 'tollgate_service' : 'tollgate_plugin'} PASSWORD 'x'`,
    );
  });

  it.each(PROCESS_ROLES)('%s changes no schema, neither temporarily, and forges no history', async (role) => {
    const db = open(urlOf(role));
    await expectRefusals(
      db,
      'CREATE TABLE mine (n int)',
      'CREATE TEMP TABLE mine (n int)',
      'CREATE SCHEMA mine',
      'ALTER TABLE credential DISABLE TRIGGER credential_is_final',
      'DROP TABLE decision',
      'TRUNCATE usage',
      'CREATE OR REPLACE FUNCTION quota_forget_refunds() RETURNS void LANGUAGE sql AS $$ SELECT $$',
      "UPDATE audit_log SET actor = 'nobody'",
      'DELETE FROM audit_log',
      'SELECT * FROM schema_migration',
      'DELETE FROM customer',
      "UPDATE product SET daily = 1000000 WHERE id = 'api-ip'",
    );
  });

  it('the plugin server reads keys and counts, and changes no key and no account', async () => {
    const db = open(urlOf('tollgate_plugin'));
    expect(await attempt(db, 'UPDATE credential SET last_used_at = now()')).toBe('done');
    const key = '00000000-0000-4000-8000-000000000002';
    const answers = [{ credentialId: key, day: '2026-11-20', hour: 3, product: 'api-ip', succeeded: 1, took: [1] }];
    await db.query("SELECT note_answers($1::json), note_requests('[]')", [JSON.stringify(answers)]);
    await expectRefusals(
      db,
      "UPDATE credential SET state = 'active'",
      'DELETE FROM credential',
      'INSERT INTO whitelist_rule SELECT id FROM credential',
      'UPDATE subscription SET daily_override = 9',
      'SELECT * FROM auth_account',
      'SELECT * FROM webhook',
      'SELECT email FROM customer',
    );
  });

  it('the dashboard counts nothing and writes no decision', async () => {
    const db = open(urlOf('tollgate_dashboard'));
    await expectRefusals(
      db,
      'UPDATE usage SET refunded = 0',
      'INSERT INTO quota_refund SELECT',
      'DELETE FROM decision',
      'SELECT * FROM quota_give_back(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)',
    );
  });

  it('services give units back, and read and change nothing else', async () => {
    const db = open(urlOf('tollgate_service'));
    const subscription = '00000000-0000-4000-8000-000000000002';
    await owner.query('INSERT INTO usage (subscription_id, day, spent_postgres) VALUES ($1, now()::date, 3)', [subscription]);
    const giveBack = `SELECT outcome FROM quota_give_back(ARRAY['request'], ARRAY['${subscription}']::uuid[], ARRAY[now()::date], ARRAY[1::bigint], 'UTC', 0, ARRAY[9::bigint], ARRAY[false])`;
    expect((await db.query(giveBack)).rows).toEqual([{ outcome: 'refunded' }]);
    expect((await db.query(giveBack)).rows).toEqual([{ outcome: 'repeated' }]);
    const capped = giveBack.replace("['request']", "['another']").replace('ARRAY[9::bigint]', 'ARRAY[0::bigint]');
    expect((await db.query(capped)).rows).toEqual([{ outcome: 'capped' }]);
    await db.query(`SELECT * FROM quota_sync(ARRAY['${subscription}']::uuid[], ARRAY[now()::date], ARRAY[1::bigint], ARRAY[0::bigint])`);
    await db.query('SELECT quota_forget_refunds()');
    expect((await owner.query('SELECT count(*)::int FROM quota_refund')).rows).toEqual([{ count: 1 }]);
    const { rows } = await admin.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
    await expectRefusals(
      db,
      ...rows.flatMap(({ name }) => [`SELECT FROM ${name}`, `DELETE FROM ${name}`, `INSERT INTO ${name} DEFAULT VALUES`]),
      'UPDATE credential SET last_used_at = now()',
      'UPDATE usage SET refunded = 0',
      "SELECT note_answers('[]')",
      `SELECT * FROM quota_take(ARRAY['${subscription}']::uuid[], ARRAY[1::bigint], ARRAY[9::bigint], ARRAY[9::bigint], 'UTC', 0, '{}', '{}', '{}', '{}', '{}', '{}')`,
    );
  });

  it('functions with the owner’s rights look up names in no schema of their caller', async () => {
    const { rows } = await admin.query<{ proname: string; proconfig: string[] | null; acl: string }>(
      "SELECT proname, proconfig, proacl::text AS acl FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace ORDER BY 1",
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { proname, proconfig } of rows) expect([proname, proconfig]).toEqual([proname, ['search_path=public, pg_temp']]);
    for (const { acl } of rows) expect(acl).not.toMatch(/[{,]=X/);
  });

  it('take new passwords and new tables at the next start', async () => {
    await admin.query('CREATE TABLE left_by_superuser (n int)');
    const changed = { ...passwords, tollgate_plugin: 'another' };
    await createLogins(server.url, changed);
    expect(await attempt(open(urlOf('tollgate_plugin')), 'SELECT 1')).toMatch(/^28P01 /);
    expect(await attempt(open(loginUrl(server.url, 'tollgate_plugin', 'another')), 'SELECT 1')).toBe('done');
    expect(await attempt(owner, 'DROP TABLE left_by_superuser')).toBe('done');
  });
});
