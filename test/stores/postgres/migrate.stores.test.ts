import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { describeSchema } from './describe-schema';
import { migrate, migrationNames, MIGRATIONS_FOLDER } from '../../../plugins/stores/postgres/migrate';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';
import { useDatabase } from '../use-database';
import { NEXT_MIGRATION_NAME, nextVersionMigrations } from '../../support/system/next-version';

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
      await expect(migrate(database.url, { folder, patienceMs: 100 })).rejects.toThrow('a transaction that takes long uses the tables');
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
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase({ empty: true });
    await migrate(database.url);
  });
  afterAll(() => database.close());

  it('is what plugins/stores/postgres/schema.sql says; `npm run schema` writes the file', async () => {
    const described = await describeSchema(database.pool);
    if (IS_RECORDING) writeFileSync(SCHEMA_FILE, described);
    expect(described).toBe(readFileSync(SCHEMA_FILE, 'utf8'));
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
