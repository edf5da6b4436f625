import { REDIS_USERS } from '../../cli/container/redis-users';
import { DATABASE_ROLES } from '../../cli/database-roles/privileges';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPool } from '../../plugins/stores/postgres/pool';
import { ExampleCaller, type SandboxExample } from '../support/follow-example';
import { eventually } from '../support/eventually';
import { closeConnections, type Reply, send, serve } from '../support/http';
import { startInstance } from '../support/system/instance';
import { checkLogs, countSecrets, findSecrets, noteSecret, readLogs } from '../support/used-secrets';
import { namesIn, readAlerts, readOperations, readPanels, seriesIn } from './support/metric-names';
import { openedForTests } from '../support/opened';
import { newKey } from '../contracts/access-records';

interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** `service.name` of the process. */
  readonly process: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

interface TraceCollector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that arrived, as it came. */
  text(): string;
  close(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Payload {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        attributes: readonly Attribute[];
        status?: { code?: number };
      }[];
    }[];
  }[];
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

const ERROR = 2;

function spansIn({ resourceSpans }: Payload): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const process = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ traceId, spanId, parentSpanId = '', name, attributes, status }) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        process,
        attributes: valuesOf(attributes),
        isError: status?.code === ERROR,
      }));
  });
}

/** Takes traces as OTLP over HTTP, in JSON, on loopback. */
async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const { url, close } = await serve((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += String(chunk)));
    request.on('end', () => {
      texts.push(text);
      if (request.url === '/v1/traces') spans.push(...spansIn(JSON.parse(text) as Payload));
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  return { url, spans, text: () => texts.join('\n'), close };
}

/** An instance that tells everything it can: every level of the log, every request traced. */
afterAll(closeConnections);
const opened = openedForTests();
const collector = opened.use(startTraceCollector);
const instance = opened.use(() =>
  startInstance({
    LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    // The sandbox documents upstreams that never answer.
    IDENTITY_MESSAGE_TIMEOUT_MS: '2000',
  }),
);
const db = opened.use(() => createPool(instance.databaseUrl, { max: 2, applicationName: 'observability' }));
let examples: SandboxExample[];
let caller: ExampleCaller;
let key = '';

const PRODUCTS = ['api-aadhaar', 'api-gst', 'api-glead', 'api-pincode'];

beforeAll(async () => {
  ({ key } = await newKey(db, { products: PRODUCTS, mode: 'test' }));
  noteSecret('API key', key);
  examples = (await send(`${instance.sandbox}/`)).json();
  caller = new ExampleCaller(instance.gateway.replace(/\/$/, ''), () => key);
});

const exampleOf = (product: string, outcome: string, route: string): SandboxExample => {
  const found = examples.find((each) => each.product === product && each.outcome === outcome && each.route === route);
  if (!found) throw new Error(`the sandbox documents no ${outcome} of ${route}`);
  return found;
};

/** All spans of the request, once that with this name has arrived. */
async function traceOf(reply: Reply, names: readonly string[]): Promise<CollectedSpan[]> {
  const requestId = reply.headers['x-kong-request-id'];
  const spans = (): CollectedSpan[] => {
    const first = collector.spans.find((span) => span.attributes['tollgate.request_id'] === requestId);
    return collector.spans.filter(({ traceId }) => traceId === first?.traceId);
  };
  await eventually(() => names.every((name) => spans().some((span) => span.name === name)));
  return spans();
}

/** Name and process of each span under the name of its parent. */
function treeOf(spans: readonly CollectedSpan[]): string[] {
  const nameOf = (id: string): string => spans.find(({ spanId }) => spanId === id)?.name ?? '';
  return spans.map(({ name, parentSpanId, process }) => `${nameOf(parentSpanId)} > ${name} (${process})`).sort();
}

describe('one request through everything', () => {
  it('is one trace, from the decision through service and worker to the upstream', async () => {
    const reply = await caller.follow(exampleOf('api-gst', 'success', '/gst/start'));
    expect(reply.status).toBe(200);
    const names = ['access decision', 'service gst', 'identity-worker GstStart', 'worker identity GstStart', 'gst start'];
    expect(treeOf(await traceOf(reply, names))).toEqual(
      [
        ' > access decision (tollgate-plugin-server)',
        'access decision > resolve key (tollgate-plugin-server)',
        'access decision > check access (tollgate-plugin-server)',
        'access decision > spend quota (tollgate-plugin-server)',
        'access decision > service gst (tollgate-services)',
        'service gst > identity-worker GstStart (tollgate-services)',
        'identity-worker GstStart > worker identity GstStart (tollgate-worker-identity)',
        'worker identity GstStart > gst start (tollgate-worker-identity)',
      ].sort(),
    );
  });

  it('reaches an HTTP upstream behind a worker in the same trace', async () => {
    const reply = await caller.follow(exampleOf('api-glead', 'success', '/glead/search'));
    expect(reply.status).toBe(200);
    const tree = treeOf(await traceOf(reply, ['service glead', 'worker ranking FindLeads', 'google_places']));
    expect(tree).toContain('worker ranking FindLeads > google_places (tollgate-worker-ranking)');
  });

  it("goes on with a caller's trace, and marks what failed", async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const { input } = exampleOf('api-pincode', 'provider_down', '/pincode');
    const query = new URLSearchParams(input as Record<string, string>).toString();
    const headers = { 'X-API-Key': key, traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const reply = await send(`${instance.gateway}/pincode?${query}`, { headers });
    expect(reply.status).toBe(502);
    const spans = await traceOf(reply, ['access decision', 'service pincode']);
    const decision = spans.find(({ name }) => name === 'access decision');
    expect(decision).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331', isError: false });
    expect(decision?.attributes).toMatchObject({ 'tollgate.outcome': 'admitted', 'tollgate.product': 'api-pincode' });
    expect(spans.find(({ name }) => name === 'service pincode')).toMatchObject({ isError: true });
  });

  it('has the same request id in the log of everybody who took part', async () => {
    const reply = await caller.follow(exampleOf('api-gst', 'success', '/gst/start'));
    const requestId = String(reply.headers['x-kong-request-id']);
    const linesOf = (name: string): { requestId?: string }[] =>
      readFileSync(join(instance.dataDir, 'logs', `${name}.log`), 'utf8')
        .split('\n')
        .filter((line) => line.includes(requestId))
        .map((line) => JSON.parse(line) as { requestId?: string });
    for (const name of ['gateway', 'plugin-server', 'services', 'worker-identity']) {
      await eventually(() => linesOf(name).length > 0);
      for (const line of linesOf(name)) expect([name, line.requestId]).toEqual([name, requestId]);
    }
  });

  it('is logged in lines that name no member twice, which some collectors refuse', () => {
    const lines = ['gateway', 'plugin-server', 'services', 'worker-identity', 'worker-ranking']
      .flatMap((name) => readFileSync(join(instance.dataDir, 'logs', `${name}.log`), 'utf8').split('\n'))
      .filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(10);
    // Of two members with one name the parser keeps the last, and the text gets shorter.
    for (const line of lines) expect(JSON.stringify(JSON.parse(line))).toBe(line);
  });
});

describe('what the processes tell at /metrics', () => {
  let outputs: ReadonlyMap<string, string>;
  let series: ReadonlySet<string>;

  beforeAll(async () => {
    const replies = Object.entries(instance.metrics).map(async ([name, url]) => [name, (await send(url)).text] as const);
    outputs = new Map(await Promise.all(replies));
    series = seriesIn([...outputs.values()]);
  });

  it('has every metric of the dashboard, the alerts and the documentation', () => {
    const expressions = [...readPanels().flatMap(({ targets = [] }) => targets), ...readAlerts()].map(({ expr }) => expr);
    expect(expressions.length).toBeGreaterThan(50);
    const named = [...expressions, readOperations()].flatMap(namesIn);
    // Logins are called like metrics, and a plugin server of one process has no count of its processes.
    const others = new Set<string>([...DATABASE_ROLES, ...REDIS_USERS, 'tollgate_plugin_workers']);
    expect([...new Set(named)].filter((name) => !series.has(name) && !others.has(name))).toEqual([]);
  });

  it('comes from plugin server, services, dashboard and every worker, with what each of them did', () => {
    expect([...outputs.keys()].sort()).toEqual(
      ['plugin-server', 'services', 'dashboard', 'worker-apk', 'worker-identity', 'worker-image', 'worker-ranking', 'worker-seo'].sort(),
    );
    expect(outputs.get('plugin-server')).toMatch(/tollgate_plugin_step_duration_seconds_count\{step="spend_quota"\} [1-9]/);
    expect(outputs.get('plugin-server')).toContain('tollgate_breaker_open{breaker="quota_postgres"} 0');
    expect(outputs.get('services')).toMatch(
      /upstream_duration_seconds_count\{service="gst",upstream="identity-worker",outcome="ok"\} [1-9]/,
    );
    expect(outputs.get('worker-identity')).toMatch(/worker_calls_total\{worker="identity",method="GstStart",outcome="ok"\} [1-9]/);
    expect(outputs.get('worker-identity')).toMatch(/worker_sessions_open\{worker="identity",product="gst"\} [1-9]/);
    expect(outputs.get('worker-ranking')).toMatch(/upstream_duration_seconds_count\{service="ranking-worker",upstream="google_places"/);
    expect(outputs.get('worker-image')).toContain('tollgate_worker_pool_size{worker="image",pool="pictures"} 1');
    expect(outputs.get('worker-apk')).toContain('tollgate_worker_queue_waiting{worker="apk",pool="analyses"} 0');
  });

  it('has no label for what a caller sent', () => {
    const labels = new Set([...outputs.values()].flatMap((text) => [...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label)));
    const known =
      'breaker class code kind le method mode outcome pool product quantile route service status step store space type upstream worker';
    expect([...labels].filter((label) => !`${known} version major minor patch`.split(' ').includes(label ?? ''))).toEqual([]);
  });
});

describe('no secret that was sent', () => {
  beforeAll(async () => {
    const secretive = examples.filter(({ product }) => product === 'api-aadhaar' || product === 'api-gst');
    await Promise.all(secretive.map((example) => caller.follow(example)));
    const { input } = exampleOf('api-aadhaar', 'success', '/aadhaar/start');
    // Where none of them belongs: in a URL, under another method, in a path, in broken JSON.
    await Promise.all([
      send(`${instance.gateway}/aadhaar/start?aadhaar=${String(input['aadhaar'])}&otp=123456&api_key=${key}`),
      send(`${instance.gateway}/aadhaar/${String(input['aadhaar'])}?api_key=${key}`),
      send(`${instance.gateway}/aadhaar/otp?captcha=KX47M`, { method: 'DELETE', headers: { Authorization: `Bearer ${key}` } }),
      send(`${instance.gateway}/aadhaar/start`, {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: `{"aadhaar":"${String(input['aadhaar'])}","otp":`,
      }),
      send(`${instance.gateway}/ip`, { headers: { 'X-API-Key': key, traceparent: key, 'X-Request-Id': key } }),
    ]);
  });

  it('is in any log, at the level that tells most', () => {
    expect(countSecrets()).toBeGreaterThan(10);
    expect(readLogs(instance.dataDir)).toContain('"level":"debug"');
    checkLogs(instance.dataDir);
  });

  it('is in any metric', async () => {
    for (const url of Object.values(instance.metrics)) expect(findSecrets((await send(url)).text)).toEqual([]);
  });

  it('is in any trace', async () => {
    await eventually(() => collector.spans.some(({ name }) => name === 'aadhaar otp'));
    expect(findSecrets(collector.text())).toEqual([]);
  });

  it('is in the record of decisions, or in what explain says of it', async () => {
    const rows = async (): Promise<{ request_id: string }[]> => (await db.query<{ request_id: string }>('SELECT * FROM decision')).rows;
    await eventually(async () => (await rows()).length > 20);
    const decisions = await rows();
    expect(findSecrets(JSON.stringify(decisions))).toEqual([]);
    const explained = await instance.cli('explain', decisions.at(-1)?.request_id ?? '', '--json');
    expect(explained.code).toBe(0);
    expect(findSecrets(explained.stdout + explained.stderr)).toEqual([]);
  });
});
