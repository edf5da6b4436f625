import { randomUUID } from 'node:crypto';
import { type SpendResult } from '../../../plugins/core/ports';
import { type QuotaStore } from '../../../plugins/stores/quota/quota-store';
import { eventually } from '../../support/eventually';
import { type TestDatabase, testDatabase } from '../../support/postgres/postgres';
import { type TestRedis, startTestRedis } from '../../support/redis/redis';
import { StoreClock, storeNode } from './harness';
import { openLine } from './line';
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

async function granted(times: number, store: QuotaStore = node): Promise<number> {
  return (await spend(times, store)).filter((result) => result.granted).length;
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
    const clock = new PatientClock();
    const hasty = await storeNode({ pool: database.pool, redisUrl: redis.url, clock });
    try {
      await spend(10, hasty);
      redis.freeze();
      const fromPostgres = granted(5, hasty);
      // The node's own limits hold: its 20 ms of silence, not those of a machine that is short of turns.
      await clock.passUntil(() => hasty.stats().storeInUse === 'postgres');
      expect(clock.monotonic()).toBeLessThan(50);
      expect(await fromPostgres).toBe(5);
      expect(await granted(5, hasty)).toBe(5);
      redis.thaw();
      await eventually(() => hasty.stats().lateUnits === 5);
      await eventually(() => hasty.stats().storeInUse === 'redis');
      await eventually(async () => (await hasty.counter.readStanding(subscriptionId)).usedDaily === 20);
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
    await eventually(isOnRedis);
    expect((await spend(1))[0]?.standing.usedDaily).toBe(7);
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
  it('counts there what Postgres granted meanwhile', async () => {
    await spend(50);
    await redis.kill();
    await spend(50);
    await redis.start();
    await eventually(isOnRedis);
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
    const shifted = await storeNode({ pool: database.pool, redisUrl: redis.url, storeClock });
    try {
      await spend(3, shifted);
      storeClock.set('2026-11-21T12:00:00+05:30');
      await spend(5, shifted);
      await redis.flush();
      const refund = { subscriptionId, day: '2026-11-20', requestId: randomUUID(), dailyLimit: 200 };
      await expect(shifted.counter.refund(refund)).resolves.toBe('refunded');
      expect((await spend(1, shifted))[0]?.standing).toMatchObject({ usedDaily: 6, usedMonthly: 8 });
    } finally {
      await shifted.close();
    }
  });

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

  it('remembers a refund that Postgres noted meanwhile', async () => {
    const [first] = await spend(200);
    const day = first?.standing.day ?? '';
    await redis.kill();
    const requestId = randomUUID();
    await expect(node.counter.refund({ subscriptionId, day, requestId, dailyLimit: 200 })).resolves.toBe('refunded');
    await redis.start();
    await eventually(isOnRedis);
    await expect(node.counter.refund({ subscriptionId, day, requestId, dailyLimit: 200 })).resolves.toBe('repeated');
    expect(await granted(5)).toBe(1);
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

describe('Redis in cluster mode', () => {
  it('touches one slot only: spends, seeds and refunds', async () => {
    const cluster = await startTestRedis({ cluster: 'alone' });
    const store = await storeNode({ pool: database.pool, redisUrl: cluster.url });
    try {
      const [first] = await spend(3, store);
      const refund = { subscriptionId, day: first?.standing.day ?? '', requestId: randomUUID(), dailyLimit: 200 };
      await expect(store.counter.refund(refund)).resolves.toBe('refunded');
      await cluster.flush();
      expect((await spend(1, store))[0]?.standing.usedDaily).toBe(3);
      expect(store.stats()).toMatchObject({ storeInUse: 'redis', failovers: 0 });
    } finally {
      await store.close();
      await cluster.close();
    }
  });
});
