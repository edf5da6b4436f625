import { randomBytes } from 'node:crypto';
import { revokeKey } from '../../services/selling/keys/set-key-state';
import { closeConnections } from '../support/http';
import { openedForTests, useOpened } from '../support/opened';
import { expectMeasured } from '../support/measured';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';
import { startTestRedisCluster } from '../support/redis/redis-cluster';
import { burst } from '../support/system/exact-burst';
import { startNode, type GatewayNode } from '../support/system/node';
import { lastAdmittedAfter } from '../support/system/revocation';
import { firstOf } from '../support/scenes';
import { startVahaan } from '../support/system/vahaan';
import { newKey } from '../contracts/access-records';

const signingKeys = `test:${randomBytes(32).toString('base64')}`;
const PLENTY = 1_000_000;

interface CountingStore {
  readonly url: string;
  close(): Promise<void>;
}

/** What the fleet of replicas.measured.test.ts counts in, one Redis, is proven there. Counters on a cluster: test/stores/quota. */
const STORES: readonly (readonly [string, () => Promise<CountingStore> | undefined])[] = [
  ['Postgres', () => undefined],
  ['a Redis Cluster', () => startTestRedisCluster()],
];

const service = useOpened(() => startVahaan(signingKeys));

describe.each(firstOf(STORES))('three nodes that count in %s', (_name, startStore) => {
  afterAll(closeConnections);
  const opened = openedForTests();
  let database: TestDatabase;
  let nodes: GatewayNode[] = [];

  beforeAll(async () => {
    const redis = await opened.keep(Promise.resolve(startStore()), (each) => each?.close());
    database = await opened.keep(testDatabase());
    const stores = { databaseUrl: database.url, ...(redis ? { redisUrl: redis.url } : {}) };
    const options = { ...stores, signingKeys, upstreams: service.upstreams };
    const start = (): Promise<GatewayNode> => opened.keep(startNode(options));
    nodes = await Promise.all([start(), start(), start()]);
  });

  const urls = (): string[] => nodes.map(({ gateway }) => `${gateway}/vahaan`);

  const keyFor = (daily: number) => newKey(database.pool, { products: ['api-vahaan'], mode: 'test', daily, monthly: PLENTY });

  it('pass exactly M of N concurrent requests with M left, through all of them together', async () => {
    const metrics = nodes.map((node) => (name: string) => node.metric(name));
    expect(await burst({ urls: urls(), newKey: keyFor, metrics, left: 61, requests: 200 })).toEqual({ 200: 61, 429: 139 });
  });

  it('honour a revoked key for no longer than a second after the commit, while it is hammered on every node', async () => {
    const { key, id } = await keyFor(PLENTY);
    const revoke = (): Promise<unknown> => revokeKey(database.pool, { id, actor: 'test' });
    for (const ms of await lastAdmittedAfter({ urls: urls(), key, revoke })) expectMeasured(ms, 1_000);
  });
});
