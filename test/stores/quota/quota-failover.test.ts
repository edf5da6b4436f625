import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type SpendResult, StoreUnavailable } from '../../../plugins/core/ports';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { type QuotaStore } from '../../../plugins/stores/quota-store';
import { type TestDatabase, testDatabase } from '../../support/postgres';
import { type TestRedis, startTestRedis } from '../../support/redis';
import { StoreClock, storeNode } from './harness';
import { openLine } from './line';

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
  node = await storeNode({ pool: database.pool, redisUrl: redis.url, isPatient: true });
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

async function granted(times: number, store: QuotaStore = node): Promise<number> {
  return (await spend(times, store)).filter((result) => result.granted).length;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('waited in vain');
}

const isOnRedis = (): boolean => node.stats().storeInUse === 'redis';

describe('when Redis goes', () => {
  it('goes on in Postgres with what Redis had counted, and refuses at the same limit', async () => {
    expect(await granted(120)).toBe(120);
    await redis.kill();
    expect(await granted(120)).toBe(80);
    expect(node.stats()).toMatchObject({ storeInUse: 'postgres', failovers: 1 });
  });

  it('answers every spend that was under way when it was killed', async () => {
    await spend(1);
    const results = Promise.allSettled(Array.from({ length: 50 }, () => node.counter.spend({ subscriptionId, limits: LIMITS })));
    await redis.kill();
    expect((await results).filter((result) => result.status === 'rejected')).toEqual([]);
  });

  it('answers from Postgres while Redis is frozen, and gives back what Redis grants late', async () => {
    const hasty = await storeNode({ pool: database.pool, redisUrl: redis.url });
    try {
      await spend(10, hasty);
      redis.freeze();
      expect(await granted(5, hasty)).toBe(5);
      expect(hasty.stats().storeInUse).toBe('postgres');
      expect(await granted(5, hasty)).toBe(5);
      redis.thaw();
      await until(() => hasty.stats().lateUnits === 5);
      await until(() => hasty.stats().storeInUse === 'redis');
      await until(async () => (await hasty.counter.readStanding(subscriptionId)).usedDaily === 20);
      expect(await granted(300, hasty)).toBe(180);
    } finally {
      redis.thaw();
      await hasty.close();
    }
  });

  it('uses Postgres while Redis takes no writes, and Redis again when it does', async () => {
    await spend(3);
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    expect(await granted(3)).toBe(3);
    expect(node.stats().storeInUse).toBe('postgres');
    await redis.command('REPLICAOF', 'NO', 'ONE');
    await until(isOnRedis);
    expect((await spend(1))[0]?.standing.usedDaily).toBe(7);
  });

  it('starts without Redis and moves to it when it comes', async () => {
    await redis.kill();
    const late = await storeNode({ pool: database.pool, redisUrl: redis.url });
    try {
      expect(await granted(4, late)).toBe(4);
      await redis.start();
      await until(() => late.stats().storeInUse === 'redis');
      expect((await spend(1, late))[0]?.standing.usedDaily).toBe(5);
    } finally {
      await late.close();
    }
  });
});

describe('when Redis is back', () => {
  it('counts there what Postgres granted meanwhile', async () => {
    await spend(50);
    await redis.kill();
    await spend(50);
    await redis.start();
    await until(isOnRedis);
    expect(await granted(150)).toBe(100);
    await expect(node.counter.readStanding(subscriptionId)).resolves.toMatchObject({ usedDaily: 200, usedMonthly: 200 });
  });

  it('knows every count of an emptied Redis again', async () => {
    await spend(150);
    await redis.flush();
    expect(await granted(100)).toBe(50);
  });

  it('knows the new day again when the first to come after it was emptied is a refund for yesterday', async () => {
    const storeClock = new StoreClock();
    storeClock.set('2026-11-20T12:00:00+05:30');
    const shifted = await storeNode({ pool: database.pool, redisUrl: redis.url, isPatient: true, storeClock });
    try {
      await spend(3, shifted);
      storeClock.set('2026-11-21T12:00:00+05:30');
      await spend(5, shifted);
      await redis.flush();
      const refund = { subscriptionId, day: '2026-11-20', requestId: randomUUID() };
      await expect(shifted.counter.refund(refund)).resolves.toBe(true);
      expect((await spend(1, shifted))[0]?.standing).toMatchObject({ usedDaily: 6, usedMonthly: 8 });
    } finally {
      await shifted.close();
    }
  });

  it('counts what Postgres granted to a node that is gone by then', async () => {
    const other = await storeNode({ pool: database.pool, redisUrl: redis.url, isPatient: true });
    await spend(1);
    await redis.kill();
    await until(() => other.stats().storeInUse === 'postgres');
    await spend(30, other);
    await other.close();
    await redis.start();
    await until(isOnRedis);
    expect((await spend(1))[0]?.standing.usedDaily).toBe(32);
  });

  it('remembers a refund that Postgres noted meanwhile', async () => {
    const [first] = await spend(200);
    const day = first?.standing.day ?? '';
    await redis.kill();
    const requestId = randomUUID();
    await expect(node.counter.refund({ subscriptionId, day, requestId })).resolves.toBe(true);
    await redis.start();
    await until(isOnRedis);
    await expect(node.counter.refund({ subscriptionId, day, requestId })).resolves.toBe(false);
    expect(await granted(5)).toBe(1);
  });

  it('runs its script again after the script cache was emptied', async () => {
    await spend(1);
    await redis.command('SCRIPT', 'FLUSH');
    expect(await granted(5)).toBe(5);
    expect(node.stats().failovers).toBe(0);
  });

  it('tells a node that never lost Redis', async () => {
    const other = await storeNode({ pool: database.pool, redisUrl: redis.url, isPatient: true });
    try {
      await spend(1, other);
      await redis.kill();
      await spend(30);
      await redis.start();
      await until(() => isOnRedis() && other.stats().storeInUse === 'redis');
      await until(async () => (await other.counter.readStanding(subscriptionId)).usedDaily === 31);
    } finally {
      await other.close();
    }
  });
});

describe('when nodes disagree about Redis', () => {
  it('merges what each side granted', async () => {
    const line = await openLine(redis.url);
    const cutOff = await storeNode({ pool: database.pool, redisUrl: line.url, isPatient: true });
    try {
      await spend(50);
      await spend(50, cutOff);
      line.cut();
      await until(() => cutOff.stats().storeInUse === 'postgres');
      expect((await spend(20, cutOff)).at(-1)?.standing.usedDaily).toBe(120);
      await spend(10);
      await until(async () => (await node.counter.readStanding(subscriptionId)).usedDaily === 130);
      line.mend();
      await until(() => cutOff.stats().storeInUse === 'redis');
      expect((await spend(1, cutOff))[0]?.standing.usedDaily).toBe(131);
      expect(await granted(200)).toBe(69);
    } finally {
      await cutOff.close();
      line.close();
    }
  });

  it('grants again at most what other nodes had not written when Redis lost its data', async () => {
    const other = await storeNode({ pool: database.pool, redisUrl: redis.url, isPatient: true });
    try {
      await spend(1);
      const unwritten = await granted(60, other);
      await redis.flush();
      const total = 1 + unwritten + (await granted(300));
      expect(total).toBeGreaterThanOrEqual(200);
      expect(total).toBeLessThanOrEqual(200 + unwritten);
    } finally {
      await other.close();
    }
  });
});

describe('Redis in cluster mode', () => {
  it('touches one slot only: spends, seeds and refunds', async () => {
    const cluster = await startTestRedis({ cluster: true });
    const store = await storeNode({ pool: database.pool, redisUrl: cluster.url, isPatient: true });
    try {
      const [first] = await spend(3, store);
      await expect(store.counter.refund({ subscriptionId, day: first?.standing.day ?? '', requestId: randomUUID() })).resolves.toBe(true);
      await cluster.flush();
      expect((await spend(1, store))[0]?.standing.usedDaily).toBe(3);
      expect(store.stats()).toMatchObject({ storeInUse: 'redis', failovers: 0 });
    } finally {
      await store.close();
      await cluster.close();
    }
  });
});

describe('Postgres alone', () => {
  it('refuses what it cannot decide in a second, and gives back what is granted later', async () => {
    const alone = await storeNode({ pool: database.pool, redisUrl: undefined });
    await spend(2, alone);
    const blocker = await database.pool.connect();
    try {
      await blocker.query('SELECT pg_advisory_lock(uuid_hash_extended($1, 0))', [subscriptionId]);
      await expect(spend(3, alone)).rejects.toBeInstanceOf(StoreUnavailable);
      await blocker.query('SELECT pg_advisory_unlock_all()');
      const query = 'SELECT refunded::int AS refunded FROM usage WHERE subscription_id = $1';
      await until(async () => (await database.pool.query<{ refunded: number }>(query, [subscriptionId])).rows[0]?.refunded === 3);
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
    const cut = await storeNode({ pool: dead, redisUrl: redis.url, isPatient: true });
    try {
      expect((await spend(1, cut))[0]?.standing.usedDaily).toBe(6);
      await expect(cut.counter.spend({ subscriptionId: randomUUID(), limits: LIMITS })).rejects.toBeInstanceOf(StoreUnavailable);
    } finally {
      await cut.close();
    }
  });

  it('refuses with StoreUnavailable when Redis is gone too, and recovers with Redis', async () => {
    await spend(5);
    const cut = await storeNode({ pool: dead, redisUrl: redis.url, isPatient: true });
    try {
      await redis.kill();
      await expect(spend(1, cut)).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(cut.counter.readStanding(subscriptionId)).rejects.toBeInstanceOf(StoreUnavailable);
      const refund = { subscriptionId, day: '2026-11-20', requestId: randomUUID() };
      await expect(cut.counter.refund(refund)).rejects.toBeInstanceOf(StoreUnavailable);
      expect(cut.stats().storeInUse).toBe('none');
      await redis.start();
      await until(() => cut.stats().storeInUse === 'redis');
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
    const cut = await storeNode({ pool: dead, redisUrl: redis.url.replace('redis://', 'redis://user:hunter2@'), log });
    const failure: unknown = await cut.counter.spend({ subscriptionId, limits: LIMITS }).catch((cause: unknown) => cause);
    await cut.close();
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(lines.length).toBeGreaterThan(0);
    expect(`${String(failure)} ${lines.join(' ')}`).not.toMatch(/127\.0\.0\.1|hunter2|nobody/);
  });
});

describe('usage in Postgres', () => {
  async function written(): Promise<{ redis: number; postgres: number } | undefined> {
    const query = 'SELECT spent_redis::int AS redis, spent_postgres::int AS postgres FROM usage WHERE subscription_id = $1';
    return (await database.pool.query<{ redis: number; postgres: number }>(query, [subscriptionId])).rows[0];
  }

  it('follows Redis by itself', async () => {
    await spend(7);
    await until(async () => (await written())?.redis === 7);
  });

  it('is complete after a node closed', async () => {
    const closing = await storeNode({ pool: database.pool, redisUrl: redis.url });
    await spend(7, closing);
    await closing.close();
    expect(await written()).toEqual({ redis: 7, postgres: 0 });
  });

  it('is written when Redis goes', async () => {
    await spend(7);
    await redis.kill();
    await spend(2);
    expect(await written()).toEqual({ redis: 7, postgres: 2 });
  });
});
