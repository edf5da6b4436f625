import { availableParallelism } from 'node:os';
import { type PluginModule } from '../../plugins/core/access/kong-pdk';
import { type Decision } from '../../plugins/core/ports';
import { createPluginServerMetrics, type MetricSources } from '../../plugins/server/metrics';
import { startMetricsListener } from '../../plugins/server/metrics-listener';
import { readPluginServerSettings } from '../../plugins/server/settings';
import { send } from '../support/http';
import { pluginWith } from './test-server';
import { someDecision } from '../support/some-decision';

const decision = (over: Partial<Decision>): Decision =>
  someDecision({
    products: ['api-image', 'api-background-remover'],
    maskedKey: 'tg_live_…abcd',
    callerAddress: '203.0.113.9',
    ...over,
  });

const cache = {
  known: 1,
  unknown: 2,
  hits: 30,
  reads: 4,
  absences: 9,
  doubtfulRefused: 10,
  knownHashes: 7,
  staleUses: 5,
  failures: 6,
  isBreakerOpen: true,
};

const sources = (over: Partial<MetricSources> = {}): MetricSources => ({
  server: () => ({ events: 7, failed: 1, overdue: 2, abandoned: 3, protocolErrors: 4, connections: 5, running: 6, instances: 8 }),
  cache: () => cache,
  isFeedHealthy: () => true,
  quota: () => ({
    storeInUse: 'postgres',
    redisCalls: 1,
    postgresCalls: 2,
    failures: 3,
    failovers: 4,
    lateUnits: 5,
    seedings: 6,
    usageRowsWritten: 7,
    waiting: 8,
    isRedisGivenUp: true,
    isPostgresGivenUp: false,
  }),
  decisions: () => ({ queued: 11, written: 12, dropped: 13, droppedAnonymous: 15, failures: 14 }),
  ...over,
});

describe('metrics of the plugin server', () => {
  it('count decisions by product and code, and hand every one on', async () => {
    const metrics = createPluginServerMetrics();
    const handedOn: Decision[] = [];
    const log = metrics.countDecisions({ record: (each) => void handedOn.push(each) });
    log.record(decision({ product: 'api-background-remover' }));
    log.record(decision({ product: 'api-background-remover' }));
    log.record(decision({ outcome: 'key_unknown' }));
    const text = await metrics.registry.metrics();
    expect(text).toContain('tollgate_decisions_total{product="api-background-remover",code="admitted"} 2');
    expect(text).toContain('tollgate_decisions_total{product="api-image",code="key_unknown"} 1');
    expect(handedOn).toHaveLength(3);
    // A second scrape must not count again.
    expect(await metrics.registry.metrics()).toContain('tollgate_decisions_total{product="api-image",code="key_unknown"} 1');
  });

  it('count the routes that let requests through, for ten minutes after the last one', async () => {
    const { registry, noteUnenforced } = createPluginServerMetrics();
    const shown = async (): Promise<unknown> => /^tollgate_unenforced_routes (\d+)$/m.exec(await registry.metrics())?.[1];
    expect(await shown()).toBe('0');
    const now = jest.spyOn(performance, 'now');
    for (const products of [['api-ip'], ['api-ip', 'api-gst'], ['api-ip']]) noteUnenforced(products);
    expect(await shown()).toBe('2');
    now.mockReturnValue(performance.now() + 599_000);
    noteUnenforced(['api-ip']);
    now.mockReturnValue(performance.now() + 2_000);
    expect(await shown()).toBe('1');
    now.mockRestore();
  });

  it('hold nothing of a caller or a key', async () => {
    const metrics = createPluginServerMetrics();
    metrics.countDecisions({ record: () => undefined }).record(decision({}));
    expect(await metrics.registry.metrics()).not.toMatch(/tg_live|abcd|203\.0\.113/);
  });

  it('read the figures of server, cache, stores and log when they are asked for', async () => {
    const metrics = createPluginServerMetrics();
    let hits = 30;
    metrics.watch(sources({ cache: () => ({ ...cache, hits }) }));
    hits = 31;
    const lines = (await metrics.registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'tollgate_plugin_events_total 7',
        'tollgate_plugin_protocol_errors_total 4',
        'tollgate_access_cache_hits_total 31',
        'tollgate_access_cache_stale_uses_total 5',
        'tollgate_access_cache_absences_total 9',
        'tollgate_access_cache_doubtful_refused_total 10',
        'tollgate_access_cache_known_hashes_complete 1',
        'tollgate_change_feed_healthy 1',
        'tollgate_quota_store_in_use{store="redis"} 0',
        'tollgate_quota_store_in_use{store="postgres"} 1',
        'tollgate_quota_failovers_total 4',
        'tollgate_access_cache_failures_total 6',
        'tollgate_quota_waiting 8',
        'tollgate_breaker_open{breaker="quota_redis"} 1',
        'tollgate_breaker_open{breaker="quota_postgres"} 0',
        'tollgate_breaker_open{breaker="access_records"} 1',
        'tollgate_decision_log_queued 11',
        'tollgate_decision_log_dropped_total 13',
        'tollgate_decision_log_dropped_anonymous_total 15',
      ]),
    );
  });

  it('time every event, failed ones too, and leave the plugin as it was', async () => {
    const metrics = createPluginServerMetrics();
    const plugin: PluginModule = pluginWith((_kong, config) => (config['fail'] ? Promise.reject(new Error('no')) : Promise.resolve()));
    const timed = metrics.timeEvents(plugin);
    expect({ ...timed, Plugin: undefined }).toEqual({ ...plugin, Plugin: undefined });
    const kong = {} as Parameters<InstanceType<PluginModule['Plugin']>['access']>[0];
    await new timed.Plugin({}).access(kong);
    await expect(new timed.Plugin({ fail: true }).access(kong)).rejects.toThrow('no');
    expect(() => new timed.Plugin({ refuse: true })).toThrow('secret reason');
    expect(await metrics.registry.metrics()).toContain('tollgate_plugin_event_duration_seconds_count 2');
  });

  it('time the steps of a decision one by one', async () => {
    const metrics = createPluginServerMetrics();
    metrics.timeStep('resolve_key', 3);
    metrics.timeStep('spend_quota', 0.02);
    const text = await metrics.registry.metrics();
    expect(text).toContain('tollgate_plugin_step_duration_seconds_sum{step="resolve_key"} 0.003');
    expect(text).toContain('tollgate_plugin_step_duration_seconds_bucket{le="0.00005",step="spend_quota"} 1');
  });

  it('are served at /metrics alone', async () => {
    const { registry } = createPluginServerMetrics();
    const listener = await startMetricsListener({ host: '127.0.0.1', port: 0, registry });
    const base = `http://127.0.0.1:${listener.port}`;
    const reply = await send(`${base}/metrics`, { headers: { Connection: 'close' } });
    expect([reply.status, reply.headers['content-type']]).toEqual([200, registry.contentType]);
    expect((await send(`${base}/`, { headers: { Connection: 'close' } })).status).toBe(404);
    await listener.close();
  });

  it('keep the connection between two scrapes', async () => {
    const { registry } = createPluginServerMetrics();
    const listener = await startMetricsListener({ host: '127.0.0.1', port: 0, registry });
    const { headers } = await send(`http://127.0.0.1:${listener.port}/metrics`, { headers: { Connection: 'keep-alive' } });
    expect(headers['keep-alive']).toBe('timeout=75');
    await listener.close();
  });
});

describe('settings of the plugin server', () => {
  const needed = { DATABASE_URL: 'postgres://db/t', TOLLGATE_SIGNING_KEYS: `k:${'A'.repeat(43)}=`, PLUGIN_SOCKET: '/tmp/s' };

  it.each([
    ['no metrics and one process unless told', {}, { metrics: undefined, workers: 1 }],
    ['a port means loopback', { METRICS_PORT: '9100' }, { metrics: { host: '127.0.0.1', port: 9100 } }],
    ['as many as there are processors', { PLUGIN_SERVER_WORKERS: 'auto' }, { workers: availableParallelism() }],
  ])('mean: %s', (_, env, read) => {
    expect(readPluginServerSettings({ ...needed, ...env })).toMatchObject(read);
  });

  it.each<[object, string]>([
    [{ METRICS_PORT: '70000' }, 'METRICS_PORT: must be a whole number from 0 to 65535'],
    ...['0', '100', 'many'].map((workers): [object, string] => [
      { PLUGIN_SERVER_WORKERS: workers },
      'PLUGIN_SERVER_WORKERS: must be auto or a number',
    ]),
  ])('refuse %j', (env, problem) => {
    expect(() => readPluginServerSettings({ ...needed, ...env })).toThrow(problem);
  });
});
