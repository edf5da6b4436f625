import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { type CreatedKey } from '../../services/selling/keys/create-key';
import { findRequest } from '../../services/selling/requests/find-request';
import { suspendCustomer, suspendKey, suspendSubscription } from '../../services/selling/suspensions/suspend';
import { revokeKey } from '../../services/selling/keys/set-key-state';
import { eventually } from '../support/eventually';
import { openedForTests } from '../support/opened';
import { closeConnections, send, serve } from '../support/http';
import { expectMeasured, isMeasured } from '../support/measured';
import { testDatabase } from '../support/postgres/postgres';
import { startTestRedis } from '../support/redis/redis';
import { firstOf, inTestAll } from '../support/scenes';
import { childProcesses } from '../support/system/child-processes';
import { burst } from '../support/system/exact-burst';
import { startNode } from '../support/system/node';
import { lastAdmittedAfter } from '../support/system/revocation';
import { newKey } from '../contracts/access-records';

const PLENTY = 1_000_000;
const LOOPS = 8;
/** Leaves the processes that start again their turns. */
const PAUSE_MS = 20;

describe('a plugin server of two workers', () => {
  afterAll(closeConnections);
  const opened = openedForTests();
  const database = opened.use(testDatabase);
  const redis = opened.use(startTestRedis);
  const service = opened.use(() => serve((_request, response) => response.end('{}')));
  const node = opened.use(() =>
    startNode({
      name: 'edge',
      databaseUrl: database.url,
      redisUrl: redis.url,
      signingKeys: `test:${randomBytes(32).toString('base64')}`,
      upstreams: { vahaan: service.url },
      env: { PLUGIN_SERVER_WORKERS: '2' },
    }),
  );

  const keyFor = (daily = PLENTY) => newKey(database.pool, { products: ['api-vahaan'], mode: 'test', daily, monthly: PLENTY });
  const url = (): string => `${node.gateway}/vahaan`;

  const workers = (): number[] => childProcesses(node.pluginServer.pid ?? 0);

  /** How often each status came while `work` was done, and for a moment after it. */
  async function statusesDuring(key: string, work: () => Promise<void>): Promise<Record<number, number>> {
    const statuses: Record<number, number> = {};
    let running = true;
    const loop = async (): Promise<void> => {
      while (running) {
        const { status } = await send(url(), { headers: { 'X-API-Key': key } });
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (!isMeasured) await sleep(PAUSE_MS);
      }
    };
    const loops = Array.from({ length: LOOPS }, loop);
    await work().finally(() => (running = false));
    await Promise.all(loops);
    return statuses;
  }

  async function killOne(): Promise<void> {
    const [victim = 0] = workers();
    process.kill(victim, 'SIGKILL');
    await eventually(async () => !workers().includes(victim) && (await node.metric('tollgate_plugin_workers')) === 2);
  }

  it('is two nodes, each with its name', async () => {
    const names = async (): Promise<string[]> => {
      const { rows } = await database.pool.query<{ name: string }>('SELECT name FROM gateway_node ORDER BY name');
      return rows.map(({ name }) => name);
    };
    await eventually(async () => (await names()).length === 2);
    expect(await names()).toEqual(['edge #1', 'edge #2']);
  });

  it('lets exactly as many requests pass as are left, through both together, and shows one sum of them', async () => {
    const counts = await burst({ urls: [url()], newKey: keyFor, metrics: [(name) => node.metric(name)], left: 101, requests: 450 });
    expect(counts).toEqual({ 200: 101, 429: 349 });
    expect(await node.metric('tollgate_decisions_total{product="api-vahaan",code="admitted"}')).toBeGreaterThanOrEqual(101);
    expect(await node.metric('tollgate_change_feed_healthy')).toBe(1);
  });

  it('honours a revoked key for less than a second after the commit, in both', async () => {
    const { key, id } = await keyFor();
    const urls = [url(), url(), url(), url()];
    const lastAdmitted = await lastAdmittedAfter({ urls, key, revoke: () => revokeKey(database.pool, { id, actor: 'test' }) });
    for (const ms of lastAdmitted) expectMeasured(ms, 1_000);
  });

  const suspended: readonly (readonly [string, string, (key: CreatedKey, reason: string | undefined) => Promise<unknown>])[] = [
    ['key', 'key_unknown', ({ id }, reason) => suspendKey(database.pool, { id, reason, actor: 'test' })],
    [
      'subscription',
      'subscription_inactive',
      ({ subscriptions: [first] }, reason) => suspendSubscription(database.pool, { id: first?.id ?? '', reason, actor: 'test' }),
    ],
    [
      'customer',
      'subscription_inactive',
      ({ subscriptions: [first] }, reason) => suspendCustomer(database.pool, { customer: first?.customer ?? '', reason, actor: 'test' }),
    ],
  ];
  it.each(firstOf(suspended))(
    'refuses a %s that the seller suspended within a second, in both, as %s, and explains it',
    async (_, code, suspend) => {
      const made = await keyFor();
      const urls = [url(), url(), url(), url()];
      const lastAdmitted = await lastAdmittedAfter({ urls, key: made.key, revoke: () => suspend(made, 'unpaid') });
      for (const ms of lastAdmitted) expectMeasured(ms, 1_000);
      const refused = await send(url(), { headers: { 'X-API-Key': made.key } });
      const { code: shown, request_id: requestId } = refused.json() as { code: string; request_id: string };
      expect([refused.status, shown]).toEqual([401, code]);
      expect(refused.text).not.toContain('unpaid');
      await eventually(async () => (await findRequest(database.pool, { requestId })) !== undefined);
      expect(await findRequest(database.pool, { requestId })).toMatchObject({ suspended: 'unpaid', credentialId: made.id });
      await suspend(made, undefined);
      await eventually(async () => (await send(url(), { headers: { 'X-API-Key': made.key } })).status === 200);
    },
  );

  it('lets nobody through without a right while one of them is killed, and has two again', async () => {
    const statuses = await statusesDuring(generateApiKey('live'), killOne);
    expect(statuses[401]).toBeGreaterThan(0);
    expect(Object.keys(statuses).filter((status) => !['401', '500', '503'].includes(status))).toEqual([]);
  });

  it('goes on with the other while one of them is killed', async () => {
    const { key } = await keyFor();
    const { 200: admitted = 0, 500: lost = 0, ...others } = await statusesDuring(key, killOne);
    expect(others).toEqual({});
    // Those that ran in it at that moment.
    expect(lost).toBeLessThanOrEqual(LOOPS);
    expect(admitted).toBeGreaterThan(0);
  });

  inTestAll('has one worker a place when it is told to replace one that has just ended', async () => {
    const before = workers();
    process.kill(before[0] ?? 0, 'SIGKILL');
    node.pluginServer.kill('SIGHUP');
    await eventually(async () => workers().every((pid) => !before.includes(pid)) && (await node.metric('tollgate_plugin_workers')) === 2);
    await eventually(() => workers().length === 2);
  });

  it('replaces both at SIGHUP without a failed request, and they know what Kong started before', async () => {
    const { key } = await keyFor();
    const before = workers();
    const statuses = await statusesDuring(key, async () => {
      node.pluginServer.kill('SIGHUP');
      await eventually(() => workers().length === 2 && workers().every((pid) => !before.includes(pid)));
      expect(await node.metric('tollgate_plugin_workers')).toBe(2);
    });
    expect(Object.keys(statuses)).toEqual(['200']);
  });
});
