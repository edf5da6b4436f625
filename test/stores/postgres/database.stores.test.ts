import { Client } from 'pg';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { touchLastUsed } from '../../../plugins/stores/postgres/decisions/decision-tallies';
import { replaceKeyRules } from '../../../services/selling/keys/whitelist-rules';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { readTableSizes } from '../../../plugins/stores/postgres/table-sizes';
import { newKey } from '../../contracts/access-records';
import { eventually } from '../../support/eventually';
import { useDatabase } from '../../support/postgres/use-database';
import { openedForTests } from '../../support/opened';

const database = useDatabase();

describe('the sizes of tables', () => {
  it('are bytes, rows as PostgreSQL estimates them, and since when there are rows', async () => {
    await newKey(database.pool);
    await database.pool.query('ANALYZE audit_log');
    const { bytes, tables } = await readTableSizes(database.pool);
    const of = (name: string): unknown => tables.find(({ table }) => table === name);
    const { rows } = await database.pool.query('SELECT count(*)::int AS count, min(at) AS since FROM audit_log');
    expect(of('audit_log')).toEqual({
      table: 'audit_log',
      bytes: expect.any(Number),
      rows: rows[0].count,
      countedAt: expect.any(Date),
      since: rows[0].since,
    });
    expect(of('webhook_delivery')).toMatchObject({ rows: null, countedAt: null, since: null });
    expect(tables.map((each) => each.bytes)).toEqual([...tables.map((each) => each.bytes)].sort((a, b) => b - a));
    expect(bytes).toBeGreaterThan(tables.reduce((sum, each) => sum + each.bytes, 0));
  });

  it('are told of every table', async () => {
    const { rows } = await database.pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
    const { tables } = await readTableSizes(database.pool);
    expect(tables.map(({ table }) => table).sort()).toEqual(rows.map(({ tablename }) => tablename));
  });
});

const run = (sql: string, values: unknown[] = []): Promise<unknown> => database.pool.query(sql, values);

describe('the database itself', () => {
  it.each([
    ['an email address in another case', 'INSERT INTO customer (email) SELECT upper(email) FROM customer LIMIT 1', 'customer_email_key'],
    ['an address that is none', "INSERT INTO customer (email) VALUES ('nobody')", 'customer_email_check'],
    [
      'a hash of another length',
      "UPDATE credential SET hash = '\\x00' WHERE false; INSERT INTO credential (customer_id, hash, prefix, last_four, mode) SELECT id, '\\x00', '', '', 'live' FROM customer LIMIT 1",
      'credential_hash_check',
    ],
    ['a prefix that belies the mode', "UPDATE credential SET prefix = 'tg_test'", 'credential_check'],
    ['more than four characters of a key', "UPDATE credential SET last_four = '12345'", 'credential_last_four_check'],
    ['an unknown key state', "UPDATE credential SET state = 'asleep'", 'credential_state_check'],
    ['another hash for a key', "UPDATE credential SET hash = sha256('x')", 'credential_identity_is_fixed'],
    [
      'a second subscription to a product',
      'INSERT INTO subscription (customer_id, product_id) SELECT customer_id, product_id FROM subscription',
      'subscription_customer_id_product_id_key',
    ],
    ['a plan of another product', "UPDATE subscription SET plan_name = 'None'", 'subscription_product_id_plan_name_fkey'],
    ['a subscription to a product without limits', "UPDATE subscription SET product_id = 'api-pan'", 'subscription_product_has_limits'],
    ['a negative limit', 'UPDATE subscription SET daily_override = -1', 'subscription_daily_override_check'],
    ['half of a product’s limits', "UPDATE product SET daily = NULL WHERE id = 'api-ip'", 'product_check'],
    ['a key for an unknown product', "UPDATE credential_product SET product_id = 'api-none'", 'credential_product_product_id_fkey'],
    [
      'a whitelist rule of an unknown kind',
      "INSERT INTO whitelist_rule SELECT id, 'country', 'IN' FROM credential",
      'whitelist_rule_kind_check',
    ],
    ['a change of the audit log', "UPDATE audit_log SET actor = 'somebody else'", 'audit_log_is_append_only'],
    ['a deletion from the audit log', 'DELETE FROM audit_log', 'audit_log_is_append_only'],
    ['emptying the audit log', 'TRUNCATE audit_log', 'audit_log_is_append_only'],
  ])('refuses %s', async (_, sql, constraint) => {
    await newKey(database.pool);
    await expect(run(sql)).rejects.toMatchObject({ constraint });
  });

  it('keeps revoked final', async () => {
    const { id } = await newKey(database.pool);
    await run("UPDATE credential SET state = 'revoked' WHERE id = $1", [id]);
    await expect(run("UPDATE credential SET state = 'active' WHERE id = $1", [id])).rejects.toMatchObject({
      constraint: 'credential_revoked_is_final',
    });
  });
});

describe('NOTIFY', () => {
  let listener: Client;
  let heard: unknown[] = [];
  const opened = openedForTests();
  beforeAll(async () => {
    listener = new Client({ connectionString: database.url });
    await opened.keep(listener.connect(), () => listener.end());
    listener.on('notification', ({ payload }) => heard.push(JSON.parse(payload ?? '')));
    await listener.query('LISTEN tollgate_changes');
  });

  /** What was told by the time the change had committed. */
  async function told(change: () => Promise<unknown>): Promise<unknown[]> {
    await listener.query('SELECT 1');
    heard = [];
    await change();
    await listener.query('SELECT 1');
    return heard;
  }

  it('tells which key, subscription, customer, plan or product was changed', async () => {
    const { id, hash, customerId, subscriptions } = await newKey(database.pool);
    const subscription = { subscription: subscriptions[0]?.id, customer: customerId };
    const credential = { credential: id, at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), hash: hash.slice(0, 16) };
    expect(await told(() => run("UPDATE credential SET state = 'inactive' WHERE id = $1", [id]))).toEqual([credential]);
    expect(await told(() => run('UPDATE credential SET planned_expires_at = now() WHERE id = $1', [id]))).toEqual([credential]);
    expect(await told(() => run("INSERT INTO whitelist_rule VALUES ($1, 'ip', '10.0.0.1'), ($1, 'ip', '10.0.0.2')", [id]))).toEqual([
      credential,
    ]);
    expect(await told(() => run('DELETE FROM whitelist_rule WHERE credential_id = $1', [id]))).toEqual([credential]);
    expect(await told(() => run("INSERT INTO credential_product VALUES ($1, 'api-seo')", [id]))).toEqual([credential]);
    expect(await told(() => run("UPDATE subscription SET state = 'paused' WHERE customer_id = $1", [customerId]))).toEqual([subscription]);
    expect(await told(() => run("UPDATE plan SET daily = 2 WHERE product_id = 'api-ip'"))).toEqual([{ plan: 'Star', product: 'api-ip' }]);
    expect(await told(() => run("UPDATE product SET daily = 2 WHERE id = 'api-ip'"))).toEqual([{ product: 'api-ip' }]);
    const gone = await told(() => run('DELETE FROM customer WHERE id = $1', [customerId]));
    expect(gone).toEqual(expect.arrayContaining([credential, subscription, { customer: customerId }]));
  });

  it('tells a key with 1,000 new rules once, and those who write them wait for one trigger', async () => {
    const { id } = await newKey(database.pool);
    const rules = Array.from({ length: 1_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    expect(await told(() => replaceKeyRules(database.pool, { id, rules, actor: 'test' }))).toEqual([
      expect.objectContaining({ credential: id }),
    ]);
    const explain = 'EXPLAIN (ANALYZE, FORMAT JSON) DELETE FROM whitelist_rule WHERE credential_id = $1';
    const { rows } = await database.pool.query(explain, [id]);
    expect(rows[0]['QUERY PLAN'][0].Triggers).toEqual([expect.objectContaining({ Calls: 1 })]);
  });

  it('tells nobody of rules that are replaced by the same ones, and audits nothing', async () => {
    const { id } = await newKey(database.pool, { rules: ['10.0.0.0/8', 'shop.example.com'] });
    const audited = async (): Promise<unknown> => (await database.pool.query('SELECT count(*) FROM audit_log')).rows;
    const before = await audited();
    const rules = ['Shop.Example.com', '10.0.0.0/8'];
    expect(await told(() => replaceKeyRules(database.pool, { id, rules, actor: 'test' }))).toEqual([]);
    expect(await audited()).toEqual(before);
  });

  it('tells both keys of a rule that goes from one to the other', async () => {
    const [from, to] = [await newKey(database.pool, { rules: ['192.0.2.1'] }), await newKey(database.pool)];
    const heardOf = await told(() => run('UPDATE whitelist_rule SET credential_id = $2 WHERE credential_id = $1', [from.id, to.id]));
    expect(heardOf).toHaveLength(2);
    expect(heardOf).toEqual(expect.arrayContaining([from, to].map(({ id }) => expect.objectContaining({ credential: id }))));
  });

  it('tells of a new key', async () => {
    let key = { id: '', hash: '' };
    const heardOf = await told(async () => (key = await newKey(database.pool)));
    expect(heardOf).toContainEqual({ credential: key.id, at: expect.any(String), hash: key.hash.slice(0, 16) });
  });

  it('tells nothing before the commit, and nothing after a rollback', async () => {
    const { id } = await newKey(database.pool);
    const client = await database.pool.connect();
    expect(
      await told(async () => {
        await client.query('BEGIN');
        await client.query("UPDATE credential SET state = 'inactive' WHERE id = $1", [id]);
      }),
    ).toEqual([]);
    expect(await told(() => client.query('ROLLBACK'))).toEqual([]);
    client.release();
  });

  it('tells nothing when only the last use was written', async () => {
    const { id } = await newKey(database.pool);
    expect(await told(() => touchLastUsed(database.pool, new Map([[id, Date.now()]])))).toEqual([]);
    const { rows } = await database.pool.query('SELECT last_used_at FROM credential WHERE id = $1', [id]);
    expect(rows[0].last_used_at).toBeInstanceOf(Date);
  });

  it.each(['credential', 'whitelist_rule', 'subscription'])('tells when %s was emptied', async (table) => {
    expect(await told(() => run(`TRUNCATE ${table} CASCADE`))).toEqual([{ everything: true }]);
  });
});

describe('touchLastUsed', () => {
  it('never goes back, and leaves locked keys to the next time', async () => {
    const { id } = await newKey(database.pool);
    const lastUse = async (): Promise<number> => {
      const { rows } = await database.pool.query('SELECT last_used_at AS at FROM credential WHERE id = $1', [id]);
      return rows[0].at.getTime();
    };
    await touchLastUsed(database.pool, new Map([[id, 1_900_000_000_000]]));
    await touchLastUsed(database.pool, new Map([[id, 1_800_000_000_000]]));
    expect(await lastUse()).toBe(1_900_000_000_000);
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM credential WHERE id = $1 FOR UPDATE', [id]);
    await touchLastUsed(database.pool, new Map([[id, 1_950_000_000_000]]));
    await client.query('COMMIT');
    client.release();
    expect(await lastUse()).toBe(1_900_000_000_000);
  });
});

/** Ends a connection from outside and waits until its own end has noticed. */
async function terminate(pid: number): Promise<void> {
  await database.pool.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
}

describe('the pool', () => {
  it('replaces a connection that broke while idle, and says so', async () => {
    const errors: Error[] = [];
    const pool = createPool(database.url, { max: 1, onError: (error) => errors.push(error) });
    const { rows } = await pool.query('SELECT pg_backend_pid() AS pid');
    await terminate(rows[0].pid);
    await eventually(() => errors.length > 0);
    expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  it('survives a connection that breaks between two queries of a transaction', async () => {
    const pool = createPool(database.url, { max: 1 });
    const broken = inTransaction(pool, async (client) => {
      const noticed = new Promise((done) => client.once('end', done));
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      await terminate(rows[0].pid);
      await noticed;
      await client.query('SELECT 1');
    });
    await expect(broken).rejects.toThrow(/not queryable|terminat/i);
    expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  it('does not wait for a query longer than its time-out', async () => {
    const pool = createPool(database.url, { max: 1, statementTimeoutMs: 500 });
    await expect(pool.query('SELECT pg_sleep(600)')).rejects.toThrow(/timeout/);
    // The next query has no longer than that either, which a busy machine may not keep at the first try.
    await eventually(async () => (await pool.query('SELECT 1 AS n').catch(() => undefined))?.rows[0]?.n === 1);
    await pool.end();
  });

  it('leaves no lock behind for longer than its time-out when a transaction stops halfway', async () => {
    await database.pool.query('CREATE TABLE stopped_halfway AS SELECT 1 AS n');
    const pool = createPool(database.url, { max: 1, statementTimeoutMs: 500 });
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('UPDATE stopped_halfway SET n = 2');
    // Waits for the row, and takes it once the server has ended the other one.
    await database.pool.query('UPDATE stopped_halfway SET n = n + 10');
    expect((await database.pool.query('SELECT n FROM stopped_halfway')).rows).toEqual([{ n: 11 }]);
    client.release(true);
    await pool.end();
    await database.pool.query('DROP TABLE stopped_halfway');
  });
});
