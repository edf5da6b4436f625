import { randomBytes } from 'node:crypto';
import { createCustomer } from '../../plugins/stores/postgres/customers/create-customer';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { createPool } from '../../plugins/stores/postgres/pool';
import { revokeKey } from '../../plugins/stores/postgres/keys/set-key-state';
import { burst } from '../support/system/exact-burst';
import { closeConnections } from '../support/http';
import { expectMeasured } from '../support/measured';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { startNode, type GatewayNode } from '../support/system/node';
import { PATIENCE_MS } from '../support/postgres/postgres';
import { readMetric } from '../support/system/read-metric';
import { startTestRedis } from '../support/redis/redis';
import { startTestRedisCluster } from '../support/redis/redis-cluster';
import { lastAdmittedAfter } from '../support/system/revocation';

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
    db = createPool(instance.databaseUrl, { max: 2, statementTimeoutMs: PATIENCE_MS });
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

  const urls = (): string[] => [instance.gateway.replace(/\/$/, ''), ...nodes.map((node) => node.gateway)].map((each) => `${each}/vahaan`);

  it('pass exactly M of N concurrent requests with M left, through all of them together', async () => {
    const pluginServer = instance.metrics['plugin-server'] ?? '';
    const counts = await burst({
      urls: urls(),
      newKey: async (daily) => {
        const customer = `burst-${randomBytes(4).toString('hex')}@example.com`;
        await createCustomer(db, { email: customer, actor: 'test' });
        return createKey(db, { customer, products: ['api-vahaan'], mode: 'test', actor: 'test', daily, monthly: 5_000 });
      },
      metrics: [(name) => readMetric(pluginServer, name), ...nodes.map((node) => (name: string) => node.metric(name))],
      left: 101,
      requests: 450,
    });
    expect(counts).toEqual({ 200: 101, 429: 349 });
  });

  it('honour a revoked key for no longer than a second after the commit, while it is hammered on every node', async () => {
    await db.query(
      "UPDATE subscription SET daily_override = NULL, monthly_override = NULL, plan_name = 'Star' WHERE product_id = 'api-vahaan'",
    );
    await db.query("UPDATE subscription SET daily_override = 1000000, monthly_override = 1000000 WHERE product_id = 'api-vahaan'");
    const { key, id } = await createKey(db, { customer: 'you@example.com', products: ['api-vahaan'], mode: 'test', actor: 'test' });
    const revoke = (): Promise<unknown> => revokeKey(db, { id, actor: 'test' });
    for (const ms of await lastAdmittedAfter({ urls: urls(), key, revoke })) expectMeasured(ms, 1_000);
  });
});
