import { liveStates } from '../../cli/live-sources';
import { createLog } from '../../services/kit/log';
import { type ServiceDefinition } from '../../services/kit/service/define-service';
import { type WorkerServer } from '../../services/kit/worker/serve-worker';
import { type ServiceName } from '../../services/products/registry';
import { identityWorkerSettings } from '../../services/workers/identity/settings';
import { startIdentityWorker } from '../../services/workers/identity/start-identity-worker';
import { rankingWorkerSettings } from '../../services/workers/ranking/settings';
import { startRankingWorker } from '../../services/workers/ranking/start-ranking-worker';
import { seoWorkerSettings } from '../../services/workers/seo/settings';
import { startSeoWorker } from '../../services/workers/seo/start-seo-worker';
import { buildHarness, type CallOptions, type Harness } from '../kit/harness';
import { testClock } from '../kit/test-clock';
import { CATALOGUE } from '../support/catalogue';
import { SERVICES } from '../support/services';
import { runServices, type RunningServices } from '../../services/products/run-services';

describe('answers', () => {
  const lines: string[] = [];
  const log = createLog('test', { destination: { write: (line) => void lines.push(line) } });

  const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP6DwABBQECz6AuzQAAAABJRU5ErkJggg==';
  const post = (url: string, payload: object): CallOptions => ({ method: 'POST', url, payload });
  /** One request that asks the live source, of every product that is backed by workers. */
  const CALLS: Partial<Record<ServiceName, CallOptions>> = {
    aadhaar: post('/aadhaar/start', { aadhaar: '999999990019' }),
    app: { method: 'POST', url: '/app/analyze', payload: 'PK', headers: { 'content-type': 'application/vnd.android.package-archive' } },
    glead: post('/glead/search', { query: 'dentist' }),
    grank: post('/grank/search', { keyword: 'dentist', latitude: 12.97, longitude: 77.59 }),
    gst: { method: 'GET', url: '/gst/start' },
    image: post('/image/background_remover', { image: PIXEL }),
    seo: post('/seo/serp', { query: 'tea' }),
  };
  const NAMES = Object.keys(CALLS) as (keyof typeof CALLS)[];

  const settings = {
    identity: identityWorkerSettings.parse({}),
    ranking: rankingWorkerSettings.parse({}),
    seo: seoWorkerSettings.parse({ SEO_TRANCO: 'false', SEO_DUCKDUCKGO: 'false', SEO_GOOGLE_SUGGEST: 'false' }),
  };
  /** No page is read where no source is configured, so that no thread starts. */
  const pageThread = '/no/page/is/parsed';
  const closers: (() => unknown)[] = [];
  let workers: Record<string, string>;

  beforeAll(async () => {
    const started: Record<string, WorkerServer> = {
      IDENTITY_WORKER_URL: await startIdentityWorker(settings.identity, { log, clock: testClock }),
      RANKING_WORKER_URL: await startRankingWorker({ settings: settings.ranking, log, clock: testClock, pageThread }),
      SEO_WORKER_URL: await startSeoWorker({ settings: settings.seo, log, clock: testClock, pageThread }),
    };
    closers.push(...Object.values(started).map((worker) => () => worker.close(50)));
    workers = Object.fromEntries(Object.entries(started).map(([name, { address }]) => [name, address]));
  });
  afterAll(() => Promise.all(closers.map((close) => close())));

  async function harnessOf(name: ServiceName, env: Record<string, string>): Promise<Harness> {
    const harness = await buildHarness<unknown, unknown>(SERVICES[name], env, { log });
    closers.push(() => harness.app.close());
    return harness;
  }

  async function answerOf(name: ServiceName, env: Record<string, string>, mode: 'live' | 'test'): Promise<unknown> {
    const { call } = await harnessOf(name, env);
    lines.length = 0;
    const answer = await call({ ...CALLS[name], context: { mode } });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    return answer.json();
  }

  /** The whole body: no member, and no text, names a setting. */
  const bodyWith = (detail: string): object => ({
    type: expect.any(String),
    title: 'Product not configured',
    status: 503,
    code: 'upstream_not_configured',
    detail,
    request_id: 'request-1',
  });

  const WITHOUT_LIVE_SOURCE = NAMES.filter((name) =>
    liveStates({}, CATALOGUE).some(({ product, live }) => product === `api-${name}` && !live),
  );

  it('the products here are all that need workers or a live source', () => {
    const allWorkers = Object.fromEntries(['APK', 'IDENTITY', 'IMAGE', 'RANKING', 'SEO'].map((kind) => [`${kind}_WORKER_URL`, 'worker:1']));
    const isBacked = ({ settings: schema }: ServiceDefinition): boolean => JSON.stringify(schema.parse(allWorkers)).includes('worker:1');
    expect(NAMES).toEqual(Object.keys(SERVICES).filter((name) => isBacked(SERVICES[name as ServiceName])));
    expect(WITHOUT_LIVE_SOURCE).toHaveLength(liveStates({}, CATALOGUE).filter(({ live }) => !live).length);
  });

  it.each(WITHOUT_LIVE_SOURCE)(
    '%s without its live source tells a live key so, and that test keys work; the log names the setting',
    async (name) => {
      expect(await answerOf(name, workers, 'live')).toEqual(bodyWith('No live source is configured for this request. Test keys work.'));
      const missing = liveStates({}, CATALOGUE).find(({ product }) => product === `api-${name}`)?.missing ?? [];
      expect(lines.join()).toMatch(new RegExp(missing.map((text) => text.split(' ')[0]).join('|')));
    },
  );

  /** Steps of a session, which cannot have begun. */
  const SESSION = 'c16a307964c12ec335d97efab9c98391';
  const STEPS: readonly (readonly [ServiceName, CallOptions])[] = [
    ['gst', { method: 'GET', url: `/gst/refresh_captcha?sessionId=${SESSION}` }],
    ['gst', post('/gst/data', { sessionId: SESSION, gstin: '27AAACR5055K1Z7', captcha: 'KX47M' })],
    ['aadhaar', post('/aadhaar/captcha', { sessionId: SESSION, captcha: 'KX47M' })],
    ['aadhaar', post('/aadhaar/otp', { sessionId: SESSION, otp: '123456' })],
  ];

  it.each(STEPS)('%s refuses a later step like the first while its source is not set: %j', async (name, step) => {
    const { call } = await harnessOf(name, workers);
    const expected = {
      live: bodyWith('No live source is configured for this request. Test keys work.'),
      test: bodyWith('No sandbox is configured for test keys.'),
    };
    for (const mode of ['live', 'test'] as const) expect((await call({ ...step, context: { mode } })).json()).toEqual(expected[mode]);
  });

  it.each(WITHOUT_LIVE_SOURCE)('%s without a sandbox tells a test key so', async (name) => {
    expect(await answerOf(name, workers, 'test')).toEqual(bodyWith('No sandbox is configured for test keys.'));
    expect(lines.join()).toContain('SANDBOX_URL');
  });

  it.each(NAMES)('%s without workers shows its index, and tells every key so; the log names the setting', async (name) => {
    const { call } = await harnessOf(name, {});
    const index = SERVICES[name].routes.find(({ path }) => path === `/${name}`);
    if (index) expect((await call({ method: 'GET', url: index.path })).statusCode).toBe(200);
    for (const mode of ['live', 'test'] as const) {
      expect(await answerOf(name, {}, mode)).toEqual(bodyWith('This product is not set up.'));
      expect(lines.join()).toMatch(/not set: [A-Z]+_WORKER_URL/);
    }
  });
});

describe('what is live', () => {
  const ENV = {
    TOLLGATE_SIGNING_KEYS: `a:${Buffer.alloc(32, 7).toString('base64')}`,
    SERVICE_PORT: '0',
    PRIVATE_PORT: '0',
    SERVICE_LEAVE_MS: '0',
    LOG_LEVEL: 'silent',
  };
  const CHOSEN = [SERVICES.pincode, SERVICES.aadhaar, SERVICES.gst, SERVICES.seo, SERVICES.image, SERVICES['background-remover']];

  let running: RunningServices;
  afterEach(() => running.close());

  interface Live {
    readonly products: object;
    readonly routes: Readonly<Record<string, readonly object[]>>;
    readonly data: object;
  }

  async function liveWith(env: Readonly<Record<string, string>>): Promise<Live> {
    running = await runServices(CHOSEN, { ...ENV, ...env });
    return (await (await fetch(`${running.privateUrl}/live`)).json()) as Live;
  }

  it('a service without its worker says that no live key is served', async () => {
    const { products, routes, data } = await liveWith({});
    const none = ['api-aadhaar', 'api-gst', 'api-seo', 'api-image', 'api-background-remover'].map((product) => [product, false]);
    expect(products).toEqual({ 'api-pincode': true, ...Object.fromEntries(none) });
    expect(routes['api-seo']).toContainEqual({ path: '/seo/authority', opens: 'with_source' });
    expect(data).toEqual({});
  });

  it('a service with a worker leaves it to the worker to say what has a source', async () => {
    const nobody = '127.0.0.1:9';
    const workers = { IDENTITY_WORKER_URL: nobody, SEO_WORKER_URL: nobody, IMAGE_WORKER_URL: nobody };
    const { products, routes, data } = await liveWith(workers);
    expect(products).toEqual({ 'api-pincode': true, 'api-image': true, 'api-background-remover': true });
    expect(routes['api-seo']).toContainEqual({ path: '/seo/authority', opens: 'always' });
    expect(routes['api-gst']).toContainEqual({ path: '/gst/start', opens: 'with_source' });
    expect(data).toEqual({});
  });
});
