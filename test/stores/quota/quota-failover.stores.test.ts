import { randomUUID } from 'node:crypto';
import { type SpendResult } from '../../../plugins/core/ports';
import { type QuotaStore } from '../../../plugins/stores/quota/quota-store';
import { eventually } from '../../support/eventually';
import { type TestDatabase, testDatabase } from '../../support/postgres/postgres';
import { type TestRedis, startTestRedis } from '../../support/redis/redis';
import { storeNode } from './harness';
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
  node = await storeNode({ pool: database.pool, redisUrl: redis.url });
  subscriptionId = randomUUID();
});
afterEach(async () => {
  await node.close();
  await redis.close();
});

async function spend(times: number, store: QuotaStore = node): Promise<SpendResult[]> {
  return Promise.all(Array.from({ length: times }, () => store.counter.spend({ subscriptionId, limits: LIMITS })));
}

async function granted(times: number, store: QuotaStore = node): Promise<number> {
  return (await spend(times, store)).filter((result) => result.granted).length;
}

const isOnRedis = (): boolean => node.stats().storeInUse === 'redis';

describe('when Redis goes', () => {
  it('answers every spend that was under way when it was killed', async () => {
    await spend(1);
    const results = Promise.allSettled(Array.from({ length: 50 }, () => node.counter.spend({ subscriptionId, limits: LIMITS })));
    await redis.kill();
    expect((await results).filter((result) => result.status === 'rejected')).toEqual([]);
  });

  it('starts without Redis and moves to it when it comes', async () => {
    await redis.kill();
    const late = await storeNode({ pool: database.pool, redisUrl: redis.url, startsWithoutRedis: true });
    try {
      expect(await granted(4, late)).toBe(4);
      await redis.start();
      await eventually(() => late.stats().storeInUse === 'redis');
      expect((await spend(1, late))[0]?.standing.usedDaily).toBe(5);
    } finally {
      await late.close();
    }
  });
});

describe('when Redis is back', () => {
  it('counts what Postgres granted to a node that is gone by then', async () => {
    const other = await storeNode({ pool: database.pool, redisUrl: redis.url });
    await spend(1);
    await redis.kill();
    await eventually(() => other.stats().storeInUse === 'postgres');
    await spend(30, other);
    await other.close();
    await redis.start();
    await eventually(isOnRedis);
    expect((await spend(1))[0]?.standing.usedDaily).toBe(32);
  });

  it('runs its script again after the script cache was emptied', async () => {
    await spend(1);
    await redis.command('SCRIPT', 'FLUSH');
    expect(await granted(5)).toBe(5);
    expect(node.stats().failovers).toBe(0);
  });

  it('tells a node that never lost Redis', async () => {
    const other = await storeNode({ pool: database.pool, redisUrl: redis.url });
    try {
      await spend(1, other);
      await redis.kill();
      await spend(30);
      await redis.start();
      await eventually(() => isOnRedis() && other.stats().storeInUse === 'redis');
      await eventually(async () => (await other.counter.readStanding(subscriptionId)).usedDaily === 31);
    } finally {
      await other.close();
    }
  });
});

describe('when nodes disagree about Redis', () => {
  it('merges what each side granted', async () => {
    const line = await openLine(redis.url);
    const cutOff = await storeNode({ pool: database.pool, redisUrl: line.url });
    try {
      await spend(50);
      await spend(50, cutOff);
      line.cut();
      await eventually(() => cutOff.stats().storeInUse === 'postgres');
      expect((await spend(20, cutOff)).at(-1)?.standing.usedDaily).toBe(120);
      await spend(10);
      await eventually(async () => (await node.counter.readStanding(subscriptionId)).usedDaily === 130);
      line.mend();
      await eventually(() => cutOff.stats().storeInUse === 'redis');
      expect((await spend(1, cutOff))[0]?.standing.usedDaily).toBe(131);
      expect(await granted(200)).toBe(69);
    } finally {
      await cutOff.close();
      line.close();
    }
  });

  it('grants again at most what other nodes had not written when Redis lost its data', async () => {
    const other = await storeNode({ pool: database.pool, redisUrl: redis.url });
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
