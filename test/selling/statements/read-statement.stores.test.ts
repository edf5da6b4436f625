import { randomUUID } from 'node:crypto';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { type QuotaCounter } from '../../../plugins/core/ports';
import { windowsAt } from '../../../plugins/core/access/quota';
import { counterOf } from '../../../plugins/core/access/subscription';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { createPostgresAccessRecords } from '../../../plugins/stores/postgres/access-record/find-access-record';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { closeStatements } from '../../../services/selling/statements/close-statements';
import { listStatementMonths, type MonthlyStatement, readStatement } from '../../../services/selling/statements/read-statement';
import { changeSubscription, setSubscriptionState } from '../../../services/selling/subscriptions/change-subscription';
import { newKey } from '../../contracts/access-records';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { eventually } from '../../support/eventually';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';
import { startTestRedis, type TestRedis } from '../../support/redis/redis';
import { storeNode } from '../../stores/quota/harness';
import { fc, propertyRuns } from '../../support/fast-check';

const timeZone = 'Asia/Kolkata';
const actor = 'test';
let database: TestDatabase;
let redis: TestRedis;
beforeAll(async () => {
  [database, redis] = await Promise.all([testDatabase(), startTestRedis()]);
});
afterAll(() => Promise.all([database?.close(), redis?.close()]));

type Key = Awaited<ReturnType<typeof newKey>>;
const idOf = ({ subscriptions }: Key): string => subscriptions[0]?.id ?? '';
/** Moves what is known of a subscription: its only term begins then. */
const since = (key: Key, at: string) =>
  database.pool.query('UPDATE subscription_term SET since = $2 WHERE customer_id = $1', [key.customerId, at]);
const use = (key: Key, day: string, units: number) =>
  database.pool.query('INSERT INTO usage (subscription_id, day, spent_postgres) VALUES ($1, $2, $3)', [idOf(key), day, units]);
function read(key: Key, month: string, at: string): Promise<MonthlyStatement | null> {
  const customer = { id: key.customerId, email: 'customer@example.com' };
  return readStatement(database.pool, { customer, month, timeZone, now: Date.parse(at) / 1_000 });
}

describe('a closed statement', () => {
  it('never changes, whatever happens to price, plan, use or subscription afterwards', async () => {
    const key = await newKey(database.pool, { products: ['api-gst'], plan: 'Star' });
    await since(key, '2026-01-01T00:00:00+05:30');
    await use(key, '2026-01-31', 900);
    const closed = await read(key, '2026-01', '2026-02-03T00:00:00+05:30');
    expect(closed).toMatchObject({
      closedAt: expect.any(String),
      fromDay: '2026-01-01',
      lines: [{ product: 'api-gst', plan: 'Star', days: 31, charged: 900, used: 900, monthly: 3_000_000, amount: '499.00' }],
      totals: [{ currency: 'INR', amount: '499.00' }],
    });
    const dearer = PRODUCTS.map((product) => ({ ...product, plans: product.plans.map((plan) => ({ ...plan, price: '9999.00' })) }));
    await applyCatalogue(database.pool, createCatalogue(dearer), { actor });
    await database.pool.query('UPDATE usage SET spent_postgres = spent_postgres + 5 WHERE subscription_id = $1', [idOf(key)]);
    await setSubscriptionState(database.pool, { id: idOf(key), state: 'cancelled', actor });
    await applyCatalogue(database.pool, CATALOGUE, { actor });
    expect(await read(key, '2026-01', '2027-01-01T00:00:00Z')).toEqual(closed);
    for (const change of ["UPDATE statement SET content = '{}'", 'DELETE FROM statement']) {
      await expect(database.pool.query(change)).rejects.toThrow('a closed statement stays as it is');
    }
  });

  it('is closed when refunds of its last day have ended, and grows until then', async () => {
    const key = await newKey(database.pool);
    await since(key, '2026-01-01T00:00:00+05:30');
    await use(key, '2026-01-31', 10);
    expect(await read(key, '2026-01', '2026-02-02T23:59:59+05:30')).toMatchObject({ closedAt: null, lines: [{ used: 10 }] });
    await database.pool.query('UPDATE usage SET refunded = 3 WHERE subscription_id = $1', [idOf(key)]);
    const at = '2026-02-03T00:00:00+05:30';
    const both = await Promise.all([read(key, '2026-01', at), read(key, '2026-01', at)]);
    expect(both[0]).toMatchObject({ closedAt: expect.any(String), lines: [{ charged: 10, refunded: 3, used: 7 }] });
    expect(both[1]).toEqual(both[0]);
  });

  it('holds a price that changed later only from the day on which it changed', async () => {
    const key = await newKey(database.pool, { products: ['api-seo'], plan: 'Star' });
    await since(key, '2026-01-01T00:00:00+05:30');
    await changeSubscription(database.pool, { id: idOf(key), plan: null, actor });
    // The change came on the 11th.
    await database.pool.query(
      `UPDATE subscription_term SET until = CASE WHEN until IS NOT NULL THEN $2::timestamptz END,
         since = CASE WHEN until IS NULL THEN $2::timestamptz ELSE since END WHERE subscription_id = $1`,
      [idOf(key), '2026-01-11T12:00:00+05:30'],
    );
    expect(await read(key, '2026-01', '2026-02-03T00:00:00+05:30')).toMatchObject({
      lines: [
        { plan: 'Star', days: 11, price: '999.00', amount: '354.48' },
        { plan: null, days: 20, price: '0.00', amount: '0.00' },
      ],
    });
  });
});

describe('a plan that sells use above its limits', () => {
  const overage = { per: 1_000, price: '20.00', cap: { daily: 500, monthly: 9_000 } };
  const sell = (over: Partial<typeof overage> = {}) => {
    const plan = {
      name: 'Star',
      daily: 100,
      monthly: 3_000,
      price: '499.00',
      currency: 'INR',
      approval: 'automatic',
      overage: { ...overage, ...over },
    } as const;
    const sold = PRODUCTS.map((product) => (product.id === 'api-gst' ? { ...product, plans: [plan] } : product));
    return applyCatalogue(database.pool, createCatalogue(sold), { actor });
  };
  afterAll(() => applyCatalogue(database.pool, CATALOGUE, { actor }));
  const limitsOf = async (key: Key) => {
    const record = await createPostgresAccessRecords(database.pool).findAccessRecord(key.hash);
    return record?.subscriptions.map(({ limits }) => limits);
  };

  it('is read back as it was written, refuses at the cap, and its statement charges what is above the limits', async () => {
    await sell();
    expect(await sell()).toEqual([]);
    const key = await newKey(database.pool, { products: ['api-gst'], plan: 'Star' });
    expect(await limitsOf(key)).toEqual([{ ...overage.cap, included: { daily: 100, monthly: 3_000 } }]);
    await since(key, '2026-01-01T00:00:00+05:30');
    await use(key, '2026-01-05', 480);
    await use(key, '2026-01-06', 90);
    const closed = await read(key, '2026-01', '2026-02-03T00:00:00+05:30');
    const line = { plan: 'Star', daily: 100, monthly: 3_000, used: 570, surcharge: '0.00', amount: '506.60' };
    expect(closed?.lines).toMatchObject([{ ...line, overage: { ...overage, units: 380, amount: '7.60' } }]);
    await sell({ price: '30.00' });
    expect(await read(key, '2026-01', '2027-01-01T00:00:00Z')).toEqual(closed);
  });

  it('includes, and refuses at, the limits that an operator gives one customer', async () => {
    await sell();
    const key = await newKey(database.pool, { products: ['api-gst'], plan: 'Star' });
    await changeSubscription(database.pool, { id: idOf(key), daily: 300, actor });
    expect(await limitsOf(key)).toEqual([{ daily: 300, monthly: 9_000, included: { daily: 300, monthly: 3_000 } }]);
    await since(key, '2026-01-01T00:00:00+05:30');
    for (let day = 1; day <= 11; day++) await use(key, `2026-01-${String(day).padStart(2, '0')}`, 300);
    const closed = await read(key, '2026-01', '2026-02-03T00:00:00+05:30');
    expect(closed?.lines).toMatchObject([{ daily: 300, monthly: 3_000, overage: { units: 300, amount: '6.00' } }]);
  });
});

describe('a subscription that changes all the time', () => {
  /** Paused and resumed every half minute, day and night. */
  const toggle = (key: Key, count: number) =>
    database.pool.query(
      `INSERT INTO subscription_term (subscription_id, customer_id, product_id, plan_name, price, currency, daily, monthly, state, since, until)
       SELECT t.subscription_id, t.customer_id, t.product_id, t.plan_name, t.price, t.currency, t.daily, t.monthly,
         CASE n % 2 WHEN 0 THEN 'active' ELSE 'paused' END, t.since + n * interval '30 s', t.since + (n + 1) * interval '30 s'
       FROM subscription_term t, generate_series(0, $2::integer - 1) AS n WHERE t.customer_id = $1`,
      [key.customerId, count],
    );

  it('has its days chosen by the database: a statement reads a row a day for each plan and state, however many terms there are', async () => {
    const key = await newKey(database.pool, { products: ['api-gst'], plan: 'Star' });
    await since(key, '2026-01-01T00:00:00+05:30');
    await toggle(key, 20_000);
    await database.pool.query(
      "UPDATE subscription_term SET since = '2026-01-07T22:40:00+05:30', state = 'paused' WHERE until IS NULL AND customer_id = $1",
      [key.customerId],
    );
    let read = 0;
    const query = async (text: string, values: unknown[]) => {
      const result = await database.pool.query(text, values);
      read += result.rows.length;
      return result;
    };
    const customer = { id: key.customerId, email: 'customer@example.com' };
    const db = { query } as unknown as typeof database.pool;
    const now = Date.parse('2026-01-20T12:00:00+05:30') / 1_000;
    const statement = await readStatement(db, { customer, month: '2026-01', timeZone, now });
    expect(statement?.lines.map(({ days, amount }) => [days, amount])).toEqual([[7, '112.68']]);
    expect(read).toBeLessThan(31);
  });
});

describe('closing', () => {
  it('goes on past a customer whose statement fails, names it, and closes it once it can', async () => {
    const [broken, other] = [await newKey(database.pool, { plan: 'Star' }), await newKey(database.pool, { plan: 'Star' })];
    await database.pool.query("UPDATE subscription_term SET since = '2026-01-01T00:00:00+05:30' WHERE until IS NULL");
    await database.pool.query("UPDATE subscription_term SET price = 'NaN' WHERE customer_id = $1", [broken.customerId]);
    const failed: string[] = [];
    const onFailure = ({ id, month }: { id: string; month: string }) => failed.push(`${id} ${month}`);
    const close = () => closeStatements(database.pool, { timeZone, now: Date.parse('2026-02-03T12:00:00+05:30') / 1_000, onFailure });
    expect(await close()).toBeGreaterThan(0);
    expect(failed).toEqual([`${broken.customerId} 2026-01`]);
    const isClosed = async (key: Key) => {
      const { rows } = await database.pool.query('SELECT 1 FROM statement WHERE customer_id = $1', [key.customerId]);
      return rows.length === 1;
    };
    expect([await isClosed(broken), await isClosed(other)]).toEqual([false, true]);
    await database.pool.query("UPDATE subscription_term SET price = '499.00' WHERE customer_id = $1", [broken.customerId]);
    expect([await close(), await isClosed(broken), failed.length]).toEqual([1, true, 1]);
  });
});

describe('a month', () => {
  it('before the records begin has no statement, and none that is to come', async () => {
    const key = await newKey(database.pool);
    await since(key, '2026-03-15T10:00:00+05:30');
    await use(key, '2026-02-10', 70);
    expect(await read(key, '2026-02', '2026-03-20T00:00:00Z')).toBeNull();
    expect(await read(key, '2026-04', '2026-03-20T00:00:00Z')).toBeNull();
    expect(await read(key, '2026-03', '2026-03-20T00:00:00Z')).toMatchObject({ fromDay: '2026-03-15' });
    const months = await listStatementMonths(database.pool, {
      customerId: key.customerId,
      timeZone,
      now: Date.parse('2026-05-02T00:00:00Z') / 1_000,
    });
    expect(months).toEqual([
      { month: '2026-05', isClosed: false },
      { month: '2026-04', isClosed: false },
      { month: '2026-03', isClosed: true },
    ]);
  });
});

describe('the terms of a subscription', () => {
  const termsOf = async (key: Key) => {
    const { rows } = await database.pool.query(
      'SELECT plan_name AS plan, price::text, daily, state, until IS NULL AS present FROM subscription_term WHERE subscription_id = $1 ORDER BY id',
      [idOf(key)],
    );
    return rows;
  };

  it('are kept with every change of plan, limits, state and price, and with nothing else', async () => {
    const key = await newKey(database.pool, { products: ['api-grank'] });
    await changeSubscription(database.pool, { id: idOf(key), plan: 'Star', actor });
    await changeSubscription(database.pool, { id: idOf(key), plan: 'Star', actor });
    const dearer = PRODUCTS.map((product) => ({ ...product, plans: product.plans.map((plan) => ({ ...plan, price: '1.00' })) }));
    await applyCatalogue(database.pool, createCatalogue(dearer), { actor });
    await applyCatalogue(database.pool, CATALOGUE, { actor });
    await changeSubscription(database.pool, { id: idOf(key), daily: 7, actor });
    await setSubscriptionState(database.pool, { id: idOf(key), state: 'paused', actor });
    expect(await termsOf(key)).toEqual([
      { plan: null, price: '0.00', daily: 1_000, state: 'active', present: false },
      { plan: 'Star', price: '499.00', daily: 1_000_000, state: 'active', present: false },
      { plan: 'Star', price: '1.00', daily: 1_000_000, state: 'active', present: false },
      { plan: 'Star', price: '499.00', daily: 1_000_000, state: 'active', present: false },
      { plan: 'Star', price: '499.00', daily: 7, state: 'active', present: false },
      { plan: 'Star', price: '499.00', daily: 7, state: 'paused', present: true },
    ]);
    await database.pool.query('DELETE FROM subscription WHERE id = $1', [idOf(key)]);
    expect((await termsOf(key)).filter(({ present }) => present)).toEqual([]);
  });

  it('are written by no process, and a statement is only ever added by the dashboard', async () => {
    const key = await newKey(database.pool);
    const dashboard = createPool(database.urlAs('tollgate_dashboard'), { max: 1 });
    try {
      await changeSubscription(dashboard, { id: idOf(key), plan: 'Star', actor });
      expect(await termsOf(key)).toHaveLength(2);
      await expect(dashboard.query('DELETE FROM subscription_term')).rejects.toThrow('permission denied');
      await expect(dashboard.query("UPDATE statement SET content = '{}'")).rejects.toThrow('permission denied');
    } finally {
      await dashboard.end();
    }
  });
});

describe('the sum of statements', () => {
  async function spendAndCompare(counter: QuotaCounter, acts: readonly Act[]): Promise<void> {
    const keys = [
      await newKey(database.pool, { products: ['api-ip'] }),
      await newKey(database.pool, { products: ['api-ip'], plan: 'Star' }),
    ];
    const limits = { daily: 1_000, monthly: 30_000 };
    const now = await databaseNow();
    const { day, month } = windowsAt(now, timeZone);
    for (const { who, what } of acts) {
      const key = keys[who];
      if (!key) continue;
      const id = idOf(key);
      if (what === 'live' || what === 'test') await counter.spend({ subscriptionId: counterOf(id, what), limits });
      else if (what === 'refund') await counter.refund({ subscriptionId: id, day, requestId: randomUUID(), dailyLimit: 1_000 });
      else await changeSubscription(database.pool, { id, plan: what === 'up' ? 'Star' : null, actor });
    }
    for (const key of keys) {
      const id = idOf(key);
      const [live, test] = [await counter.readStanding(id), await counter.readStanding(counterOf(id, 'test'))];
      // What Redis counts is written within a second.
      await eventually(async () => {
        const statement = await read(key, month, new Date(now * 1_000).toISOString());
        const sum = (member: 'used' | 'test') => statement?.lines.reduce((total, line) => total + line[member], 0);
        return sum('used') === live.usedMonthly && sum('test') === test.usedMonthly;
      });
    }
  }

  async function databaseNow(): Promise<number> {
    const { rows } = await database.pool.query<{ now: number }>('SELECT extract(epoch FROM now())::float8 AS now');
    return rows[0]?.now ?? 0;
  }

  interface Act {
    readonly who: number;
    readonly what: 'live' | 'test' | 'refund' | 'up' | 'down';
  }
  const act = fc.record({ who: fc.nat(1), what: fc.constantFrom<Act['what']>('live', 'live', 'test', 'refund', 'up', 'down') });

  it.each([
    ['Postgres', () => undefined],
    ['Redis', () => redis.url],
  ])('is what the counters count, whatever was spent, given back and changed: %s', async (_name, urlOf) => {
    const node = await storeNode({ pool: database.pool, redisUrl: urlOf(), timeZone });
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), (acts) => spendAndCompare(node.counter, acts)),
        { numRuns: propertyRuns(6) },
      );
    } finally {
      await node.close();
    }
  });
});
