import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECRET_NAMES } from '../../cli/container/secret-names';
import {
  dashboardChild,
  gatewayChild,
  type PlanContext,
  pluginServerChild,
  hasPaymentsSandbox,
  sandboxChild,
  servicesChild,
  workerChild,
} from '../../cli/supervisor/plan';
import { foldersOfCommand, foldersOfStart, leadTo } from '../../cli/supervisor/find-folders';
import { describeMissing, liveStates } from '../../cli/live-sources';
import { CATALOGUE } from '../support/catalogue';
import { realmOf } from '../../cli/supervisor/realm';
import { readPluginServerSettings } from '../../plugins/server/settings';
import { type DatabaseFacts, type Finding, judgeSystem, type SystemFacts } from '../../cli/commands/judge-system';
import { type NodeHealth } from '../../services/selling/operators/read-nodes';

/** As when an operator has set them all, each to its own name. */
const PAYMENT_SECRETS = ['RAZORPAY_KEY_ID', 'RAZORPAY_KEY_SECRET', 'RAZORPAY_WEBHOOK_SECRET', 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'];
const env = Object.fromEntries([...SECRET_NAMES, 'HOME'].map((name) => [name, name]));

const context: PlanContext = {
  root: '/project',
  logsDir: '/logs',
  env,
  databaseUrls: { owner: 'owner', plugin: 'plugin', dashboard: 'dashboard', service: 'service' },
  redisUrl: undefined,
  proofKeys: { secrets: 'secrets', privateKey: 'private', productKeys: 'products', keySet: 'public', sharedKeys: 'shared' },
  linkKeys: 'links',
  dashboardSecret: 'secret',
  paymentsSecret: 'secret',
  pluginSocket: '/socket',
  gateway: 'local',
  forwardAuthSocket: '/forward-auth',
  laneSocket: '/lane',
  services: ['ip'],
  realm: undefined,
  hasPrices: true,
  ports: {
    gateway: 1, dashboard: 2, dashboardPrivate: 3, sandbox: 4, paymentsSandbox: 10, services: 5, servicesPrivate: 6, workers: { apk: 7 }, workersPrivate: { apk: 8 },
    pluginServerMetrics: 9,
  }, // prettier-ignore
};

const TLS = ['WORKER_TLS_CA', 'WORKER_TLS_CERT', 'WORKER_TLS_KEY'];
const worker = (name: string) => workerChild(context, name);

it.each([
  [
    'the plugin server',
    pluginServerChild(context),
    [
      ...['DATABASE_URL', 'GATEWAY_SECRET', 'GDPLAY_LINK_KEYS', 'TOLLGATE_CONTEXT_PRIVATE_KEY', 'TOLLGATE_CONTEXT_SECRETS'],
      'TOLLGATE_SIGNING_KEYS',
    ],
  ],
  [
    'services',
    servicesChild(context),
    [
      ...['APP_VIRUSTOTAL_KEY', 'DATABASE_URL', 'GDPLAY_API_KEY', 'GDPLAY_LINK_KEYS', 'IP_ABUSEIPDB_KEY', 'PINCODE_GEONAMES_USERNAME'],
      ...['TOLLGATE_CONTEXT_JWKS', 'TOLLGATE_CONTEXT_KEYS', 'TOLLGATE_SIGNING_KEYS', ...TLS],
    ],
  ],
  [
    'the dashboard',
    dashboardChild(context),
    ['DASHBOARD_SECRET', 'DASHBOARD_SIGN_IN_SECRETS', 'DATABASE_URL', 'SMTP_URL', ...PAYMENT_SECRETS],
  ],
  ['the gateway', gatewayChild(context), []],
  ['the sandbox', sandboxChild(context), []],
  ['the worker of APK files', worker('apk'), TLS],
  [
    'the worker of identities',
    worker('identity'),
    [
      ...['AADHAAR_LINK_TOKEN', 'AADHAAR_LINK_URL', 'AADHAAR_PROVIDER_KEY', 'AADHAAR_PROVIDER_URL', 'GST_LINK_TOKEN', 'GST_LINK_URL'],
      ...['GST_PORTAL_URL', 'IDENTITY_HMAC_KEY', ...TLS],
    ],
  ],
  ['the worker of images', worker('image'), ['IMAGE_UPSTREAM_TOKEN', 'IMAGE_UPSTREAM_URL', ...TLS]],
])('of all secrets %s is told what it needs and no more', (_name, child, told) => {
  const known = SECRET_NAMES.filter((name) => child.env[name] !== undefined);
  expect(known.sort()).toEqual([...told, 'OTEL_EXPORTER_OTLP_HEADERS'].sort());
  expect(child.env['HOME']).toBe('HOME');
});

it('each process has the database login of its own role', () => {
  const logins = [pluginServerChild(context), servicesChild(context), dashboardChild(context)].map((child) => child.env['DATABASE_URL']);
  expect(logins).toEqual(['plugin', 'service', 'dashboard']);
});

it.each([
  ['is localhost unless told, where browsers keep passkeys', undefined, 'http://localhost:2'],
  ['is as told', 'https://dashboard.example.com', 'https://dashboard.example.com'],
  ['is no port of this machine that another program has', 'http://127.0.0.1:8080', 'http://localhost:2'],
])('the address of the dashboard %s', (_name, given, url) => {
  const env = { ...context.env, DASHBOARD_URL: given };
  expect(dashboardChild({ ...context, env }).env['DASHBOARD_URL']).toBe(url);
});

it('runs no stand-in for a payment provider where nothing has a price, and the dashboard is given none', () => {
  expect(hasPaymentsSandbox(context)).toBe(true);
  expect(dashboardChild(context).env).toMatchObject({ DASHBOARD_PAYMENTS_SANDBOX: expect.any(String) });
  const free = { ...context, hasPrices: false };
  expect(hasPaymentsSandbox(free)).toBe(false);
  expect(Object.keys(dashboardChild(free).env).filter((name) => name.startsWith('DASHBOARD_PAYMENTS_SANDBOX'))).toEqual([]);
});

describe('the folders of a program', () => {
  let top: string;
  /** The program's folder. */
  let root: string;
  let shop: string;
  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), 'tollgate-folders-'));
    [root, shop] = [join(top, 'tollgate'), join(top, 'shop')];
    for (const folder of [join(root, 'kong'), shop]) {
      mkdirSync(folder, { recursive: true });
      for (const name of ['catalogue.yml', 'kong.yml']) writeFileSync(join(folder, name), '');
    }
  });
  afterEach(() => rmSync(top, { recursive: true, force: true }));

  /** What a clone and an installed package are told when they are called in a folder. */
  const clone = (here: string) => ({ root, home: root, here });
  const installed = (here: string) => ({ root, home: here, here });
  const foldersOf = ({ TOLLGATE_DATA_DIR, TOLLGATE_CONFIG }: NodeJS.ProcessEnv) => [TOLLGATE_DATA_DIR, TOLLGATE_CONFIG];

  function run(dataDir: string, config: string): void {
    mkdirSync(dataDir, { recursive: true });
    const supervisor = { pid: 1, startedAt: '1' };
    writeFileSync(
      join(dataDir, 'state.json'),
      JSON.stringify({ supervisor, children: [], databaseUrl: 'postgres://h/d', dataDir, config }),
    );
  }

  describe('a start', () => {
    it('keeps the data of a folder of what is sold in that folder, however it is named', () => {
      const expected = [join(shop, '.tollgate'), shop];
      expect(foldersOf(foldersOfStart(clone(top), {}, 'shop'))).toEqual(expected);
      expect(foldersOf(foldersOfStart(clone(top), { TOLLGATE_CONFIG: '../shop' }, undefined))).toEqual(expected);
      expect(foldersOf(foldersOfStart(installed(shop), {}, undefined))).toEqual(expected);
    });

    it('keeps the data of the example catalogue in the clone, and of an installed one where it was called, never in the program', () => {
      expect(foldersOf(foldersOfStart(clone(top), {}, undefined))).toEqual([join(root, '.tollgate'), undefined]);
      expect(foldersOf(foldersOfStart(clone(root), {}, 'kong'))).toEqual([join(root, '.tollgate'), join(root, 'kong')]);
      expect(foldersOf(foldersOfStart(installed(top), {}, undefined))).toEqual([join(top, '.tollgate'), undefined]);
    });

    it('keeps them where TOLLGATE_DATA_DIR says', () => {
      expect(foldersOf(foldersOfStart(clone(top), { TOLLGATE_DATA_DIR: '/data' }, 'shop'))).toEqual(['/data', shop]);
    });
  });

  describe('a command', () => {
    const isAlive = () => true;

    it('works on the instance that was started where it is called, and no longer when that has ended', () => {
      const data = join(shop, '.tollgate');
      run(data, shop);
      const endLead = leadTo(data, root);
      expect(foldersOf(foldersOfCommand(clone(root), {}, isAlive))).toEqual([data, shop]);
      expect(foldersOf(foldersOfCommand(clone(root), {}, () => false))).toEqual([join(root, '.tollgate'), undefined]);
      endLead();
      expect(foldersOf(foldersOfCommand(clone(root), {}, isAlive))).toEqual([join(root, '.tollgate'), undefined]);
      expect(existsSync(join(root, '.tollgate'))).toBe(false);
    });

    it('works on the folder in which it is called or which it names, whatever else runs', () => {
      run(join(top, '.tollgate'), join(root, 'kong'));
      const expected = [join(shop, '.tollgate'), shop];
      expect(foldersOf(foldersOfCommand(installed(shop), {}, isAlive))).toEqual(expected);
      expect(foldersOf(foldersOfCommand(installed(top), { TOLLGATE_CONFIG: shop }, isAlive))).toEqual(expected);
    });

    it('finds what runs by TOLLGATE_DATA_DIR alone', () => {
      run(join(top, 'data'), shop);
      const env = { TOLLGATE_DATA_DIR: join(top, 'data') };
      expect(foldersOf(foldersOfCommand(clone(root), env, isAlive))).toEqual([join(top, 'data'), shop]);
    });
  });
});

const stateOf = (env: NodeJS.ProcessEnv, id: string) => liveStates(env, CATALOGUE).find(({ product }) => product === id);
const liveOf = (env: NodeJS.ProcessEnv, id: string): boolean | undefined => stateOf(env, id)?.live;

describe('the live state of the products', () => {
  it('names the setting of each product without a source, and no product without a route', () => {
    expect(stateOf({}, 'api-vahan')).toBeUndefined();
    const missing = ['GST_LINK_URL', 'GST_PORTAL_URL with GST_PORTAL_ACKNOWLEDGEMENT'];
    expect(stateOf({}, 'api-gst')).toMatchObject({ live: false, missing });
    expect(stateOf({}, 'api-ip')).toMatchObject({ live: true, missing: [] });
    expect(describeMissing(['A', 'B'])).toBe('set A or B');
  });

  it('is live once any one of the settings is there', () => {
    expect(stateOf({ RANKING_WEBSOCKET_URL: 'wss://ranking.example' }, 'api-grank')).toMatchObject({ live: true, missing: [] });
    expect(liveOf({ GST_LINK_URL: '' }, 'api-gst')).toBe(false);
  });

  it('is not live with half of a source', () => {
    const provider = { AADHAAR_PROVIDER_URL: 'https://otp.example' };
    expect([liveOf(provider, 'api-aadhaar'), liveOf({ ...provider, AADHAAR_PROVIDER_KEY: 'k' }, 'api-aadhaar')]).toEqual([false, true]);
    expect(liveOf({ GST_PORTAL_URL: 'https://portal.example' }, 'api-gst')).toBe(false);
    expect(liveOf({ GST_PORTAL_URL: 'https://portal.example', GST_PORTAL_ACKNOWLEDGEMENT: 'x' }, 'api-gst')).toBe(true);
  });
});

it.each([
  ['Acme Weather', 'Acme Weather'],
  ['Café Müller', 'Cafe Muller'],
  ['The "best" \\ API', 'The best  API'],
  ['天気', undefined],
  ['Tollgate', undefined],
])('names the brand %s in a 401 as %s', (name, realm) => {
  expect(realmOf({ DASHBOARD_NAME: name, TOLLGATE_CONFIG: '/nowhere' })).toBe(realm);
});

it('leaves out the name of a brand that cannot be used', () => {
  expect(realmOf({ DASHBOARD_NAME: 'Acme', DASHBOARD_COLOUR: 'red' })).toBeUndefined();
  expect(realmOf({ DASHBOARD_NAME: 'Acme', DASHBOARD_LOGO: '/nowhere/logo.svg' })).toBeUndefined();
});

it.each(['with "quotes"', 'back\\slash', 'two\nlines', 'a'.repeat(101)])('refuses the setting REALM=%j', (REALM) => {
  expect(() => readPluginServerSettings({ REALM })).toThrow(/REALM: must be at most 100 characters/);
});

const NOW_MS = Date.parse('2026-11-20T03:00:00Z');
const DAY_MS = 86_400_000;

const node = (extra: Partial<NodeHealth> = {}): NodeHealth => ({
  ...{ id: 'n1', name: 'kong-1', startedAt: new Date(NOW_MS), seenAt: new Date(NOW_MS), state: 'live', stateSince: null, version: '0.1.0' },
  ...{ redisAnswers: true, redisSince: null, confirmations: 1, medianLagMs: 5, longestLagMs: 20 },
  ...extra,
});

const database = (extra: Partial<DatabaseFacts> = {}): DatabaseFacts => ({
  ...{ clockMs: NOW_MS, ownClockMs: NOW_MS, answeredInMs: 1, sharesSessions: false },
  health: { version: '18.1', bytes: 1e9, connections: 12, mostConnections: 100, startedAt: new Date(NOW_MS) },
  migrations: { pending: [], unknown: [] },
  nodes: [node()],
  responses: { admitted: 10, reported: 9 },
  overdue: { count: 0, oldestMs: 0 },
  ...extra,
});

const facts = (extra: Partial<SystemFacts> = {}): SystemFacts => ({
  ...{ nowMs: NOW_MS, version: '0.1.0', node: '20.19.0', database: database(), usesRedis: true, files: [], errors: [] },
  socket: { path: '/run/plugin.sock', answers: true },
  gateway: { url: 'http://127.0.0.1:8000', status: 200 },
  certificates: [{ name: 'DASHBOARD_URL', endsAtMs: NOW_MS + 60 * DAY_MS }],
  disk: { path: '/data', freeBytes: 5e10, bytes: 1e11 },
  ...extra,
});

const find = (extra: Partial<SystemFacts>, name: string): Finding | undefined =>
  judgeSystem(facts(extra)).find((each) => each.name === name);

it('a system in which all is well has nothing to do', () => {
  expect(judgeSystem(facts()).filter(({ state }) => state !== 'well')).toEqual([]);
});

it.each<[string, string, Partial<SystemFacts>, RegExp]>([
  ['a database that is away', 'database', { database: 'PostgreSQL at db does not respond' }, /Do not restart plugin servers/],
  ['a missing migration', 'migrations', { database: database({ migrations: { pending: ['0009_x'], unknown: [] } }) }, /upgrade\.md/],
  ['a pooler that shares sessions', 'sessions', { database: database({ sharesSessions: true }) }, /pool_mode = session/],
  ['a clock that is wrong', 'clocks', { database: database({ clockMs: NOW_MS - 3_000 }) }, /time synchronisation/],
  ['a node of another version', 'versions', { database: database({ nodes: [node(), node({ name: 'kong-2', version: '0.0.9' })] }) }, /upgrade/],
  ['Redis that is away', 'redis', { database: database({ nodes: [node({ redisAnswers: false })] }) }, /Bring Redis back/],
  ['a lost change feed', 'change feed', { database: database({ nodes: [node({ state: 'reading' })] }) }, /LISTEN/],
  ['responses that nobody reports', 'responses', { database: database({ responses: { admitted: 9, reported: 0 } }) }, /ANSWERS_LISTEN/],
  ['messages that wait', 'outbox', { database: database({ overdue: { count: 3, oldestMs: 1_200_000 } }) }, /dashboard runs/],
  ['a socket without a server', 'socket', { socket: { path: '/run/plugin.sock', answers: false } }, /plugin server/],
  ['a gateway without its plugin server', 'gateway', { gateway: { url: 'http://gw', status: 500 } }, /plugin server first/],
  ['a mistake in a file', 'kong’s files', { files: ['kong: a way around'] }, /tollgate check/],
  ['a certificate that ends soon', 'certificate of DASHBOARD_URL', { certificates: [{ name: 'DASHBOARD_URL', endsAtMs: NOW_MS + DAY_MS }] }, /Renew/],
  ['an error in a log', 'last errors', { errors: [{ process: 'dashboard', atMs: NOW_MS - 60_000, text: 'it broke' }] }, /log of dashboard/],
])('%s is unwell, with what to do', (_what, name, extra, todo) => {
  expect(find(extra, name)).toMatchObject({ state: 'unwell', todo: expect.stringMatching(todo) });
}); // prettier-ignore

it('what cannot be seen from here is neither well nor unwell', () => {
  const unseen = { database: 'away', socket: undefined, gateway: undefined, certificates: [], errors: undefined };
  for (const name of [
    'migrations',
    'clocks',
    'redis',
    'plugin server',
    'change feed',
    'responses',
    'outbox',
    'socket',
    'gateway',
    'certificates',
    'last errors',
  ]) {
    expect(find(unseen, name)).toMatchObject({ state: 'unknown' });
    expect(find(unseen, name)).not.toHaveProperty('todo');
  }
});
