import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { type Pool } from 'pg';
import { destination, pino, stdTimeFunctions, type Logger } from 'pino';
import { Registry } from 'prom-client';
import { ACCESS_LAYER, createAccessLayer } from '../access-layer/plugin';
import { openLink } from '../core/proof/access-link';
import { systemClock, type DecisionTracer } from '../core/ports';
import { clearPlaces, openEntrances } from '../entrances/open-entrances';
import { type QuotaStoreStats } from '../core/store-stats';
import { readEntranceSettings } from '../entrances/settings';
import { AccessRecordCache } from '../stores/cache/access-record-cache';
import { KnownHashes } from '../stores/cache/known-hashes';
import { PostgresChangeFeed } from '../stores/postgres/nodes/change-feed';
import { DecisionWriter } from '../stores/postgres/decisions/decision-writer';
import { createPostgresAccessRecords } from '../stores/postgres/keys/find-access-record';
import { createFindKeyHash } from '../stores/postgres/keys/find-key-hash';
import { createPostgresHashSource } from '../stores/postgres/keys/list-hashes';
import { NodeReporter } from '../stores/postgres/nodes/node-reporter';
import { createPool, warmPool } from '../stores/postgres/pool';
import { createQuotaCounter } from '../stores/quota/quota-store';
import { StoreClock } from '../stores/store-clock';
import { startTracing, type Tracing } from '../tracing/start-tracing';
import { logDecisions } from './log-decisions';
import { createPluginServerMetrics } from './metrics';
import { startMetricsListener, type MetricsListener } from './metrics-listener';
import { type ServerLog } from './log';
import { formatPluginInfo } from './plugin-info';
import { createPluginServer } from './plugin-server';
import { readBodyFile } from './read-body-file';
import { type PluginServerSettings, readPluginServerSettings } from './settings';
import { checkPlace } from './socket-place';
import { openChannel } from './workers/asking';
import { directoryOfParent } from './workers/instance-directory';
import { BIND_VARIABLE, startWorkers } from './workers/worker-parent';

/** No statement of the plugin server takes a hundredth of this on a healthy database. */
const STATEMENT_TIMEOUT_MS = 2_000;
/** Kong keeps sending while it is told; running events are short. */
const DRAIN_MS = 3_000;

/**
 * Lets the heap grow to twice what is in use before old garbage is collected; V8 itself waits for four times. Most garbage here is decisions
 * on their way to the log: a flood of rejections took 150 to 185 MB of memory, and takes 110 with the young generation that
 * `--max-semi-space-size=4` allows (cli/supervisor/plan.ts), at the same CPU time a request.
 */
const HEAP_GROWTH = '--heap-growing-percent=100';

/** JSON lines in the form of the services' own. stderr: stdout carries the ready line alone. */
function openLog({ logLevel, nodeName }: PluginServerSettings): Logger {
  const form = { timestamp: stdTimeFunctions.isoTime, formatters: { level: (label: string) => ({ level: label }) } };
  const base = { service: 'plugin-server', ...(cluster.isWorker ? { node: nodeName } : {}) };
  return pino({ level: logLevel, base, ...form }, destination({ dest: 2, sync: false }));
}

/** Loads OpenTelemetry's own part of the plugin server; nothing of it is needed while tracing is off. */
async function openTracer({ ratio }: Tracing): Promise<DecisionTracer> {
  const { createDecisionTracer } = await import('./decision-tracer.js');
  return createDecisionTracer({ ratio, clock: systemClock });
}

/** Three pools, so that neither a burst of new keys nor a slow ledger write can hold up the others. */
async function openPools(databaseUrl: string, log: ServerLog): Promise<Record<'records' | 'counters' | 'ledger', Pool>> {
  const open = (applicationName: string, max: number): Pool =>
    createPool(databaseUrl, {
      max,
      min: 1,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      applicationName,
      onError: (err) => log.warn({ err }, 'a database connection broke while idle'),
    });
  const pools = { records: open('tollgate-access', 8), counters: open('tollgate-quota', 4), ledger: open('tollgate-decisions', 2) };
  await Promise.all(Object.values(pools).map(warmPool));
  return pools;
}

function endOnSignals(stop: (signal: NodeJS.Signals) => Promise<void>, log: ServerLog): void {
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      (stopping = stop(signal)).then(
        () => process.exit(0),
        (err: unknown) => {
          log.error({ err }, 'could not stop cleanly');
          process.exit(1);
        },
      );
    });
  }
}

function redisAnswers({ isRedisGivenUp }: QuotaStoreStats): boolean | undefined {
  return isRedisGivenUp === undefined ? undefined : !isRedisGivenUp;
}

/** Builds the stores and the plugin, and serves it to Kong until SIGTERM. */
async function serve(settings: PluginServerSettings): Promise<void> {
  const log = openLog(settings);
  const { databaseUrl, timeZone, linkKeys } = settings;
  const tracing = await startTracing({ serviceName: 'tollgate-plugin-server', env: process.env, log });
  const { records, counters, ledger } = await openPools(databaseUrl, log);
  const clock = new StoreClock(systemClock);
  const feed = new PostgresChangeFeed({ url: databaseUrl, onTime: (sample) => clock.learn(sample) });
  const hashes = new KnownHashes({
    source: createPostgresHashSource(records),
    feed,
    onError: (err) => log.warn({ err }, 'which keys exist could not be read yet'),
  });
  const cache = new AccessRecordCache({ source: createPostgresAccessRecords(records), feed, hashes });
  const quota = await createQuotaCounter({ redisUrl: settings.redisUrl, pool: counters, timeZone, clock, log });
  const decisions = new DecisionWriter({
    pool: ledger,
    timeZone,
    auditRetentionDays: settings.auditRetentionDays,
    clock,
    onError: (err) => log.warn({ err }, 'decisions could not be written yet'),
  });
  const reporter = new NodeReporter({
    pool: ledger,
    feed,
    name: settings.nodeName,
    version: ACCESS_LAYER.Version,
    isRedisAnswering: () => redisAnswers(quota.stats()),
    onError: (err) => log.warn({ err }, 'what this node knows could not be told yet'),
  });
  // Nothing is counted or timed for nobody.
  const metrics = settings.metrics && createPluginServerMetrics();
  const plugin = createAccessLayer({
    records: cache,
    quota: quota.counter,
    decisions: logDecisions(metrics?.countDecisions(decisions) ?? decisions, log),
    tracer: tracing && (await openTracer(tracing)),
    onStep: metrics?.timeStep,
    clock,
    links: linkKeys && { open: (token, nowSeconds) => openLink(token, linkKeys, nowSeconds), findKeyHash: createFindKeyHash(records) },
    signContext: settings.signing.sign,
    readBodyFile,
    log,
  });
  const ask = cluster.isWorker ? openChannel(process, () => metrics?.registry.getMetricsAsJSON()) : undefined;
  const asked = metrics?.timeEvents(plugin) ?? plugin;
  const server = createPluginServer({
    plugin: asked,
    socketPath: settings.socketPath,
    bindAt: process.env[BIND_VARIABLE],
    directory: ask && directoryOfParent(ask),
    log,
  });
  metrics?.watch({
    server: () => server.stats(),
    cache: () => cache.stats(),
    isFeedHealthy: () => feed.isHealthy(),
    quota: () => quota.stats(),
    decisions: () => decisions.stats(),
  });
  // The parent of workers shows the figures of all of them.
  const place = cluster.isWorker ? undefined : settings.metrics;
  const listener = place && metrics && (await startMetricsListener({ ...place, registry: metrics.registry }));
  const entrances = await openEntrances({ plugin: asked, settings: readEntranceSettings(process.env), log });
  // Last: the parent of workers takes one that accepts here for one that serves.
  await server.listen();
  log.info({ signature: settings.signing.description }, 'proofs are signed');

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'draining');
    await Promise.all([server.close({ graceMs: DRAIN_MS }), entrances.close({ graceMs: DRAIN_MS })]);
    await listener?.close();
    await Promise.all([quota.close(), decisions.close(), reporter.close(), feed.close(), tracing?.stop()]);
    cache.close();
    hashes.close();
    await Promise.all([records.end(), counters.end(), ledger.end()]);
    log.info({}, 'stopped');
  };
  endOnSignals(stop, log);
  if (cluster.isPrimary) tellReady(listener);
}

/** Last: whoever reads this may stop the process at once. */
function tellReady(listener: MetricsListener | undefined): void {
  process.stdout.write(`${JSON.stringify({ ready: true, ...(listener ? { metrics: listener.port } : {}) })}\n`);
}

/** Keeps several processes serving until SIGTERM; SIGHUP replaces them one by one. */
async function serveByWorkers(settings: PluginServerSettings): Promise<void> {
  const log = openLog(settings);
  const { workers: count, socketPath, nodeName } = settings;
  await checkPlace(socketPath);
  const parent = await startWorkers({ count, socketPath, nodeName, log });
  const registry = { contentType: Registry.PROMETHEUS_CONTENT_TYPE, metrics: () => parent.metrics() };
  const listener = settings.metrics && (await startMetricsListener({ ...settings.metrics, registry }));
  process.on('SIGHUP', () => void parent.restart().then(() => log.info({ workers: count }, 'every worker was replaced')));
  endOnSignals(async (signal) => {
    log.info({ signal }, 'ending the workers');
    await parent.stop();
    await listener?.close();
  }, log);
  log.info({ socketPath, workers: count }, 'plugin server ready');
  tellReady(listener);
}

function main(): void {
  if (process.argv.includes('--plugin-info')) {
    process.stdout.write(formatPluginInfo(ACCESS_LAYER));
    return;
  }
  setFlagsFromString(HEAP_GROWTH);
  Promise.resolve()
    .then(async () => {
      const settings = readPluginServerSettings(process.env);
      if (cluster.isPrimary) await clearPlaces(readEntranceSettings(process.env));
      return cluster.isPrimary && settings.workers > 1 ? serveByWorkers(settings) : serve(settings);
    })
    .catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    });
}

main();
