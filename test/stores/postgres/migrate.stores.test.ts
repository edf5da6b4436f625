import { getMigrations } from 'better-auth/db/migration';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { migrate, migrationNames, MIGRATIONS_FOLDER } from '../../../plugins/stores/postgres/migrate';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';
import { createAuth } from '../../../services/dashboard/sign-in/create-auth';
import { createLog } from '../../../services/kit/log';
import { useDatabase } from '../../support/postgres/use-database';
import { NEXT_MIGRATION_NAME, nextVersionMigrations } from '../../support/system/next-version';
import { type Database } from '../../../plugins/stores/postgres/database';

/** A table or function, and the statements that make it. Each statement starts on a new line. */
interface SchemaObject {
  readonly about: string | null;
  readonly text: string;
}

/** Names and kinds only: a name's own rights and its owner differ from one installation to the next. Extensions' objects are left out. */
const TABLES = `
SELECT obj_description(c.oid, 'pg_class') AS about, 'CREATE TABLE ' || c.oid::regclass || E' (\\n' || array_to_string(ARRAY(
    SELECT format('  %I %s', attname, format_type(atttypid, atttypmod))
      || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
      || CASE WHEN attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE COALESCE(' DEFAULT ' || pg_get_expr(adbin, adrelid), '') END
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum
  ) || ARRAY(
    SELECT format('  CONSTRAINT %I %s', conname, pg_get_constraintdef(oid, true)) FROM pg_constraint
    WHERE conrelid = c.oid AND contype IN ('p', 'u', 'f', 'c', 'x') ORDER BY position(contype IN 'pufcx'), conname
  ), E',\\n') || E'\\n)' || COALESCE(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') || ';' || array_to_string(ARRAY(
    SELECT E'\\n' || pg_get_indexdef(indexrelid, 0, true) || ';' FROM pg_index
    WHERE indrelid = c.oid AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = c.oid)
    ORDER BY indexrelid::regclass::text
  ) || ARRAY(
    SELECT E'\\n' || pg_get_triggerdef(oid, true) || ';'
      || CASE WHEN tgenabled <> 'O' THEN format(E'\\nALTER TABLE %s DISABLE TRIGGER %I;', c.oid::regclass, tgname) ELSE '' END
    FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal ORDER BY tgname
  ), '') AS text
FROM pg_class c
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
ORDER BY relname`;

const FUNCTIONS = `
SELECT obj_description(p.oid, 'pg_proc') AS about, CASE prokind
    WHEN 'a' THEN format('CREATE AGGREGATE %s (SFUNC = %s, STYPE = %s)', p.oid::regprocedure, aggtransfn, format_type(aggtranstype, NULL))
    ELSE rtrim(pg_get_functiondef(p.oid), E'\\n')
  END || ';' || CASE WHEN EXISTS (
    SELECT FROM aclexplode(COALESCE(proacl, acldefault('f', proowner))) WHERE grantee = 0
  ) THEN '' ELSE format(E'\\nREVOKE ALL ON FUNCTION %s FROM PUBLIC;', p.oid::regprocedure) END AS text
FROM pg_proc p LEFT JOIN pg_aggregate ON aggfnoid = p.oid
WHERE pronamespace = 'public'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
ORDER BY p.oid::regprocedure::text`;

/** Maximum length of a line of prose. PostgreSQL's own text is left as it is. */
const WIDTH = 140;

function commentOf(about: string): string {
  const lines = ['--'];
  for (const word of about.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + 1 + word.length > WIDTH) lines.push(`-- ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return `${lines.join('\n')}\n`;
}

/**
 * The whole schema as text: tables with their constraints, indexes and triggers, then functions, each under what it is for. Its order is stable;
 * that of pg_dump differs by version. Rights of roles are not part of it (cli/database-roles), except those of functions that only some may call.
 */
async function describeSchema(db: Pick<Database, 'query'>): Promise<string> {
  const { rows: tables } = await db.query<SchemaObject>(TABLES);
  const { rows: functions } = await db.query<SchemaObject>(FUNCTIONS);
  return [...tables, ...functions].map(({ about, text }) => `${about === null ? '' : commentOf(about)}${text}\n`).join('\n');
}

describe('migrations', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase({ empty: true });
  });
  afterEach(() => database.close());

  it('lets two starters migrate an empty database at once', async () => {
    const applied = await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(applied.flat()).toContain('0001_catalogue');
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    await expect(database.pool.query('SELECT count(*) FROM credential')).resolves.toBeDefined();
  });

  it('refuses a migration that comes before one which is applied', async () => {
    const folder = nextVersionMigrations();
    await migrate(database.url, { folder });
    writeFileSync(join(folder, '9998_late.sql'), 'CREATE TABLE late (id integer)');
    await expect(migrate(database.url, { folder })).rejects.toThrow(`migration 9998_late comes before ${NEXT_MIGRATION_NAME}`);
  });

  it('changes nothing and says why when a transaction stays in the way', async () => {
    await migrate(database.url);
    const blocker = await database.pool.connect();
    try {
      await blocker.query('BEGIN');
      await blocker.query('SELECT count(*) FROM credential');
      const folder = nextVersionMigrations();
      await expect(migrate(database.url, { folder, patienceMs: 100 })).rejects.toThrow('a long transaction is using the tables');
      await blocker.query('ROLLBACK');
      await expect(migrate(database.url, { folder })).resolves.toEqual([NEXT_MIGRATION_NAME]);
    } finally {
      blocker.release();
    }
  });
});

/**
 * What running processes would not survive: they still read and write what these take away or narrow. A constraint that goes does neither,
 * nor does a numeric column that loses its bounds: no row is rewritten, and what was written reads as before.
 */
const TAKES_AWAY =
  /\b(DROP\s+(?!INDEX\s+CONCURRENTLY|CONSTRAINT\b|NOT\s+NULL\b)|RENAME\b|TRUNCATE\b|ALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?(TYPE\s+(?!numeric\s*;)|SET\s+NOT\s+NULL)|LOCK\s+TABLE)/i;
/** No version that was released runs without the baseline. */
const LAST_OF_BASELINE = '0012_customer_listing';

function withoutComments(sql: string): string {
  return sql.replace(/--.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '');
}

describe('the migration files', () => {
  const sqlOf = (name: string): string => readFileSync(join(MIGRATIONS_FOLDER, `${name}.sql`), 'utf8');

  it('only go forward', () => {
    for (const name of migrationNames()) expect(sqlOf(name)).not.toMatch(/^--\s*Down Migration/im);
  });

  it('only add: processes that run go on working on what they leave behind', () => {
    for (const name of migrationNames().filter((each) => each > LAST_OF_BASELINE))
      expect(withoutComments(sqlOf(name))).not.toMatch(TAKES_AWAY);
    expect('ALTER TABLE a DROP COLUMN b').toMatch(TAKES_AWAY);
    expect('ALTER TABLE a ALTER COLUMN b SET NOT NULL').toMatch(TAKES_AWAY);
    expect('ALTER TABLE a ALTER COLUMN b TYPE text;').toMatch(TAKES_AWAY);
    expect('ALTER TABLE a ALTER COLUMN b TYPE numeric(12, 1);').toMatch(TAKES_AWAY);
    expect('ALTER TABLE a ALTER COLUMN b TYPE numeric;').not.toMatch(TAKES_AWAY);
    expect('ALTER TABLE a ADD COLUMN b text').not.toMatch(TAKES_AWAY);
    expect('ALTER TABLE a DROP CONSTRAINT b').not.toMatch(TAKES_AWAY);
    expect('DROP TABLE a').toMatch(TAKES_AWAY);
    expect('DROP INDEX a').toMatch(TAKES_AWAY);
  });
});

/** The schema as the migrations of this version leave it. */
const SCHEMA_FILE = join(process.cwd(), 'plugins', 'stores', 'postgres', 'schema.sql');
/** Set to anything, schema.sql is written anew: `npm run schema`. */
const IS_RECORDING = process.env['RECORD_SCHEMA'] !== undefined;

describe('the schema', () => {
  const database = useDatabase({ empty: true });
  beforeAll(() => migrate(database.url));

  it('is what plugins/stores/postgres/schema.sql says; `npm run schema` writes the file', async () => {
    const described = await describeSchema(database.pool);
    if (IS_RECORDING) writeFileSync(SCHEMA_FILE, described);
    expect(described).toBe(readFileSync(SCHEMA_FILE, 'utf8'));
  });

  it('has the tables that better-auth expects: its own check finds nothing to create, to add or of another type', async () => {
    const log = createLog('dashboard', { level: 'silent' });
    const mail = { send: () => Promise.resolve(), close: () => undefined };
    const auth = await createAuth({ db: database.pool, secret: 's'.repeat(40), url: 'https://dashboard.example.com', mail, log });
    // It knows the type by its long name only, which PostgreSQL does not report.
    const mistaken = ['last_request in table auth_rate_limit', 'counter in table auth_passkey'].map(
      (field) => `Field ${field} has a different type in the database. Expected number but got float8.`,
    );
    const warnings: string[] = [];
    const logger = {
      level: 'warn' as const,
      log: (_level: string, message: string) => !mistaken.includes(message) && void warnings.push(message),
    };
    const plan = await getMigrations({ ...auth.options, logger });
    const { toBeCreated, toBeAdded } = plan;
    expect({ toBeCreated, toBeAdded, warnings, sql: await plan.compileMigrations() }).toEqual({
      toBeCreated: [],
      toBeAdded: [],
      warnings: [],
      sql: ';',
    });
  });

  it('says of each table and function what it is for', async () => {
    const { rows } = await database.pool.query(`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND obj_description(oid, 'pg_class') IS NULL
      UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL`);
    expect(rows).toEqual([]);
  });
});

describe('the catalogue in the database', () => {
  const database = useDatabase();

  it('takes changed figures, retires plans that are gone and tells nobody when nothing changed', async () => {
    const listener = new Client({ connectionString: database.url });
    await listener.connect();
    const heard: (string | undefined)[] = [];
    listener.on('notification', ({ payload }) => heard.push(payload));
    await listener.query('LISTEN tollgate_changes');
    const pool = createPool(database.url);
    await applyCatalogue(pool, CATALOGUE, { actor: 'test' });
    await listener.query('SELECT 1');
    expect(heard).toEqual([]);

    const changed = PRODUCTS.map((product) =>
      product.id === 'api-ip' ? { ...product, base: { daily: 5, monthly: 50 }, plans: [] } : product,
    );
    await applyCatalogue(pool, createCatalogue(changed), { actor: 'test' });
    await listener.query('SELECT 1');
    expect(heard.map((payload) => JSON.parse(payload ?? ''))).toEqual([{ product: 'api-ip' }, { plan: 'Star', product: 'api-ip' }]);
    const { rows } = await pool.query("SELECT daily, active FROM plan WHERE product_id = 'api-ip'");
    expect(rows).toEqual([{ daily: 100_000, active: false }]);
    await applyCatalogue(pool, CATALOGUE, { actor: 'test' });
    await pool.end();
    await listener.end();
  });
});
