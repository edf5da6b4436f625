import { randomBytes } from 'node:crypto';
import { createKey, type CreatedKey } from '../../plugins/stores/postgres/create-key';
import { createPool } from '../../plugins/stores/postgres/pool';
import { revokeKey } from '../../plugins/stores/postgres/set-key-state';
import { closeConnections, send } from '../support/http';
import { startInstance, type RunningInstance } from '../support/instance';
import { startNode, type GatewayNode } from '../support/node';
import { startTestRedis } from '../support/redis';
import { startTestRedisCluster } from '../support/redis-cluster';

const signingKeys = `test:${randomBytes(32).toString('base64')}`;

interface CountingStore {
  readonly url: string;
  close(): Promise<void>;
}

const STORES: readonly (readonly [string, () => Promise<CountingStore> | undefined])[] = [
  ['Redis', () => startTestRedis()],
  ['a Redis Cluster', () => startTestRedisCluster()],
  ['Postgres', () => undefined],
];

describe.each(STORES)('three nodes that count in %s', (_name, startStore) => {
  let instance: RunningInstance;
  let nodes: GatewayNode[] = [];
  let db: ReturnType<typeof createPool>;
  /** Of what was started, also when something else could not be. */
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const redis = await startStore();
    closers.push(async () => redis?.close());
    const shared = { TOLLGATE_SIGNING_KEYS: signingKeys, REDIS_URL: redis?.url ?? '' };
    instance = await startInstance(shared);
    closers.push(() => instance.stop());
    db = createPool(instance.databaseUrl, { max: 2 });
    closers.push(() => db.end());
    const upstreams = Object.fromEntries(Object.entries(instance.services).map(([name, url]) => [name, url]));
    const options = { databaseUrl: instance.databaseUrl, signingKeys, upstreams, ...(redis ? { redisUrl: redis.url } : {}) };
    nodes = await Promise.all([startNode(options), startNode(options)]);
    closers.push(() => Promise.all(nodes.map((node) => node.stop())));
  });

  afterAll(async () => {
    closeConnections();
    for (const close of closers.reverse()) await close();
  });

  const newKey = (limits: { daily?: number; monthly?: number } = {}): Promise<CreatedKey> =>
    createKey(db, { customer: 'you@example.com', products: ['api-vahaan'], mode: 'test', actor: 'test', ...limits });

  const gateways = (): string[] => [instance.gateway.replace(/\/$/, ''), ...nodes.map((node) => node.gateway)];

  it('pass exactly M of N concurrent requests with M left, through all of them together', async () => {
    const { key } = await newKey({ daily: 101, monthly: 5_000 });
    const replies = await Promise.all(
      Array.from({ length: 450 }, (_, index) => send(`${gateways()[index % 3]}/vahaan`, { headers: { 'X-API-Key': key } })),
    );
    const counts = new Map<number, number>();
    for (const { status } of replies) counts.set(status, (counts.get(status) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({ 200: 101, 429: 349 });
  });

  it('honour a revoked key for no longer than a second after the commit, while it is hammered on every node', async () => {
    await db.query(
      "UPDATE subscription SET daily_override = NULL, monthly_override = NULL, plan_name = 'Star' WHERE product_id = 'api-vahaan'",
    );
    await db.query("UPDATE subscription SET daily_override = 1000000, monthly_override = 1000000 WHERE product_id = 'api-vahaan'");
    const { key, id } = await newKey();
    let revokedAt = Infinity;
    let lastAdmitted = 0;
    let refusals = 0;
    const hammer = async (gateway: string): Promise<void> => {
      const until = Date.now() + 3_000;
      while (Date.now() < until) {
        const sentAt = Date.now();
        const { status } = await send(`${gateway}/vahaan`, { headers: { 'X-API-Key': key } });
        if (status === 200) lastAdmitted = Math.max(lastAdmitted, sentAt);
        else if (sentAt > revokedAt) refusals += 1;
      }
    };
    const revoke = async (): Promise<void> => {
      await new Promise((done) => setTimeout(done, 1_000));
      await revokeKey(db, { id, actor: 'test' });
      revokedAt = Date.now();
    };
    await Promise.all([...gateways().flatMap((gateway) => [hammer(gateway), hammer(gateway)]), revoke()]);
    expect(lastAdmitted).toBeGreaterThan(0);
    expect(lastAdmitted - revokedAt).toBeLessThan(1_000);
    expect(refusals).toBeGreaterThan(0);
  });
});
