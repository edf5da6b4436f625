import { availableParallelism } from 'node:os';
import { tracing } from '@opentelemetry/sdk-node';
import { type PluginModule } from '../../plugins/core/access/kong-pdk';
import { type Decision } from '../../plugins/core/ports';
import { createPluginServerMetrics, type MetricSources } from '../../plugins/server/metrics';
import { startMetricsListener } from '../../plugins/server/metrics-listener';
import { readPluginServerSettings } from '../../plugins/server/settings';
import { send } from '../support/http';
import { pluginWith } from './test-server';
import { someDecision } from '../support/some-decision';
import { parseTraceparent } from '../../plugins/core/proof/trace-context';
import { createDecisionTracer } from '../../plugins/server/decision-tracer';
import { parseKeySet, parseSharedKeys, sharedContextKey } from '../../plugins/core/proof/context-keys';
import { createContextKey } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey } from '../../plugins/core/proof/product-keys';
import { createContextKeys, verifyContext } from '../../plugins/core/proof/verify-context';
import { signingSettings } from '../../plugins/server/signing-settings';
import { contextFor } from '../kit/context';

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

describe('the tracer of decisions', () => {
  const exporter = new tracing.InMemorySpanExporter();
  const provider = new tracing.BasicTracerProvider({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)] });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const callers = (flags: string): string => `00-${traceId}-b7ad6b7169203331-${flags}`;

  let now = 0;
  const tracerWith = (ratio: number, random = () => 0.5) =>
    createDecisionTracer({ ratio, random, clock: { monotonic: () => now }, tracer: provider.getTracer('test') });

  const decision = (outcome: Decision['outcome']): Decision =>
    someDecision({
      outcome,
      keyPlace: 'query',
      maskedKey: 'tg_live_…abcd',
      credentialId: 'k',
      customerId: 'c',
      subscriptionId: 's',
      product: 'api-ip',
      callerAddress: '203.0.113.9',
      originHost: 'example.com',
    });

  beforeEach(() => {
    exporter.reset();
    now = 0;
  });
  afterAll(() => provider.shutdown());

  describe('requests without a context of their own', () => {
    it('are traced at the ratio and otherwise left alone', () => {
      expect(tracerWith(0.4).begin(undefined, 0)).toBeUndefined();
      expect(parseTraceparent(tracerWith(0.6).begin(undefined, 0)?.traceparent)).toMatchObject({ isSampled: true });
    });

    it('are told with their steps and codes, and nothing that the caller sent', () => {
      const trace = tracerWith(1).begin(undefined, 1);
      trace?.addStep('resolve_key', 1, 2);
      trace?.addStep('spend_quota', 2, 5);
      trace?.end(decision('quota_daily_exceeded'));
      const spans = exporter.getFinishedSpans();
      expect(spans.map(({ name }) => name)).toEqual(['resolve key', 'spend quota', 'access decision']);
      const root = spans[2];
      expect(spans.slice(0, 2).map((span) => span.parentSpanContext?.spanId)).toEqual(Array(2).fill(root?.spanContext().spanId));
      expect(root?.attributes).toEqual({
        'tollgate.request_id': 'r-1',
        'tollgate.outcome': 'quota_daily_exceeded',
        'tollgate.product': 'api-ip',
      });
    });
  });

  describe('a context of the caller', () => {
    it('is continued when it is sampled, whatever the ratio', () => {
      const trace = tracerWith(0).begin(callers('01'), 0);
      trace?.end(decision('admitted'));
      expect(parseTraceparent(trace?.traceparent)).toMatchObject({ traceId, isSampled: true });
      expect(exporter.getFinishedSpans()[0]?.parentSpanContext).toMatchObject({ traceId, spanId: 'b7ad6b7169203331' });
    });

    it('that is not sampled is handed on unrecorded', () => {
      const trace = tracerWith(1).begin(callers('00'), 0);
      trace?.end(decision('admitted'));
      expect(trace?.traceparent).toBe(callers('00'));
      expect(exporter.getFinishedSpans()).toEqual([]);
    });

    it('is granted ten times a second, so that a stranger cannot have everything traced', () => {
      const tracer = tracerWith(1);
      const sampled = (): number =>
        Array.from({ length: 50 }, () => tracer.begin(callers('01'), 0)).filter((trace) => trace?.traceparent.endsWith('-01')).length;
      expect(sampled()).toBe(10);
      now = 1_000;
      expect(sampled()).toBe(10);
    });

    it.each([['nonsense'], [[callers('01'), callers('01')]]])('that is malformed is replaced: %p', (given) => {
      const replaced = tracerWith(0).begin(given, 0)?.traceparent;
      expect(parseTraceparent(replaced)).toMatchObject({ isSampled: false });
      expect(replaced).not.toContain(traceId);
    });
  });
});

const pair = createContextKey();
const SECRETS = `1:${Buffer.alloc(32, 1).toString('base64')},2:${Buffer.alloc(32, 2).toString('base64')}`;
const SHARED = `old:${Buffer.alloc(32, 3).toString('base64')}`;
const [first, second] = parseSharedKeys(SECRETS);
if (!second) throw new Error('there is one secret');

/** By what each key is called here. */
const believers = {
  pair: createContextKeys(parseKeySet(JSON.stringify(pair.keySet)), []),
  shared: createContextKeys([sharedContextKey(parseSharedKeys(SHARED)[0])], []),
  'product, generation 1': createContextKeys([deriveProductKey(first, 'api-ip')], []),
  'product, generation 2': createContextKeys([deriveProductKey(second, 'api-ip')], []),
  'derived pair': createContextKeys([derivePrivateKey(first)], []),
};

/** What the proofs of api-ip are signed with, where the catalogue says hs256, eddsa, or nothing as before there was a choice. */
function signedWith(env: Record<string, string>): (string | undefined)[] {
  const { sign } = signingSettings.parse(env);
  return (['hs256', 'eddsa', undefined] as const).map((proof) => {
    const token = sign(contextFor('api-ip'), proof);
    const expected = { products: ['api-ip'], nowSeconds: 0 };
    return Object.entries(believers).find(([, keys]) => verifyContext(token, keys, expected).ok)?.[0];
  });
}

describe('a plugin server signs', () => {
  const byProduct = 'product, generation 1';
  it.each([
    ['with what the first secret gives', { TOLLGATE_CONTEXT_SECRETS: SECRETS }, [byProduct, 'derived pair', 'derived pair']],
    [
      'for upstreams with the pair that it is given',
      { TOLLGATE_CONTEXT_SECRETS: SECRETS, TOLLGATE_CONTEXT_PRIVATE_KEY: pair.privateKey },
      [byProduct, 'pair', 'pair'],
    ],
    [
      'as before with a pair alone, whatever the catalogue says',
      { TOLLGATE_CONTEXT_PRIVATE_KEY: pair.privateKey },
      ['pair', 'pair', 'pair'],
    ],
    ['as before with shared keys alone', { TOLLGATE_SIGNING_KEYS: SHARED }, ['shared', 'shared', 'shared']],
    [
      'as before with the pair where shared keys are there too',
      { TOLLGATE_SIGNING_KEYS: SHARED, TOLLGATE_CONTEXT_PRIVATE_KEY: pair.privateKey },
      ['pair', 'pair', 'pair'],
    ],
  ])('%s', (_how, env, keys) => {
    expect(signedWith(env)).toEqual(keys);
  });

  it('nothing, and does not start, without any key', () => {
    expect(signingSettings.safeParse({}).error?.issues).toMatchObject([
      { path: ['TOLLGATE_CONTEXT_SECRETS'], message: 'is required and not set' },
    ]);
  });

  it('and says with what, but never the key', () => {
    const { description } = signingSettings.parse({ TOLLGATE_CONTEXT_SECRETS: SECRETS });
    expect(description).toBe(`HS256 by product, generation 1; EdDSA, key ${derivePrivateKey(first).id}`);
  });
});
