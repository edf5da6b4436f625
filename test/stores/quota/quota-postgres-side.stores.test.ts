import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type SpendResult, StoreUnavailable } from '../../../plugins/core/ports';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { type QuotaStore } from '../../../plugins/stores/quota/quota-store';
import { eventually } from '../../support/eventually';
import { type TestDatabase, testDatabase } from '../../support/postgres/postgres';
import { type TestRedis, startTestRedis } from '../../support/redis/redis';
import { storeNode } from './harness';
import { PatientClock } from './patient-clock';

const LIMITS = { daily: 200, monthly: 100_000 };

let database: TestDatabase;
let redis: TestRedis;
let node: QuotaStore;
let subscriptionId: string;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  redis = await startTestRedis({ persistent: true });
  node = await storeNode({ pool: database.pool, redisUrl: redis.url });
  subscriptionId = randomUUID();
});
afterEach(async () => {
  redis.thaw();
  await node.close();
  await redis.close();
});

async function spend(times: number, store: QuotaStore = node): Promise<SpendResult[]> {
  return Promise.all(Array.from({ length: times }, () => store.counter.spend({ subscriptionId, limits: LIMITS })));
}

describe('Postgres alone', () => {
  it('refuses what it cannot decide in a second, and gives back what is granted later', async () => {
    const clock = new PatientClock();
    const alone = await storeNode({ pool: database.pool, redisUrl: undefined, clock });
    await spend(2, alone);
    const blocker = await database.pool.connect();
    try {
      await blocker.query('SELECT pg_advisory_lock(uuid_hash_extended($1, 0))', [subscriptionId]);
      const refused = expect(spend(3, alone)).rejects.toBeInstanceOf(StoreUnavailable);
      await clock.passUntil(() => clock.monotonic() > 1_000);
      await refused;
      await blocker.query('SELECT pg_advisory_unlock_all()');
      const query = 'SELECT refunded::int AS refunded FROM usage WHERE subscription_id = $1';
      await eventually(async () => (await database.pool.query<{ refunded: number }>(query, [subscriptionId])).rows[0]?.refunded === 3);
      await expect(alone.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 2 });
    } finally {
      blocker.release();
      await alone.close();
    }
  });
});

describe('when Postgres goes', () => {
  let dead: Pool;
  beforeEach(() => {
    // Nothing listens on port 1.
    dead = createPool('postgres://nobody@127.0.0.1:1/none');
  });
  afterEach(() => dead.end());

  it('counts in Redis what Redis knows, and refuses what it does not', async () => {
    await spend(5);
    const cut = await storeNode({ pool: dead, redisUrl: redis.url });
    try {
      expect((await spend(1, cut))[0]?.standing.usedDaily).toBe(6);
      await expect(cut.counter.spend({ subscriptionId: randomUUID(), limits: LIMITS })).rejects.toBeInstanceOf(StoreUnavailable);
    } finally {
      await cut.close();
    }
  });

  it('refuses with StoreUnavailable when Redis is gone too, and recovers with Redis', async () => {
    await spend(5);
    const cut = await storeNode({ pool: dead, redisUrl: redis.url });
    try {
      await redis.kill();
      await expect(spend(1, cut)).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(cut.counter.readStanding(subscriptionId)).rejects.toBeInstanceOf(StoreUnavailable);
      const refund = { subscriptionId, day: '2026-11-20', requestId: randomUUID(), dailyLimit: 200 };
      await expect(cut.counter.refund(refund)).rejects.toBeInstanceOf(StoreUnavailable);
      expect(cut.stats().storeInUse).toBe('none');
      await redis.start();
      await eventually(() => cut.stats().storeInUse === 'redis');
      expect((await spend(1, cut))[0]?.standing.usedDaily).toBe(6);
    } finally {
      await cut.close();
    }
  });

  it('names no address, key or value in its errors and log lines', async () => {
    const lines: string[] = [];
    const log = {
      info: () => undefined,
      warn: (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message })),
    };
    await redis.kill();
    const cut = await storeNode({
      pool: dead,
      redisUrl: redis.url.replace('redis://', 'redis://user:hunter2@'),
      log,
      startsWithoutRedis: true,
    });
    const failure: unknown = await cut.counter.spend({ subscriptionId, limits: LIMITS }).catch((cause: unknown) => cause);
    await cut.close();
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(lines.length).toBeGreaterThan(0);
    expect(`${String(failure)} ${lines.join(' ')}`).not.toMatch(/127\.0\.0\.1|hunter2|nobody/);
  });
});

it('usage in Postgres is complete after a node closed', async () => {
  const closing = await storeNode({ pool: database.pool, redisUrl: redis.url });
  await spend(7, closing);
  await closing.close();
  const query = 'SELECT spent_redis::int AS redis, spent_postgres::int AS postgres FROM usage WHERE subscription_id = $1';
  expect((await database.pool.query(query, [subscriptionId])).rows).toEqual([{ redis: 7, postgres: 0 }]);
});
