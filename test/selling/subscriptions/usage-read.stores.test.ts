import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { restIdOf } from '../../../plugins/core/catalogue/refunds';
import { counterOf } from '../../../plugins/core/access/subscription';
import { readUsage } from '../../../services/selling/subscriptions/usage-read';
import { useDatabase } from '../../support/postgres/use-database';
import { StoreClock, postgresNode } from '../../stores/quota/harness';

const LIMITS = { daily: 10, monthly: 100 };

async function subscribe(pool: Pool, email: string, products: string[]): Promise<{ customerId: string; subscriptions: string[] }> {
  const customer = await pool.query<{ id: string }>('INSERT INTO customer (email) VALUES ($1) RETURNING id', [email]);
  const customerId = customer.rows[0]?.id ?? '';
  const subscriptions: string[] = [];
  for (const product of products) {
    const text = 'INSERT INTO subscription (customer_id, product_id) VALUES ($1, $2) RETURNING id';
    const { rows } = await pool.query<{ id: string }>(text, [customerId, product]);
    subscriptions.push(rows[0]?.id ?? '');
  }
  return { customerId, subscriptions };
}

describe('readUsage', () => {
  const database = useDatabase();

  it("lists a customer's charged, refunded and used units by day and product, without those that no request used", async () => {
    const { pool } = database;
    const storeClock = new StoreClock();
    const counter = postgresNode({ pool, storeClock });
    const { customerId, subscriptions } = await subscribe(pool, 'a@example.com', ['api-ip', 'api-gst']);
    const [ip = '', gst = ''] = subscriptions;
    const stranger = await subscribe(pool, 'b@example.com', ['api-ip']);
    const spend = (subscriptionId: string) => counter.spend({ subscriptionId, limits: LIMITS });

    storeClock.set('2026-11-20T12:00:00+05:30');
    await counter.spend({ subscriptionId: gst, limits: LIMITS, units: 9 });
    const unused = {
      subscriptionId: gst,
      day: '2026-11-20',
      requestId: restIdOf('batch'),
      dailyLimit: LIMITS.daily,
      units: 8,
      isRest: true,
    };
    expect(await counter.refund(unused)).toBe('refunded');
    await Promise.all([spend(ip), spend(ip), spend(counterOf(ip, 'test')), spend(gst), spend(stranger.subscriptions[0] ?? '')]);
    storeClock.set('2026-11-21T12:00:00+05:30');
    await spend(ip);
    await counter.refund({ subscriptionId: ip, day: '2026-11-20', requestId: 'request-1', dailyLimit: LIMITS.daily });

    const [ofGst, ofIp] = [
      { subscriptionId: gst, product: 'api-gst' },
      { subscriptionId: ip, product: 'api-ip' },
    ];
    const period = { fromDay: '2026-11-20', toDay: '2026-11-21' };
    await expect(readUsage(pool, { customerId, ...period })).resolves.toEqual([
      { ...ofGst, mode: 'live', day: '2026-11-20', charged: 2, refunded: 0, refundedRequests: 0, used: 2 },
      { ...ofIp, mode: 'live', day: '2026-11-20', charged: 2, refunded: 1, refundedRequests: 1, used: 1 },
      { ...ofIp, mode: 'test', day: '2026-11-20', charged: 1, refunded: 0, refundedRequests: 0, used: 1 },
      { ...ofIp, mode: 'live', day: '2026-11-21', charged: 1, refunded: 0, refundedRequests: 0, used: 1 },
    ]);
    await expect(readUsage(pool, { subscriptionId: ip, ...period })).resolves.toHaveLength(3);
    const oneDay = { fromDay: '2026-11-21', toDay: '2026-11-21' };
    await expect(readUsage(pool, { subscriptionId: ip, ...oneDay })).resolves.toMatchObject([{ day: '2026-11-21', used: 1 }]);
    await expect(readUsage(pool, { subscriptionId: gst, ...oneDay })).resolves.toEqual([]);
  });

  it('knows the counter of test keys as PostgreSQL does, a counter that no subscription is called by', async () => {
    const ids = Array.from({ length: 200 }, () => randomUUID());
    const counters = ids.map((id) => counterOf(id, 'test'));
    const query =
      'SELECT array_agg(test_counter(id)::text ORDER BY place) AS counters FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, place)';
    const { rows } = await database.pool.query<{ counters: string[] }>(query, [ids]);
    expect(counters).toEqual(rows[0]?.counters);
    expect(new Set([...ids, ...counters]).size).toBe(400);
    expect(counters.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-[89a-f]/.test(id))).toBe(true);
  });

  it('lists the counts of a subscription that is gone without a product', async () => {
    const gone = randomUUID();
    await database.pool.query("INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, '2026-11-20', 4)", [gone]);
    const usage = await readUsage(database.pool, { subscriptionId: gone, fromDay: '2026-11-20', toDay: '2026-11-20' });
    expect(usage).toMatchObject([{ subscriptionId: gone, product: null, mode: 'live', used: 4 }]);
  });
});
