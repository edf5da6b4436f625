import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findFreeRow } from '../../../cli/postgres/free-port';
import { SERVICES } from '../../../services/products/registry';
import { ensurePackages } from '../debian-packages';
import { endProgram, startProgram } from './program';
import { readMetric } from './read-metric';
import { randomBytes } from 'node:crypto';
import { type CreatedKey, createKey } from '../../../services/selling/keys/create-key';
import { PRODUCTS } from '../catalogue';
import { testDatabase, type TestDatabase } from '../postgres/postgres';
import { type OpenedParts, openTogether } from '../opened';
import { startTestRedis, type TestRedis } from '../redis/redis';
import { newFolder } from '../run-folder';
import { createCustomer } from '../../../services/selling/customers/create-customer';

const BALANCER = 'haproxy';

/** The balancer takes a replica that is going out of its turns within this time, and one that is back in again. */
export const CHECK_SECONDS = 0.4;

/**
 * What HAProxy needs to stand in front of replicas, as docs/operate/scale.md has Kong do it: a request without a proof is refused with 401
 * by a service that is well and with 503 by one that is going.
 * @param services where each service is asked, by name
 * @param replicas URLs by the same names, one record a replica
 */
function balancedConfig(services: Readonly<Record<string, string>>, replicas: readonly Readonly<Record<string, string>>[]): string {
  const hostOf = (url = ''): string => new URL(url).host;
  const listens = Object.entries(services).map(([name, url]) =>
    [`listen ${name}`, `  bind ${hostOf(url)}`, ...replicas.map((urls, at) => `  server r${at} ${hostOf(urls[name])}`)].join('\n'),
  );
  return `defaults
  mode http
  option httpchk GET /
  http-check expect status 401
  default-server check inter ${CHECK_SECONDS * 1000} fall 1 rise 1
  # A replica that waits for its turn is not away.
  timeout check 60s
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  option http-server-close
  option redispatch 1
  retries 2
${listens.join('\n')}
`;
}

export interface TestFleet extends Fleet {
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  /** A test key of a customer of its own, for every published product unless told otherwise. */
  newKey(options?: { products?: string[]; daily?: number }): Promise<CreatedKey>;
}

const PLENTY = 1_000_000;
let customers = 0;

/** A fleet on a database and a Redis of its own. */
export function startTestFleet(): Promise<TestFleet> {
  return openTogether(startParts);
}

async function startParts(parts: OpenedParts): Promise<TestFleet> {
  const [database, redis] = await Promise.all([parts.keep(testDatabase()), parts.keep(startTestRedis())]);
  const signingKeys = `test:${randomBytes(32).toString('base64')}`;
  const starting = startFleet({ databaseUrl: database.url, redisUrl: redis.url, signingKeys });
  const fleet = await parts.keep(starting);
  const published = PRODUCTS.filter(({ routes }) => routes.length > 0).map(({ id }) => id);
  return {
    ...fleet,
    database,
    redis,
    async newKey({ products = published, daily = PLENTY } = {}) {
      const email = `fleet-${customers++}@example.com`;
      await createCustomer(database.pool, { email, actor: 'test' });
      return createKey(database.pool, { customer: email, products, mode: 'test', daily, monthly: PLENTY, actor: 'test' });
    },
    close: () => parts.close(),
  };
}

/** One replica of something: always at the same address, so that it can be started again. */
export interface Unit {
  readonly name: string;
  /** `host:port` of a worker, a URL of a gateway; empty for what has many. */
  readonly address: string;
  /** One figure of the plugin server's metrics; for gateways alone. */
  metric(name: string): Promise<number>;
  start(): Promise<void>;
  /** SIGTERM. @throws Error when it does not end by itself with code 0 */
  stop(): Promise<void>;
}

interface FleetOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly signingKeys: string;
}

/** Three gateways, each with its plugin server, two replicas of all services behind HAProxy and of every worker, and one sandbox. */
interface Fleet {
  readonly gateways: readonly Unit[];
  readonly services: readonly Unit[];
  readonly workers: readonly Unit[];
  readonly sandboxUrl: string;
  close(): Promise<void>;
}

const GATEWAYS = 3;
const REPLICAS = 2;
/** From SIGTERM until a service refuses connections: ten health checks, some of which may come late. */
const LEAVE_MS = '4000';
const WORKERS_FOLDER = resolve(__dirname, '../../../services/workers');

interface ProgramOptions {
  readonly name: string;
  readonly address: string;
  /** Started in this order, ended in reverse. */
  readonly programs: readonly { module: string; args?: readonly string[]; env: Record<string, string> }[];
}

function createUnit({ name, address, programs }: ProgramOptions): Unit {
  let children: ChildProcess[] = [];
  let metricsPort: unknown;
  return {
    name,
    address,
    metric: (figure) => readMetric(`http://127.0.0.1:${String(metricsPort)}/metrics`, figure),
    async start() {
      for (const { module, env, args } of programs) {
        const { child, ready } = await startProgram(module, { env, ...(args && { args }) });
        children.push(child);
        metricsPort = ready['metrics'] ?? metricsPort;
      }
    },
    async stop() {
      const ending = children.reverse();
      children = [];
      for (const child of ending) {
        const code = await endProgram(child);
        if (code !== 0) throw new Error(`${name} did not end cleanly: ${code ?? 'it had to be killed'}`);
      }
    },
  };
}

/** `IDENTITY_WORKER_URL=a,b`, one a kind of worker. */
function workerUrls(workers: readonly Unit[], kinds: readonly string[]): Record<string, string> {
  const addresses = (kind: string): string =>
    workers
      .filter(({ name }) => name.startsWith(`worker ${kind} `))
      .map(({ address }) => address)
      .join(',');
  return Object.fromEntries(kinds.map((kind) => [`${kind.toUpperCase()}_WORKER_URL`, addresses(kind)]));
}

function planWorkers(kinds: readonly string[], firstPort: number, env: Record<string, string>): Unit[] {
  return kinds.flatMap((kind, at) =>
    Array.from({ length: REPLICAS }, (_, replica) => {
      const port = String(firstPort + at * REPLICAS + replica);
      const programs = [{ module: `services/workers/${kind}/main.js`, env: { ...env, WORKER_HOST: '127.0.0.1', WORKER_PORT: port } }];
      return createUnit({ name: `worker ${kind} ${replica}`, address: `127.0.0.1:${port}`, programs });
    }),
  );
}

function planServices(firstPort: number, env: Record<string, string>): { units: Unit[]; urls: Record<string, string>[] } {
  const names = Object.keys(SERVICES);
  const units: Unit[] = [];
  const urls: Record<string, string>[] = [];
  for (let replica = 0; replica < REPLICAS; replica++) {
    const port = firstPort + replica * names.length;
    const own = { ...env, SERVICE_HOST: '127.0.0.1', SERVICE_PORT: String(port), PRIVATE_PORT: '0', SERVICE_LEAVE_MS: LEAVE_MS };
    const programs = [{ module: 'services/products/main.js', args: ['--all'], env: own }];
    units.push(createUnit({ name: `services ${replica}`, address: '', programs }));
    urls.push(Object.fromEntries(names.map((name, index) => [name, `http://127.0.0.1:${port + index}`])));
  }
  return { units, urls };
}

function planGateways(options: { firstPort: number; folder: string; services: object; env: Record<string, string> }): Unit[] {
  const { firstPort, folder, services, env } = options;
  const UPSTREAM_OVERRIDES = JSON.stringify(services);
  return Array.from({ length: GATEWAYS }, (_, index) => {
    const PLUGIN_SOCKET = join(folder, `plugin-${index}.sock`);
    const port = String(firstPort + index);
    const programs = [
      { module: 'plugins/server/main.js', env: { ...env, PLUGIN_SOCKET, METRICS_PORT: '0' } },
      { module: 'kong/local/main.js', env: { PLUGIN_SOCKET, GATEWAY_HOST: '127.0.0.1', GATEWAY_PORT: port, UPSTREAM_OVERRIDES } },
    ];
    return createUnit({ name: `gateway ${index}`, address: `http://127.0.0.1:${port}`, programs });
  });
}

async function tryFleet(options: FleetOptions): Promise<Fleet> {
  const folder = newFolder();
  const kinds = readdirSync(WORKERS_FOLDER).filter((name) => existsSync(join(WORKERS_FOLDER, name, 'main.ts')));
  const names = Object.keys(SERVICES);
  const workerRow = kinds.length * REPLICAS;
  await ensurePackages([BALANCER], 'Replicas of services');
  const first = await findFreeRow(workerRow + names.length * (REPLICAS + 1) + GATEWAYS);
  const stores = { DATABASE_URL: options.databaseUrl, REDIS_URL: options.redisUrl, TOLLGATE_SIGNING_KEYS: options.signingKeys };
  const { child: sandbox, ready } = await startProgram('services/sandbox/main.js', { env: { SANDBOX_PORT: '0' } });
  const sandboxUrl = `http://127.0.0.1:${String(ready['port'])}`;
  // One subscription is the whole load, and leaves all its sessions open.
  const shared = { ...stores, SANDBOX_URL: sandboxUrl, LOG_LEVEL: 'error', IDENTITY_MOST_SESSIONS_OF_ONE: '50000' };

  const workers = planWorkers(kinds, first, shared);
  const services = planServices(first + workerRow, { ...shared, ...workerUrls(workers, kinds) });
  const balancerPort = first + workerRow + names.length * REPLICAS;
  const balanced = Object.fromEntries(names.map((name, index) => [name, `http://127.0.0.1:${balancerPort + index}`]));
  const balancerFile = join(folder, 'haproxy.cfg');
  writeFileSync(balancerFile, balancedConfig(balanced, services.urls));
  const balancer = spawn(BALANCER, ['-q', '-f', balancerFile], { stdio: 'inherit' });
  const gateways = planGateways({ firstPort: balancerPort + names.length, folder, services: balanced, env: shared });
  const close = async (): Promise<void> => {
    try {
      await Promise.all(gateways.map((unit) => unit.stop()));
      await Promise.all([...services.units, ...workers].map((unit) => unit.stop()));
    } finally {
      await endProgram(balancer);
      await endProgram(sandbox);
    }
  };
  try {
    await Promise.all(workers.map((unit) => unit.start()));
    await Promise.all(services.units.map((unit) => unit.start()));
    await Promise.all(gateways.map((unit) => unit.start()));
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return { gateways, services: services.units, workers, sandboxUrl, close };
}

/** Its ports are free when they are looked for; another test's program may take one before that of the fleet listens. */
const TRIES = 3;

/** Starts the whole fleet on stores that exist. */
async function startFleet(options: FleetOptions): Promise<Fleet> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryFleet(options);
    } catch (error) {
      if (tries === TRIES || !String(error).includes('EADDRINUSE')) throw error;
    }
  }
}
