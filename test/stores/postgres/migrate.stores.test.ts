import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { migrate, MIGRATIONS_FOLDER } from '../../../plugins/stores/postgres/migrate';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { createCatalogue } from '../../../plugins/core/selling/catalogue';
import { applyCatalogue } from '../../../plugins/stores/postgres/catalogue/apply-catalogue';
import { NEXT_MIGRATION_NAME, nextVersionMigrations } from '../../support/system/next-version';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';

describe('migrations', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase({ empty: true });
  });
  afterEach(() => database.close());

  it('lets two starters migrate an empty database at once', async () => {
    const applied = await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(applied.flat()).toContain('0001_access');
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    await expect(database.pool.query('SELECT count(*) FROM credential')).resolves.toBeDefined();
  });

  it('has nothing to do the second time', async () => {
    await migrate(database.url);
    await expect(migrate(database.url)).resolves.toEqual([]);
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

/** What the version before would not survive: it still reads and writes what these take away or narrow. A constraint that goes does neither. */
const TAKES_AWAY =
  /\b(DROP\s+(?!INDEX\s+CONCURRENTLY|CONSTRAINT\b|NOT\s+NULL\b)|RENAME\b|TRUNCATE\b|ALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?(TYPE|SET\s+NOT\s+NULL)|LOCK\s+TABLE)/i;
/** Those before the first release, which no older version ran beside. */
const FIRST = ['0001_access.sql', '0002_quota.sql'];

/** Indexes that made room for another which answers the same queries: the version before finds its rows by that one. */
const REPLACED_INDEXES: Readonly<Record<string, string>> = {
  decision_request_id_idx: 'CREATE INDEX decision_request_idx ON decision USING hash (request_id);',
};

/** Without the statements that drop a replaced index; the file itself must make the one in its place. */
function withoutReplacedIndexes(sql: string): string {
  const replaced = Object.entries(REPLACED_INDEXES).filter(([, instead]) => sql.includes(instead));
  return replaced.reduce((text, [index]) => text.replace(`DROP INDEX ${index};`, ''), sql);
}

function withoutComments(sql: string): string {
  return sql.replace(/--.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '');
}

describe('the migration files', () => {
  const files = readdirSync(MIGRATIONS_FOLDER).filter((name) => name.endsWith('.sql'));

  it('only go forward', () => {
    for (const file of files) expect(readFileSync(join(MIGRATIONS_FOLDER, file), 'utf8')).not.toMatch(/^--\s*Down Migration/im);
  });

  it('only add: the version before goes on working on what they leave behind', () => {
    for (const file of files.filter((name) => !FIRST.includes(name))) {
      const sql = withoutComments(readFileSync(join(MIGRATIONS_FOLDER, file), 'utf8'));
      expect(withoutReplacedIndexes(sql)).not.toMatch(TAKES_AWAY);
    }
    expect('ALTER TABLE a DROP COLUMN b').toMatch(TAKES_AWAY);
    expect('ALTER TABLE a ALTER COLUMN b SET NOT NULL').toMatch(TAKES_AWAY);
    expect('ALTER TABLE a ADD COLUMN b text').not.toMatch(TAKES_AWAY);
    expect('ALTER TABLE a DROP CONSTRAINT b').not.toMatch(TAKES_AWAY);
    expect('DROP TABLE a').toMatch(TAKES_AWAY);
    expect(withoutReplacedIndexes('DROP INDEX decision_request_id_idx;')).toMatch(TAKES_AWAY);
  });
});

describe('the catalogue in the database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());

  it('holds every product and plan with the published figures', async () => {
    const { rows: products } = await database.pool.query('SELECT id, daily, monthly FROM product ORDER BY id');
    const wanted = PRODUCTS.map(({ id, base }) => ({ id, daily: base?.daily ?? null, monthly: base?.monthly ?? null }));
    expect(products).toEqual(wanted.sort((a, b) => (a.id < b.id ? -1 : 1)));
    const { rows: plans } = await database.pool.query('SELECT product_id, daily, monthly, price, currency FROM plan WHERE active');
    expect(plans).toHaveLength(PRODUCTS.flatMap(({ plans: offered }) => offered).length);
    expect(plans).toContainEqual({ product_id: 'api-grank', daily: 1_000_000, monthly: 10_000_000, price: '499.00', currency: 'INR' });
  });

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
