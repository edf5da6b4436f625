import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServiceName } from '../../services/products/registry';
import { catalogueFile, gatewayStateFile, kongFile, indiaFile, listsFolder } from './data-folder';
import type { ProofKeys } from './proof-keys';
import type { GatewayChoice } from './start-arguments';
import type { DatabaseUrls } from './start-settings';
import type { ChildSpec } from './supervised-child';
import { SECRET_NAMES } from '../container/secret-names';

/** Addresses and paths of an instance's processes, and the values that they share. */
export interface PlanContext {
  /** The project's folder. */
  readonly root: string;
  readonly logsDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly databaseUrls: DatabaseUrls;
  readonly redisUrl: string | undefined;
  readonly proofKeys: ProofKeys;
  /** Keys that seal video links, as `id:base64,…`. */
  readonly linkKeys: string;
  /** At least 32 characters. */
  readonly dashboardSecret: string;
  /** The secret shared by the dashboard and the stand-in for a payment provider. */
  readonly paymentsSecret: string;
  readonly pluginSocket: string;
  /** The gateway in front. `local` speaks Kong's protocol; the others use the sockets below. */
  readonly gateway: GatewayChoice;
  readonly forwardAuthSocket: string;
  readonly laneSocket: string;
  /** Our own services that are sold. The seller's own APIs run elsewhere. */
  readonly services: readonly ServiceName[];
  /** The realm of the seller's API in a 401; undefined if the brand has no name of its own. */
  readonly realm: string | undefined;
  /** True if a plan of the catalogue has a price. */
  readonly hasPrices: boolean;
  readonly ports: InstancePorts;
}

/** Fixed while the supervisor runs, so that a restarted process keeps its port. */
export interface InstancePorts {
  readonly gateway: number;
  readonly dashboard: number;
  /** Health, readiness and metrics of the dashboard. */
  readonly dashboardPrivate: number;
  readonly sandbox: number;
  /** The stand-in for a payment provider, with the pages on which customers pay. */
  readonly paymentsSandbox: number;
  /** The first of consecutive ports, one for each service. */
  readonly services: number;
  /** Health, readiness and metrics of the services. */
  readonly servicesPrivate: number;
  /** Ports by worker, for example `apk`. */
  readonly workers: Readonly<Record<string, number>>;
  /** Metrics of the workers, by worker. */
  readonly workersPrivate: Readonly<Record<string, number>>;
  /** The plugin server's port: TCP for its metrics, UDP for the gateway's access log. */
  readonly pluginServerMetrics: number;
}

export const LOOPBACK = '127.0.0.1';

interface NodeChild {
  readonly name: string;
  /** Path below dist/. */
  readonly module: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if every request goes through it. V8 then chooses the young generation, 16 MB. */
  readonly isBusy?: boolean;
}

/** A young generation of 4 MB instead of 16 saves 10 to 15 MB in each idle process. plugins/server/main.ts explains the other option. */
export function smallHeapOptions(env: NodeJS.ProcessEnv): string {
  return `${env['NODE_OPTIONS'] ?? ''} --max-semi-space-size=4`.trim();
}

function nodeChild({ root, logsDir, env }: PlanContext, child: NodeChild): ChildSpec {
  const heap = child.isBusy ? {} : { NODE_OPTIONS: smallHeapOptions(env) };
  // Node.js 22 and later cache compiled code between starts. Older versions ignore the variable.
  const compileCache = { NODE_COMPILE_CACHE: env['NODE_COMPILE_CACHE'] ?? join(dirname(logsDir), 'compile-cache') };
  return {
    name: child.name,
    command: process.execPath,
    args: [
      '--require',
      join(root, 'cli', 'supervisor', 'exit-with-parent.cjs'),
      join(root, 'dist', ...child.module.split('/')),
      ...(child.args ?? []),
    ],
    env: { ...withoutOthersSecrets(env, child.name), ...compileCache, ...heap, ...child.env },
    cwd: root,
    logFile: join(logsDir, `${child.name}.log`),
  };
}

export function sandboxUrl({ ports }: Pick<PlanContext, 'ports'>): string {
  return `http://${LOOPBACK}:${ports.sandbox}`;
}

/** The sandbox upstreams that test keys, demos and tests use. */
export function sandboxChild(context: PlanContext): ChildSpec {
  const env = { SANDBOX_HOST: LOOPBACK, SANDBOX_PORT: String(context.ports.sandbox) };
  return nodeChild(context, { name: 'sandbox', module: 'services/sandbox/main.js', env });
}

const paymentsSandboxUrl = ({ ports }: Pick<PlanContext, 'ports'>): string => `http://${LOOPBACK}:${ports.paymentsSandbox}`;

/**
 * True if something has a price and this machine has no other payment provider. The stand-in gives paid plans without payment, and mail
 * that is really sent would mislead strangers.
 */
export function hasPaymentsSandbox({ env, hasPrices }: Pick<PlanContext, 'env' | 'hasPrices'>): boolean {
  return hasPrices && (env['DASHBOARD_MAIL'] || 'outbox') === 'outbox';
}

/** The stand-in for a payment provider under `npm start`. */
export function paymentsSandboxChild(context: PlanContext): ChildSpec {
  const { ports, paymentsSecret, logsDir } = context;
  const env = {
    PAYMENTS_SANDBOX_PORT: String(ports.paymentsSandbox),
    PAYMENTS_SANDBOX_SECRET: paymentsSecret,
    PAYMENTS_SANDBOX_EVENTS_URL: `http://${LOOPBACK}:${ports.dashboard}/api/payments/sandbox/events`,
    PAYMENTS_SANDBOX_FILE: join(dirname(logsDir), 'payments-sandbox.json'),
  };
  return nodeChild(context, { name: 'payments-sandbox', module: 'services/sandbox/payments/main.js', env });
}

/** One shared gRPC worker. */
export function workerChild(context: PlanContext, name: string): ChildSpec {
  const port = String(context.ports.workers[name]);
  const env = {
    WORKER_HOST: LOOPBACK,
    WORKER_PORT: port,
    PRIVATE_HOST: LOOPBACK,
    PRIVATE_PORT: String(context.ports.workersPrivate[name]),
    SANDBOX_URL: sandboxUrl(context),
    REDIS_URL: context.redisUrl,
  };
  return nodeChild(context, { name: `worker-${name}`, module: `services/workers/${name}/main.js`, env });
}

/** Addresses for Prometheus, by the process's name. */
export function metricsUrls({ ports }: Pick<PlanContext, 'ports'>): Record<string, string> {
  const url = (port: number): string => `http://${LOOPBACK}:${port}/metrics`;
  const workers = Object.entries(ports.workersPrivate).map(([name, port]) => [`worker-${name}`, url(port)] as const);
  return {
    'plugin-server': url(ports.pluginServerMetrics),
    services: url(ports.servicesPrivate),
    dashboard: url(ports.dashboardPrivate),
    ...Object.fromEntries(workers),
  };
}

/** `APK_WORKER_URL=127.0.0.1:7001`, one for each worker. */
function workerUrls({ ports }: PlanContext): Record<string, string> {
  const variable = (name: string): string => `${name.toUpperCase().replaceAll('-', '_')}_WORKER_URL`;
  return Object.fromEntries(Object.entries(ports.workers).map(([name, port]) => [variable(name), `${LOOPBACK}:${port}`]));
}

/** All product services in one process. Without any product it still serves `/refunds`, for the seller's own APIs. */
export function servicesChild(context: PlanContext): ChildSpec {
  const { ports, proofKeys, databaseUrls, redisUrl, services } = context;
  const args = services.length === 0 ? ['--none'] : services.flatMap((name) => ['--service', name]);
  const env = {
    CATALOGUE_FILE: catalogueFile(context.root, context.env),
    SERVICE_HOST: LOOPBACK,
    SERVICE_PORT: String(ports.services),
    // The only gateway ends before the services.
    SERVICE_LEAVE_MS: '0',
    PRIVATE_HOST: LOOPBACK,
    PRIVATE_PORT: String(ports.servicesPrivate),
    SANDBOX_URL: sandboxUrl(context),
    IP_LISTS_FOLDER: context.env['IP_LISTS_FOLDER'] || listsFolder(dirname(context.logsDir)),
    PINCODE_INDIA_PINS: context.env['PINCODE_INDIA_PINS'] || indiaFile(dirname(context.logsDir)),
    TOLLGATE_CONTEXT_KEYS: proofKeys.productKeys,
    TOLLGATE_CONTEXT_JWKS: proofKeys.keySet,
    TOLLGATE_SIGNING_KEYS: proofKeys.sharedKeys,
    GDPLAY_LINK_KEYS: context.linkKeys,
    DATABASE_URL: databaseUrls.service,
    REDIS_URL: redisUrl,
    DASHBOARD_URL: dashboardUrl(context),
    ...workerUrls(context),
  };
  return nodeChild(context, { name: 'services', module: 'services/products/main.js', args, env, isBusy: services.length > 0 });
}

const LOOPBACK_NAMES = new Set(['localhost', LOOPBACK, '[::1]']);

/**
 * URL of the dashboard for browsers: DASHBOARD_URL, unless that names another port of this machine. Otherwise it uses the name localhost,
 * for which browsers store passkeys; they store none for a network address.
 */
function dashboardUrl({ env, ports }: PlanContext): string {
  const own = `http://localhost:${ports.dashboard}`;
  const given = env['DASHBOARD_URL'];
  if (!given || !URL.canParse(given)) return given || own;
  const { hostname, port } = new URL(given);
  return LOOPBACK_NAMES.has(hostname) && port !== String(ports.dashboard) ? own : given;
}

/** The pages on which customers manage their keys. Mail stays in its outbox unless the environment says how to send it. */
export function dashboardChild(context: PlanContext): ChildSpec {
  const { ports, databaseUrls, dashboardSecret } = context;
  const env = {
    DASHBOARD_HOST: LOOPBACK,
    DASHBOARD_PORT: String(ports.dashboard),
    DASHBOARD_URL: dashboardUrl(context),
    PRIVATE_HOST: LOOPBACK,
    PRIVATE_PORT: String(ports.dashboardPrivate),
    DATABASE_URL: databaseUrls.dashboard,
    GATEWAY_URL: `http://${LOOPBACK}:${ports.gateway}`,
    DASHBOARD_LIVE_FROM: [ports.servicesPrivate, ...Object.values(ports.workersPrivate)]
      .map((port) => `http://${LOOPBACK}:${port}`)
      .join(','),
    DASHBOARD_SECRET: dashboardSecret,
    ...(hasPaymentsSandbox(context) && {
      DASHBOARD_PAYMENTS_SANDBOX: paymentsSandboxUrl(context),
      DASHBOARD_PAYMENTS_SANDBOX_SECRET: context.paymentsSecret,
    }),
    DASHBOARD_MAIL: context.env['DASHBOARD_MAIL'] || 'outbox',
    DASHBOARD_OUTBOX_OWN_USER: context.env['DASHBOARD_OUTBOX_OWN_USER'] || 'true',
    // On a developer's machine, webhooks are tested with a receiver on loopback.
    DASHBOARD_WEBHOOKS_ALLOW_PRIVATE: context.env['DASHBOARD_WEBHOOKS_ALLOW_PRIVATE'] || 'true',
  };
  return { ...nodeChild(context, { name: 'dashboard', module: 'services/dashboard/main.js', env }), isFront: true };
}

/** The address to which the gateway sends its access log. */
function answersPlace({ ports }: PlanContext): string {
  return `${LOOPBACK}:${ports.pluginServerMetrics}`;
}

/** The plugin server beside the gateway. */
export function pluginServerChild(context: PlanContext): ChildSpec {
  const { pluginSocket, proofKeys, databaseUrls, redisUrl } = context;
  const env = {
    PLUGIN_SOCKET: pluginSocket,
    DATABASE_URL: databaseUrls.plugin,
    REDIS_URL: redisUrl,
    TOLLGATE_CONTEXT_SECRETS: proofKeys.secrets,
    TOLLGATE_CONTEXT_PRIVATE_KEY: proofKeys.privateKey,
    TOLLGATE_SIGNING_KEYS: proofKeys.sharedKeys,
    GDPLAY_LINK_KEYS: context.linkKeys,
    METRICS_HOST: LOOPBACK,
    METRICS_PORT: String(context.ports.pluginServerMetrics),
    ANSWERS_LISTEN: answersPlace(context),
    FORWARD_AUTH_LISTEN: context.forwardAuthSocket,
    LANE_LISTEN: context.laneSocket,
    DASHBOARD_URL: dashboardUrl(context),
    ...(context.realm && { REALM: context.realm }),
  };
  return {
    ...nodeChild(context, { name: 'plugin-server', module: 'plugins/server/main.js', env }),
    // A killed server leaves its socket behind, and listening on an existing path would fail.
    prepare: () => Promise.resolve(rmSync(pluginSocket, { force: true })),
  };
}

/** The address of the dashboard in kong.yml, for the gateway's response without a key. */
const GATEWAY_ROOT = '/gateway';

/** Addresses of the services, by their names in kong.yml. */
export function serviceUrls({ ports, services }: Pick<PlanContext, 'ports' | 'services'>): Record<string, string> {
  return Object.fromEntries(services.map((name, index) => [name, `http://${LOOPBACK}:${ports.services + index}`]));
}

export function gatewayChild(context: PlanContext): ChildSpec {
  const env = {
    GATEWAY_HOST: LOOPBACK,
    GATEWAY_PORT: String(context.ports.gateway),
    PLUGIN_SOCKET: context.pluginSocket,
    ANSWERS_TO: answersPlace(context),
    KONG_YML: kongFile(context.root, context.env),
    UPSTREAM_OVERRIDES: JSON.stringify({
      ...serviceUrls(context),
      dashboard: `http://${LOOPBACK}:${context.ports.dashboard}${GATEWAY_ROOT}`,
    }),
    GATEWAY_STATE_FILE: gatewayStateFile(dirname(context.logsDir)),
    DASHBOARD_URL: dashboardUrl(context),
  };
  if (context.gateway !== 'local') {
    const places = {
      GATEWAY_KIND: context.gateway,
      GATEWAY_DIR: join(context.logsDir, '..', 'gateway'),
      FORWARD_AUTH_LISTEN: context.forwardAuthSocket,
      LANE_LISTEN: context.laneSocket,
    };
    return { ...nodeChild(context, { name: 'gateway', module: 'kong/gateways/main.js', env: { ...env, ...places } }), isFront: true };
  }
  return { ...nodeChild(context, { name: 'gateway', module: 'kong/local/main.js', env, isBusy: true }), isFront: true };
}

/** Prefixes of the names of secrets that a process may read from the environment. It also gets its database and its keys of proofs. */
const READS: Readonly<Record<string, readonly string[]>> = {
  'plugin-server': ['GATEWAY_SECRET'],
  dashboard: ['DASHBOARD_SIGN_IN_SECRETS', 'SMTP_URL', 'STRIPE_', 'RAZORPAY_'],
  services: ['APP_', 'GDPLAY_API_KEY', 'IP_', 'PINCODE_', 'WORKER_TLS_'],
  'worker-identity': ['AADHAAR_', 'GST_', 'IDENTITY_', 'WORKER_TLS_'],
  'worker-image': ['IMAGE_', 'WORKER_TLS_'],
  'worker-ranking': ['RANKING_', 'WORKER_TLS_'],
  'worker-seo': ['SEO_', 'WORKER_TLS_'],
  'worker-apk': ['WORKER_TLS_'],
};
/** Headers for the collector of traces. Every process sends its own traces. */
const FOR_ALL = 'OTEL_EXPORTER_OTLP_HEADERS';

/** An environment without the secrets that a process does not need. A process without an entry above gets none. */
function withoutOthersSecrets(env: NodeJS.ProcessEnv, child: string): NodeJS.ProcessEnv {
  const reads = [FOR_ALL, ...(READS[child] ?? [])];
  const isKept = (name: string): boolean => !SECRET_NAMES.includes(name) || reads.some((beginning) => name.startsWith(beginning));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}
