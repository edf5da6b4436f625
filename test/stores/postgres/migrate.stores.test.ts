import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { migrateOnce } from '../../../cli/container/migrate-once';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { SCHEMA_FILE } from '../../../plugins/stores/postgres/adopt-schema';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { explainDecision } from '../../../services/selling/requests/explain-decision';
import { describeSchema } from '../../../plugins/stores/postgres/describe-schema';
import { fingerprintDatabase } from '../../../plugins/stores/postgres/fingerprint-database';
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
const LAST_OF_BASELINE = '0008_audit';

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

/** The schema that the last version before 0.1.0 left, with the names of its 40 migrations. */
const BEFORE = gunzipSync(readFileSync(join(process.cwd(), 'test', 'fixtures', 'database-before-0.1.0.sql.gz'))).toString();
/** A key with its decisions, one of them as versions before the last wrote it; a plan without a price in its own currency. */
const DATA = `
INSERT INTO product (id, title, description, daily, monthly) VALUES ('api-ip', 'IP', 'IP', 1000, 30000);
INSERT INTO plan (product_id, name, daily, monthly, price_inr) VALUES ('api-ip', 'Star', 100000, 3000000, 5);
INSERT INTO customer (id, email) VALUES ('00000000-0000-4000-8000-000000000001', 'a@example.com');
INSERT INTO subscription (customer_id, product_id, plan_name) VALUES ('00000000-0000-4000-8000-000000000001', 'api-ip', 'Star');
INSERT INTO credential (customer_id, hash, prefix, last_four, mode)
  VALUES ('00000000-0000-4000-8000-000000000001', sha256('x'), 'tg_live', 'abcd', 'live');
INSERT INTO usage SELECT id, '2026-11-20', 7, 5, 1 FROM subscription;
INSERT INTO audit_log (actor, action, subject_kind, subject_id) SELECT 'cli', 'key.create', 'credential', id FROM credential;
ALTER TABLE audit_log DISABLE TRIGGER audit_log_is_append_only;
UPDATE audit_log SET label = NULL;
ALTER TABLE audit_log ENABLE TRIGGER audit_log_is_append_only;
INSERT INTO decision (request_id, at, outcome, products, quota) VALUES ('old', now(), 'quota_daily_exceeded', '{api-ip}',
  '{"day": "2026-11-20", "usedDaily": 5, "usedMonthly": 9, "daily": 5, "monthly": 50, "exceeded": "daily", "isCapped": true}');
INSERT INTO decision (request_id, at, outcome, products, standing) VALUES ('new', now(), 'admitted', '{api-ip}', '2026-11-20 4 8 5 50');`;

/** Columns stand in another order, and comments in functions may be others. */
async function comparableSchema({ pool }: TestDatabase): Promise<string[]> {
  const lines = (await describeSchema(pool)).split('\n').map((line) => line.replace(/--.*/, '').trim().replace(/,$/, ''));
  return lines.filter((line) => line !== '').sort();
}

async function oldDatabase(): Promise<TestDatabase> {
  const old = await testDatabase({ empty: true });
  await old.pool.query(BEFORE);
  await old.pool.query(DATA);
  return old;
}

describe('a database from before 0.1.0', () => {
  let old: TestDatabase;
  beforeAll(async () => {
    old = await oldDatabase();
  });
  afterAll(() => old.close());

  it('becomes one of this version under two starters at once, and keeps what it holds', async () => {
    // Without columns that it had not.
    const subscriptions = async (): Promise<unknown[]> =>
      (
        await old.pool.query(
          `SELECT to_jsonb(s) - 'price_override' - 'price_override_currency' AS row, to_jsonb(t) - 'overage' AS term
           FROM subscription s LEFT JOIN subscription_term t ON t.subscription_id = s.id ORDER BY s.id, t.id`,
        )
      ).rows;
    const [before, had] = [await fingerprintDatabase(old.pool), await subscriptions()];
    const applied = await Promise.all([migrate(old.url), migrate(old.url)]);
    expect(applied.flat()).toEqual(migrationNames());
    const after = await fingerprintDatabase(old.pool);
    expect([had.length, await subscriptions()]).toEqual([1, had]);
    for (const table of ['customer', 'credential', 'usage'])
      expect([table, after.find((each) => each.table === table)]).toEqual([table, before.find((each) => each.table === table)]);

    const fresh = await testDatabase();
    expect(await comparableSchema(old)).toEqual(await comparableSchema(fresh));
    const { rows } = await old.pool.query("SELECT relname FROM pg_class WHERE relname = 'credential' AND obj_description(oid) IS NOT NULL");
    expect(rows).toHaveLength(1);
    await fresh.close();

    const quota = { day: '2026-11-20', usedDaily: 5, usedMonthly: 9, daily: 5, monthly: 50, exceeded: 'daily', isCapped: true };
    expect(await explainDecision(old.pool, { requestId: 'old' })).toMatchObject({ quota });
    expect(await explainDecision(old.pool, { requestId: 'new' })).toMatchObject({ quota: { usedDaily: 4 } });
  });

  it('keeps the price of a plan that had one in rupees only, and says in old lines of the audit log which key it was', async () => {
    const { rows } = await old.pool.query("SELECT price, label FROM plan, audit_log WHERE action = 'key.create'");
    expect(rows).toEqual([{ price: '5.00', label: 'tg_live…abcd' }]);
  });

  it('is taken by the one-shot for containers, with its catalogue and roles', async () => {
    const another = await oldDatabase();
    expect((await migrateOnce(another.url)).applied).toEqual(migrationNames());
    expect(await migrateOnce(another.url)).toEqual({ applied: [] });
    await another.close();
  });
});

describe('a database from before 0.1.0 that is not as that version left it', () => {
  let old: TestDatabase;
  beforeAll(async () => {
    old = await oldDatabase();
  });
  afterAll(() => old.close());

  // One change comes after the other: each is named beside those before it.
  it.each([
    ['a column more', 'ALTER TABLE credential ADD COLUMN colour text', 'has also  credential: colour text'],
    ['an index less', 'DROP INDEX usage_day_idx', 'lacks     usage: CREATE INDEX usage_day_idx'],
    [
      'a function of another kind',
      `CREATE OR REPLACE FUNCTION told_hash(p_hash bytea) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT NULL'`,
      'told_hash',
    ],
    ['a trigger that is off', 'ALTER TABLE credential DISABLE TRIGGER credential_is_final', 'DISABLE TRIGGER credential_is_final'],
    ['a view of a column that goes', 'CREATE VIEW prices AS SELECT price_inr FROM plan', 'cannot drop column price_inr'],
  ])('is refused and left as it is: %s', async (_, sql, difference) => {
    await old.pool.query(sql);
    const before = [await fingerprintDatabase(old.pool), await describeSchema(old.pool)];
    const refused = migrate(old.url);
    await expect(refused).rejects.toThrow('the schema is not as the last version before 0.1.0 leaves it, and nothing was changed');
    await expect(refused).rejects.toThrow(difference);
    expect([await fingerprintDatabase(old.pool), await describeSchema(old.pool)]).toEqual(before);
  });

  it('is refused when a migration of that version is missing', async () => {
    await old.pool.query("DELETE FROM schema_migration WHERE name = '0173_customer_day'");
    await expect(migrateOnce(old.url)).rejects.toThrow('start that version once, then this one');
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
