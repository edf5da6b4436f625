import { setTimeout as sleep } from 'node:timers/promises';
import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { type Clock, systemClock } from '../../plugins/core/ports';
import { type ContextKeys } from '../../plugins/core/proof/verify-context';
import { startTracing } from '../../plugins/tracing/start-tracing';
import { type ReadOn } from '../../plugins/core/problems';
import { readOnSettings } from '../../plugins/core/read-on';
import { type Environment, readSettings } from '../../plugins/core/settings';
import { processSettings, type ProcessSettings } from '../kit/config';
import { type DataAge, type ServiceDefinition } from '../kit/service/define-service';
import { type LiveRoute, liveRoutesOf } from '../kit/service/live-routes';
import { createLog, type Log } from '../kit/log';
import { createMetrics, type Metrics } from '../kit/metrics';
import { catalogueFile, readCatalogue } from '../kit/read-catalogue';
import { type PrivateServer, type ReadyCheck, startPrivateServer } from '../kit/service/private-server';
import { type Refund } from '../kit/service/refund';
import { createRefundCall } from '../kit/service/refund-call';
import { proofSettings } from '../kit/service/proof-settings';
import { workerTlsSettings } from '../kit/worker/worker-tls';
import { type MutualTls } from '../kit/mutual-tls';
import { createRefund } from './refund';
import { SERVICES } from './registry';
import { sourcesOf } from '../workers/live-sources';

/** Products of all services, wherever each service runs. */
const OWN_PRODUCTS: ReadonlySet<string> = new Set(Object.values(SERVICES).flatMap(({ products }) => products));

/** The running services, and how to stop them. */
export interface RunningServices {
  /** Addresses at which the gateway reaches each service, by name. */
  readonly services: Readonly<Record<string, string>>;
  /** `/metrics`, `/health`, `/ready`. */
  readonly privateUrl: string;
  /** Maximum milliseconds during which requests are still taken after {@link close} was called. */
  readonly leaveMs: number;
  /** Reports not ready, lets requests finish, then closes everything. */
  close(): Promise<void>;
}

interface Running {
  readonly name: string;
  readonly url: string;
  readonly check: ReadyCheck;
  /** Whether each product serves live keys, as far as the service knows. */
  readonly live: Readonly<Record<string, boolean>>;
  readonly liveRoutes: readonly LiveRoute[];
  readonly product: string;
  dataOf(): Promise<readonly DataAge[]>;
  close(): Promise<void>;
}

/** The page can do without the age of data, so data whose age is not yet known is left out. */
async function dataOfAll(running: readonly Running[]): Promise<Record<string, readonly DataAge[]>> {
  const known = await Promise.all(running.map(async (one) => [one.product, await one.dataOf().catch(() => [])] as const));
  return Object.fromEntries(known.filter(([, data]) => data.length > 0));
}

interface Tools {
  readonly catalogue: Catalogue;
  readonly common: ProcessSettings;
  readonly contextKeys: ContextKeys;
  readonly workerTls: MutualTls | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly refund: Refund | undefined;
  readonly readOn: ReadOn;
}

/** Facts of the service itself: without workers nothing is served, and with workers only they know the configured sources. */
function liveOf(service: ServiceDefinition, isServed: boolean): Record<string, boolean> {
  const known = service.products.filter((product) => !isServed || sourcesOf(product).length === 0);
  return Object.fromEntries(known.map((product) => [product, isServed]));
}

/** A product of two services is served if both serve it. */
function allOf(running: readonly Running[]): Record<string, boolean> {
  const all: Record<string, boolean> = {};
  for (const { live } of running) {
    for (const [product, isServed] of Object.entries(live)) all[product] = isServed && (all[product] ?? true);
  }
  return all;
}

async function startOne(service: ServiceDefinition, settings: unknown, port: number, tools: Tools): Promise<Running> {
  const { catalogue, common, contextKeys, workerTls, clock, refund, readOn } = tools;
  const metrics = tools.metrics.forService(service.name);
  // Not a child of the process's log: a line would have two service names under one member, which some collectors refuse.
  const log = createLog(service.name, { level: common.LOG_LEVEL });
  const deps = await service.createDeps({ settings, common: { sandboxUrl: common.SANDBOX_URL, workerTls }, log, clock, metrics });
  const { SERVICE_LEAVE_MS: leaveMs, SERVICE_SLOTS: slots } = common;
  // Loaded on demand, because a process for refunds alone does not need it.
  const { createServiceApp } = await import('../kit/service/service-app.js');
  const app = createServiceApp(service, {
    contextKeys,
    deps,
    catalogue,
    refund,
    readOn,
    clock,
    log,
    metrics,
    slots,
    leave: () => sleep(leaveMs),
  });
  const close = async (): Promise<void> => {
    await app.close();
    await service.close?.(deps);
  };
  try {
    const url = await app.listen({ host: common.SERVICE_HOST, port });
    const { name, products } = service;
    const isServed = service.hasWorkers?.(deps) ?? true;
    return {
      ...{ name, url, product: products[0], live: liveOf(service, isServed), close },
      liveRoutes: liveRoutesOf(service, { products: catalogue.products, isServed }),
      check: () => service.checkReady?.(deps),
      dataOf: async () => (await service.dataOf?.(deps)) ?? [],
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Close = () => Promise<void>;

interface Closers {
  /** Drained at the same time. One after the other, each would wait for all before it. */
  readonly services: Close[];
  /** Resources that services need until their end, closed in reverse order. */
  readonly shared: Close[];
}

/** A failure of one does not leave the others open. */
async function closeAll({ services, shared }: Closers, log: Log): Promise<void> {
  const tryTo = (close: Close): Promise<void> =>
    close().catch((error: unknown) => log.error({ err: error }, 'a resource could not be closed'));
  await Promise.all(services.map(tryTo));
  for (const close of [...shared].reverse()) await tryTo(close);
}

/**
 * Starts services in this process, each on a port of its own: one in production, all of them on a developer's machine.
 * @param services if there are none, the process serves `/refunds` alone. The first service listens on SERVICE_PORT, the others on the
 * ports after it (on any free ports if it is 0)
 * @throws SettingsError listing everything that is wrong with the environment; CatalogueError for the catalogue; the error of a service at
 * start
 */
export async function runServices(services: readonly ServiceDefinition[], env: Environment): Promise<RunningServices> {
  const groups = Object.fromEntries(services.map((service) => [`service ${service.name}`, service.settings]));
  const shared = { contextKeys: proofSettings, common: processSettings, workerTls: workerTlsSettings, readOn: readOnSettings };
  const { common, contextKeys, workerTls, readOn, ...own } = readSettings({ ...shared, ...groups }, env) as Pick<
    Tools,
    'common' | 'contextKeys' | 'workerTls' | 'readOn'
  > &
    Record<string, unknown>;
  const log = createLog('services', { level: common.LOG_LEVEL });
  const catalogue = readCatalogue(catalogueFile(common));
  const clock = systemClock;
  const metrics = createMetrics({ withProcess: true });
  const closers: Closers = { services: [], shared: [] };
  try {
    const [only, ...others] = services;
    const serviceName = only && others.length === 0 ? `tollgate-${only.name}` : 'tollgate-services';
    const tracing = await startTracing({ serviceName, env, log });
    if (tracing) closers.shared.push(() => tracing.stop());
    const store = await createRefund(common, { log, clock });
    if (store) closers.shared.push(() => store.close());
    const running: Running[] = [];
    for (const [index, service] of services.entries()) {
      const port = common.SERVICE_PORT === 0 ? 0 : common.SERVICE_PORT + index;
      const tools = {
        catalogue,
        common,
        contextKeys,
        workerTls,
        clock,
        metrics,
        refund: store?.refund,
        readOn,
      } satisfies Tools;
      const one = await startOne(service, own[`service ${service.name}`], port, tools);
      closers.services.push(() => one.close());
      running.push(one);
    }
    const privateServer: PrivateServer = await startPrivateServer({
      host: common.PRIVATE_HOST,
      port: common.PRIVATE_PORT,
      metrics,
      live: allOf(running),
      liveRoutes: Object.fromEntries(running.map(({ product, liveRoutes }) => [product, liveRoutes])),
      data: () => dataOfAll(running),
      checks: Object.fromEntries(running.map(({ name, check }) => [name, check])),
      answerRefund: createRefundCall({
        contextKeys,
        ownProducts: OWN_PRODUCTS,
        isPricedByAnswer: (id) => catalogue.find(id)?.units !== undefined,
        refund: store?.refund,
        clock,
        log,
        metrics,
      }),
    });
    closers.shared.unshift(() => privateServer.close());
    return {
      services: Object.fromEntries(running.map(({ name, url }) => [name, url])),
      privateUrl: privateServer.url,
      leaveMs: common.SERVICE_LEAVE_MS,
      close: () => {
        privateServer.startDraining();
        return closeAll(closers, log);
      },
    };
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }
}
