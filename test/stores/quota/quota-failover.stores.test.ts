import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type SpendResult, StoreUnavailable } from '../../../plugins/core/ports';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { type QuotaStore } from '../../../plugins/stores/quota-store';
import { eventually } from '../../support/eventually';
import { useDatabase } from '../../support/postgres/use-database';
import { type TestRedis, startTestRedis } from '../../support/redis/redis';
import { CLOCKS_APART_MS, type StoreNodeOptions, storeNode } from './harness';
import { openFaultProxy } from '../../support/faults/fault-proxy';
import { PatientClock } from './patient-clock';

const LIMITS = { daily: 200, monthly: 100_000 };

const database = useDatabase();
const open: QuotaStore[] = [];
let redis: TestRedis;
let node: QuotaStore;
let subscriptionId: string;
beforeEach(async () => {
  redis = await startTestRedis({ persistent: true });
  node = await openNode();
  subscriptionId = randomUUID();
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  await redis.close();
});

/** Closed after the test. */
async function openNode(options: Partial<StoreNodeOptions> = {}): Promise<QuotaStore> {
  const opened = await storeNode({ pool: database.pool, redisUrl: redis.url, ...options });
  open.push(opened);
  return opened;
}

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
    const late = await openNode({ startsWithoutRedis: true });
    expect(await granted(4, late)).toBe(4);
    await redis.start();
    await eventually(() => late.stats().storeInUse === 'redis');
    expect((await spend(1, late))[0]?.standing.usedDaily).toBe(5);
  });
});

describe('when Redis is back', () => {
  it('counts what Postgres granted to a node that is gone by then', async () => {
    const other = await openNode();
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
    const other = await openNode();
    await spend(1, other);
    await redis.kill();
    await spend(30);
    await redis.start();
    await eventually(() => isOnRedis() && other.stats().storeInUse === 'redis');
    await eventually(async () => (await other.counter.readStanding(subscriptionId)).usedDaily === 31);
  });
});

describe('when Redis lost its data', () => {
  /** The day of the units that this node spent, in the harness's time zone. */
  const today = (): string => new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' }).format(new Date());
  const refundOfOne = () => node.counter.refund({ subscriptionId, day: today(), requestId: randomUUID(), dailyLimit: LIMITS.daily });
  const settlementOfThree = () => node.counter.settle({ subscriptionId, day: today(), id: randomUUID(), units: 3 });

  it.each([
    { name: 'refund', change: refundOfOne, units: -1 },
    { name: 'settlement', change: settlementOfThree, units: 3 },
  ])('keeps units that only this node knows when a $name is the first to reach it', async ({ change, units }) => {
    await spend(2);
    // PostgreSQL learns of the first two units here, and of the next 20 within a second.
    await refundOfOne();
    await spend(20);
    await redis.flush();
    await change();
    expect((await node.counter.readStanding(subscriptionId)).usedDaily).toBe(21 + units);
    expect(await granted(300)).toBe(179 - units);
  });
});

describe('when nodes disagree about Redis', () => {
  it('merges what each side granted', async () => {
    const line = await openFaultProxy(redis.url);
    const cutOff = await openNode({ redisUrl: line.url });
    await spend(50);
    await spend(50, cutOff);
    line.setMode('cut');
    await eventually(() => cutOff.stats().storeInUse === 'postgres');
    expect((await spend(20, cutOff)).at(-1)?.standing.usedDaily).toBe(120);
    await spend(10);
    await eventually(async () => (await node.counter.readStanding(subscriptionId)).usedDaily === 130);
    line.setMode('pass');
    await eventually(() => cutOff.stats().storeInUse === 'redis');
    expect((await spend(1, cutOff))[0]?.standing.usedDaily).toBe(131);
    expect(await granted(200)).toBe(69);
    await line.close();
  });

  it('grants again at most what other nodes had not written when Redis lost its data', async () => {
    const other = await openNode();
    await spend(1);
    const unwritten = await granted(60, other);
    await redis.flush();
    const total = 1 + unwritten + (await granted(300));
    expect(total).toBeGreaterThanOrEqual(200);
    expect(total).toBeLessThanOrEqual(200 + unwritten);
  });
});

describe('Postgres alone', () => {
  it('refuses what it cannot decide in a second, and gives back what is granted later', async () => {
    const clock = new PatientClock();
    const alone = await openNode({ redisUrl: undefined, clock });
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
    const cut = await openNode({ pool: dead });
    expect((await spend(1, cut))[0]?.standing.usedDaily).toBe(6);
    await expect(cut.counter.spend({ subscriptionId: randomUUID(), limits: LIMITS })).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('refuses with StoreUnavailable when Redis is gone too, and recovers with Redis', async () => {
    await spend(5);
    const cut = await openNode({ pool: dead });
    await redis.kill();
    await expect(spend(1, cut)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(cut.counter.readStanding(subscriptionId)).rejects.toBeInstanceOf(StoreUnavailable);
    const refund = { subscriptionId, day: '2026-11-20', requestId: randomUUID(), dailyLimit: 200 };
    await expect(cut.counter.refund(refund)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(cut.stats().storeInUse).toBe('none');
    await redis.start();
    await eventually(() => cut.stats().storeInUse === 'redis');
    expect((await spend(1, cut))[0]?.standing.usedDaily).toBe(6);
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
  const closing = await openNode();
  await spend(7, closing);
  await closing.close();
  const query = 'SELECT spent_redis::int AS redis, spent_postgres::int AS postgres FROM usage WHERE subscription_id = $1';
  expect((await database.pool.query(query, [subscriptionId])).rows).toEqual([{ redis: 7, postgres: 0 }]);
});

describe('a rate', () => {
  const limits = { ...LIMITS, rate: { limit: 1, windowSeconds: 60, burst: 5 } } as const;
  const passed = async (times: number, store: QuotaStore = node): Promise<number> => {
    const results = await Promise.all(Array.from({ length: times }, () => store.counter.spend({ subscriptionId, limits })));
    return results.filter((result) => result.granted).length;
  };

  it('holds in each store for nodes with clocks apart, so that a change of stores lets one burst more pass and no further', async () => {
    const [late, early] = await Promise.all(CLOCKS_APART_MS.map((aheadMs) => openNode({ clock: new PatientClock(aheadMs) })));
    const stores = (): unknown[] => [late, early].map((each) => each?.stats().storeInUse);
    expect([await passed(3, late), await passed(20, early), await passed(20, late)]).toEqual([3, 2, 0]);
    await redis.kill();
    await eventually(() => !stores().includes('redis'));
    expect([await passed(3, early), await passed(20, late), await passed(20, early)]).toEqual([3, 2, 0]);
    await redis.start();
    await eventually(() => stores().every((store) => store === 'redis'));
    expect([await passed(20, late), await passed(20, early)]).toEqual([0, 0]);
    await eventually(isOnRedis);
    expect((await node.counter.readStanding(subscriptionId)).usedDaily).toBe(10);
  });
});
