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
