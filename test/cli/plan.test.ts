import {
  dashboardChild,
  gatewayChild,
  type PlanContext,
  pluginServerChild,
  sandboxChild,
  servicesChild,
  workerChild,
} from '../../cli/supervisor/plan';

const SECRETS = {
  TOLLGATE_CONTEXT_SECRETS: 'secrets',
  TOLLGATE_CONTEXT_PRIVATE_KEY: 'private',
  TOLLGATE_CONTEXT_KEYS: 'products',
  TOLLGATE_CONTEXT_JWKS: 'public',
  TOLLGATE_SIGNING_KEYS: 'shared',
  GDPLAY_LINK_KEYS: 'links',
};

const context: PlanContext = {
  root: '/project',
  logsDir: '/logs',
  // As when an operator has set them all.
  env: SECRETS,
  databaseUrls: { owner: 'owner', plugin: 'plugin', dashboard: 'dashboard', service: 'service' },
  redisUrl: undefined,
  proofKeys: { secrets: 'secrets', privateKey: 'private', productKeys: 'products', keySet: 'public', sharedKeys: 'shared' },
  linkKeys: 'links',
  dashboardSecret: 'secret',
  pluginSocket: '/socket',
  gateway: 'local',
  forwardAuthSocket: '/forward-auth',
  ports: {
    gateway: 1, dashboard: 2, dashboardPrivate: 3, sandbox: 4, services: 5, servicesPrivate: 6, workers: { apk: 7 }, workersPrivate: { apk: 8 },
    pluginServerMetrics: 9,
  }, // prettier-ignore
};

const only = (...names: (keyof typeof SECRETS)[]): object => Object.fromEntries(names.map((name) => [name, SECRETS[name]]));

test.each([
  [
    'the plugin server',
    pluginServerChild(context),
    only('TOLLGATE_CONTEXT_SECRETS', 'TOLLGATE_CONTEXT_PRIVATE_KEY', 'TOLLGATE_SIGNING_KEYS', 'GDPLAY_LINK_KEYS'),
  ],
  ['services', servicesChild(context), only('TOLLGATE_CONTEXT_KEYS', 'TOLLGATE_CONTEXT_JWKS', 'TOLLGATE_SIGNING_KEYS', 'GDPLAY_LINK_KEYS')],
  ['the dashboard', dashboardChild(context), {}],
  ['the gateway', gatewayChild(context, {}), {}],
  ['the sandbox', sandboxChild(context), {}],
  ['a worker', workerChild(context, 'apk'), {}],
])('of the keys %s is told what it needs and no more', (_name, { env = {} }, told) => {
  const known = Object.entries(env).filter(([name, value]) => name in SECRETS && value !== undefined);
  expect(Object.fromEntries(known)).toEqual(told);
});
