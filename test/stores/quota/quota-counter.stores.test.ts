import { randomUUID } from 'node:crypto';
import calculateSlot from 'cluster-key-slot';
import { type QuotaStore } from '../../../plugins/stores/quota-store';
import { describeQuotaCounter } from '../../contracts/quota-counter';
import { eventually } from '../../support/eventually';
import { openedForTests } from '../../support/opened';
import { useDatabase } from '../../support/postgres/use-database';
import { startTestRedisCluster } from '../../support/redis/redis-cluster';
import { anyTestRedis, type TestRedis } from '../../support/redis/redis';
import { runsEveryScene } from '../../support/scenes';
import { harnessOf, postgresNode, redisNode, storeNode } from './harness';

const LIMITS = { daily: 200, monthly: 100_000 };

const opened = openedForTests();
const database = useDatabase();
const cluster = opened.use(startTestRedisCluster);

// The suite of one Redis once more. `npm test` runs what a cluster has of its own, below.
if (runsEveryScene)
  describeQuotaCounter('Redis Cluster of three masters', (timeZone) =>
    harnessOf((clocks) => storeNode({ pool: database.pool, redisUrl: cluster.url, timeZone, ...clocks })),
  );

describe('a Redis Cluster of three masters', () => {
  let nodes: QuotaStore[];
  beforeEach(async () => {
    nodes = await Promise.all([1, 2].map(() => storeNode({ pool: database.pool, redisUrl: cluster.url })));
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });

  const nodeAt = (index: number): QuotaStore => nodes[index % nodes.length] as QuotaStore;
  const stores = (): string[] => nodes.map((node) => node.stats().storeInUse);

  /** Subscriptions by the master that counts them. */
  async function subscriptionsOf(count: number): Promise<Map<TestRedis, string[]>> {
    const byMaster = new Map<TestRedis, string[]>(cluster.nodes.map((node) => [node, []]));
    for (let index = 0; index < count; index++) {
      const id = randomUUID();
      byMaster.get(await cluster.ownerOf(id))?.push(id);
    }
    return byMaster;
  }

  async function granted(subscriptionId: string, times: number): Promise<number> {
    const spends = Array.from({ length: times }, (_, index) => nodeAt(index).counter.spend({ subscriptionId, limits: LIMITS }));
    return (await Promise.all(spends)).filter((result) => result.granted).length;
  }

  it('counts on all masters and never sends a script across slots', async () => {
    const byMaster = await subscriptionsOf(24);
    for (const id of [...byMaster.values()].flat()) expect(await granted(id, 10)).toBe(10);
    for (const [master, ids] of byMaster) {
      expect(ids).not.toEqual([]);
      for (const id of ids) expect(await master.command('EXISTS', `tollgate:quota:{${id}}`)).toBe(1);
    }
    expect(nodes.map((node) => node.stats())).toEqual(nodes.map(() => expect.objectContaining({ storeInUse: 'redis', failovers: 0 })));
  });

  it('goes on with the subscriptions of a killed master in Postgres, with the others where they are, and exactly', async () => {
    const byMaster = await subscriptionsOf(18);
    const all = [...byMaster.values()].flat();
    for (const id of all) expect(await granted(id, 120)).toBe(120);
    const [dead] = cluster.nodes;
    if (!dead) throw new Error('no master');
    const lost = byMaster.get(dead) ?? [];
    await dead.kill();
    await cluster.untilMissed(dead);
    await eventually(() => stores().every((store) => store === 'postgres'));
    // What each node saw last goes to Postgres the moment a connection breaks; here both have to have done so.
    await eventually(async () =>
      (await Promise.all(lost.map((id) => nodeAt(0).counter.readStanding(id)))).every((each) => each.usedDaily === 120),
    );

    const redisCalls = (): number => nodes.reduce((sum, node) => sum + node.stats().redisCalls, 0);
    const before = redisCalls();
    for (const id of lost) expect(await granted(id, 40)).toBe(40);
    expect(redisCalls()).toBe(before);
    for (const id of all.filter((each) => !lost.includes(each))) expect(await granted(id, 40)).toBe(40);
    expect(redisCalls()).toBeGreaterThan(before);

    await cluster.takeBack(dead);
    await eventually(() => stores().every((store) => store === 'redis'));
    for (const id of all) expect(await granted(id, 100)).toBe(40);
    for (const id of all) await expect(nodeAt(0).counter.readStanding(id)).resolves.toMatchObject({ usedDaily: 200, usedMonthly: 200 });
  });

  it('follows a slot to another master, and keeps its count', async () => {
    const [from, to] = cluster.nodes;
    if (!from || !to) throw new Error('no masters');
    let id = randomUUID();
    while ((await cluster.ownerOf(id)) !== from) id = randomUUID();
    expect(await granted(id, 120)).toBe(120);
    await moveSlot(from, to, id);
    expect(await granted(id, 120)).toBe(80);
    expect(await to.command('EXISTS', `tollgate:quota:{${id}}`)).toBe(1);
    expect(nodes.map((node) => node.stats().failovers)).toEqual([0, 0]);
  });

  /** As an operator reshards: the key first, then every master is told. */
  async function moveSlot(from: TestRedis, to: TestRedis, tag: string): Promise<void> {
    const slot = String(calculateSlot(tag));
    const idOf = (node: TestRedis): Promise<string> => node.command('CLUSTER', 'MYID').then(String);
    const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
    const { hostname, port } = new URL(to.url);
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    await from.command('MIGRATE', hostname, port, `tollgate:quota:{${tag}}`, '0', '5000');
    for (const node of [to, from, ...cluster.nodes]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  }
});

const redis = opened.use(anyTestRedis);

// Nodes count in both stores, or in Postgres alone. Redis by itself has the same scripts as both.
if (runsEveryScene)
  describeQuotaCounter('Redis', (timeZone) =>
    harnessOf((clocks) => redisNode({ pool: database.pool, redisUrl: redis.url, timeZone, ...clocks })),
  );

describeQuotaCounter('Postgres', (timeZone) =>
  harnessOf((clocks) => Promise.resolve({ counter: postgresNode({ pool: database.pool, timeZone, ...clocks }), close: () => undefined })),
);

describeQuotaCounter('Redis with Postgres behind it', (timeZone) =>
  harnessOf((clocks) => storeNode({ pool: database.pool, redisUrl: redis.url, timeZone, ...clocks })),
);
