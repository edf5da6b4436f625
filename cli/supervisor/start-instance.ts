import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import type { Pool } from 'pg';
import { parse } from 'yaml';
import type { Catalogue } from '../../plugins/core/catalogue/catalogue';
import { createPool } from '../../plugins/stores/postgres/pool';
import { databaseAt } from '../postgres/embedded-postgres';
import { plainGet } from '../../services/kit/plain-get';
import { updateApiDocuments } from '../api-documents';
import { createLogins, loginUrl } from '../database-roles/create-logins';
import type { DatabaseRole } from '../database-roles/privileges';
import { catalogueFile, configFolder, createDataFolder, kongFile, socketPath } from './data-folder';
import { superviseDatabase } from './database';
import { endLeftovers } from './end-leftovers';
import { choosePorts } from './choose-ports';
import type { InstanceReport } from './instance-state';
import {
  dashboardChild,
  gatewayChild,
  LOOPBACK,
  hasPaymentsSandbox,
  metricsUrls,
  paymentsSandboxChild,
  type PlanContext,
  pluginServerChild,
  sandboxChild,
  sandboxUrl,
  servicesChild,
  serviceUrls,
  workerChild,
} from './plan';
import { keepProofKeys } from './proof-keys';
import { realmOf } from './realm';
import { keepDashboardSecret, keepDatabasePasswords, keepSharedKeys } from './secrets';
import type { GatewayChoice } from './start-arguments';
import { type DatabaseUrls, readStartSettings } from './start-settings';
import { type ProcessTable, Supervisor } from './supervisor';
import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { grantPrivileges, ROLES_MISSING } from '../database-roles/grant-privileges';
import { describeConnectionError, isConnectionError } from '../database-problem';
import { readMigrationStanding } from '../postgres/migrations';
import { AS_KONG_READS } from '../../kong/as-kong-reads';
import { type WorkerKind } from '../../services/kit/worker-kind';
import { SERVICE_NAMES, type ServiceName, workersOf } from '../../services/products/registry';

export interface StartInstanceOptions {
  /** The project's folder. */
  readonly root: string;
  /** Undefined: 8000 when it is free, otherwise any free port. 0: any free port. */
  readonly port: number | undefined;
  readonly gateway: GatewayChoice;
  readonly env: NodeJS.ProcessEnv;
  readonly catalogue: Catalogue;
  readonly processes: ProcessTable;
  /** Receives sentences for the person who starts it. */
  readonly warn: (sentence: string) => void;
  /** Called as soon as there is something to stop. */
  readonly onSupervisor: (supervisor: Supervisor) => void;
}

const GATEWAY_DEADLINE_MS = 20_000;
const PROBE_MS = 20;
const PROBE_DEADLINE_MS = 2_000;
const PROBE_BYTES = 65_536;

/**
 * Waits until the access layer refuses a request without a key: then gateway and plugin server work together. One product with a route is
 * enough. A product that kong.yml does not know is skipped.
 */
async function untilRefusing(gateway: string, { products }: Catalogue): Promise<void> {
  const deadline = performance.now() + GATEWAY_DEADLINE_MS;
  const prefixes = products.flatMap(({ prefix }) => prefix ?? []);
  let status = 0;
  for (let attempt = 0; performance.now() < deadline; attempt += 1) {
    const prefix = prefixes[attempt % prefixes.length];
    if (prefix === undefined) return;
    const asked = plainGet(gateway + prefix, { signal: AbortSignal.timeout(PROBE_DEADLINE_MS), maxBytes: PROBE_BYTES });
    status = await asked.then((answer) => answer.status).catch(() => 0);
    if (status === 401) return;
    await sleep(PROBE_MS);
  }
  throw new Error(`the gateway responds to a request without a key with ${status || 'nothing'} instead of 401`);
}

/**
 * Sets up and runs everything; independent parts start at the same time.
 * @throws Error, readable; then stop the supervisor, which may already have processes
 */
export async function startInstance(options: StartInstanceOptions): Promise<InstanceReport> {
  const { root, env, processes } = options;
  const settings = readStartSettings(env);
  const { databaseUrls: givenUrls, redisUrl, quotaTimeZone } = settings;
  const dataDir = createDataFolder(root, env);
  await endLeftovers(dataDir, processes);
  const { services, workers } = soldServices(kongFile(root, env));
  const { database: databasePort, ...ports } = await choosePorts({ wanted: options.port, workers, dataDir, warn: options.warn });
  const logsDir = join(dataDir, 'logs');
  const gateway = `http://${LOOPBACK}:${ports.gateway}`;
  const sandbox = services.length > 0 ? sandboxUrl({ ports }) : null;
  const report: InstanceReport = { gateway, dashboard: null, sandbox, services: {}, dataDir };
  const supervisor = new Supervisor({
    report,
    config: configFolder(root, env),
    metrics: metricsUrls({ ports }),
    redisUrl: redisUrl ?? null,
    quotaTimeZone,
    processes,
  });
  options.onSupervisor(supervisor);

  const database = givenUrls ? { urls: givenUrls, open: () => Promise.resolve() } : embeddedDatabase(supervisor, dataDir, databasePort);
  const context: PlanContext = {
    root,
    logsDir,
    env: { ...env, QUOTA_TIMEZONE: quotaTimeZone },
    databaseUrls: database.urls,
    redisUrl,
    proofKeys: keepProofKeys(
      dataDir,
      settings,
      options.catalogue.products.map(({ id }) => id),
    ),
    linkKeys: env['GDPLAY_LINK_KEYS'] || keepSharedKeys(join(dataDir, 'link-keys')),
    dashboardSecret: env['DASHBOARD_SECRET'] || keepDashboardSecret(join(dataDir, 'dashboard-secret')),
    paymentsSecret: randomBytes(24).toString('base64url'),
    pluginSocket: socketPath(dataDir, 'plugin.sock'),
    gateway: options.gateway,
    forwardAuthSocket: socketPath(dataDir, 'forward-auth.sock'),
    laneSocket: socketPath(dataDir, 'lane.sock'),
    services,
    realm: env['REALM'] || realmOf(env),
    hasPrices: options.catalogue.products.some(({ plans }) => plans.some(({ price }) => Number(price) > 0)),
    ports,
  };
  const dashboard = await runAll(supervisor, context, { catalogue: options.catalogue, openDatabase: database.open });
  await untilRefusing(gateway, options.catalogue);
  return supervisor.complete({ ...report, services: serviceUrls(context), dashboard });
}

interface InstanceDatabase {
  readonly urls: DatabaseUrls;
  /**
   * Resolves when the database accepts the logins of {@link urls}.
   * @throws Error, readable
   */
  readonly open: () => Promise<void>;
}

/**
 * The embedded database. Its URLs are known before it starts, so processes load at the same time. Only the set-up of the roles uses the
 * superuser.
 */
function embeddedDatabase(supervisor: Supervisor, dataDir: string, port: number): InstanceDatabase {
  const passwords = keepDatabasePasswords(join(dataDir, 'database-passwords'));
  const urlFor = (role: DatabaseRole): string => loginUrl(databaseAt(port), role, passwords[role]);
  return {
    urls: {
      owner: urlFor('tollgate_migrate'),
      plugin: urlFor('tollgate_plugin'),
      dashboard: urlFor('tollgate_dashboard'),
      service: urlFor('tollgate_service'),
    },
    async open() {
      const starting = superviseDatabase({
        dataDir: join(dataDir, 'postgres'),
        logFile: join(dataDir, 'logs', 'postgres.log'),
        port,
        onEvent: (event) => supervisor.note('database', event),
      });
      supervisor.keepDatabase(starting);
      await createLogins((await starting).url, passwords);
    },
  };
}

async function takeApiDocuments(supervisor: Supervisor, { root, env, databaseUrls }: PlanContext, catalogue: Catalogue): Promise<void> {
  const pool = createPool(databaseUrls.owner, { max: 1, applicationName: 'tollgate start' });
  try {
    const notes = await updateApiDocuments(pool, catalogue, catalogueFile(root, env));
    for (const note of notes) supervisor.note('catalogue', note);
  } finally {
    await pool.end();
  }
}

/** @returns the dashboard's URL */
async function runAll(
  supervisor: Supervisor,
  context: PlanContext,
  { catalogue, openDatabase }: { readonly catalogue: Catalogue; readonly openDatabase: () => Promise<void> },
): Promise<string> {
  const withDatabase = async (): Promise<void> => {
    const { owner } = context.databaseUrls;
    await openDatabase();
    supervisor.useDatabase(owner);
    const note = await prepareDatabase(owner, catalogue);
    if (note !== undefined) supervisor.note('database', note);
    // At the same time, because an API that hangs must not delay the gateway's start.
    await Promise.all([supervisor.run(pluginServerChild(context)), takeApiDocuments(supervisor, context, catalogue)]);
  };
  const [, dashboard] = await Promise.all([
    withDatabase(),
    // These load beside the database, and listen before its tables exist. Their addresses are published once the tables exist.
    supervisor.run(dashboardChild(context)),
    supervisor.run(servicesChild(context)),
    supervisor.run(gatewayChild(context)),
    ...(context.services.length > 0 ? [supervisor.run(sandboxChild(context))] : []),
    ...(hasPaymentsSandbox(context) ? [supervisor.run(paymentsSandboxChild(context))] : []),
    ...Object.keys(context.ports.workers).map((name) => supervisor.run(workerChild(context, name))),
  ]);
  return String(dashboard['url']);
}

/**
 * Milliseconds for a connection and for each statement. On a busy machine, a server that has just started may take some seconds for its
 * first statement.
 */
const PATIENCE_MS = 30_000;

async function prepare(db: Pool, url: string, catalogue: Catalogue): Promise<string | undefined> {
  const { pending, unknown } = await readMigrationStanding(db);
  if (unknown.length > 0) {
    throw new Error(`the database was used by a newer version of Tollgate (migration ${unknown.join(', ')}); start that version`);
  }
  // The check is cheap. The program that migrates takes longer to load than everything else here.
  if (pending.length > 0) await migrate(url);
  await applyCatalogue(db, catalogue, { actor: 'npm start' });
  return (await grantPrivileges(db)) ? undefined : ROLES_MISSING;
}

/**
 * Brings schema and catalogue up to date. It may run at every start.
 * @returns a sentence for the platform engineer, if there is any
 * @throws Error with one readable sentence when the database cannot be used
 */
async function prepareDatabase(url: string, catalogue: Catalogue): Promise<string | undefined> {
  const pool = createPool(url, { max: 1, statementTimeoutMs: PATIENCE_MS, applicationName: 'tollgate start' });
  try {
    return await prepare(pool, url, catalogue);
  } catch (cause) {
    if (isConnectionError(cause)) throw new Error(describeConnectionError(cause, url), { cause });
    throw new Error(`the database cannot be prepared: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  } finally {
    await pool.end();
  }
}

/** Names of our services in kong.yml: `tollgate-ip:8080`. */
const HOST = /\btollgate-([a-z-]+):\d/g;

/** Processes of our own that a kong.yml needs. */
interface SoldServices {
  readonly services: readonly ServiceName[];
  /** Workers that the services call. */
  readonly workers: readonly WorkerKind[];
}

/**
 * Our services that a kong.yml sends requests to, and their workers; none when only the seller's own APIs are sold.
 * @throws the error of reading the file, or its mistake as YAML
 */
function soldServices(kongYml: string): SoldServices {
  // Parsed, because a comment may also name services.
  const text = JSON.stringify(parse(readFileSync(kongYml, 'utf8'), AS_KONG_READS) ?? null);
  const named = new Set([...text.matchAll(HOST)].map(([, name = '']) => name));
  const services = SERVICE_NAMES.filter((name) => named.has(name));
  return { services, workers: [...new Set(services.flatMap(workersOf))] };
}
