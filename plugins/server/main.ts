import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { destination, pino, stdTimeFunctions, type Logger } from 'pino';
import { Registry } from 'prom-client';
import { ACCESS_LAYER } from '../access-layer/plugin';
import { clearPlaces, openEntrances } from '../entrances/open-entrances';
import { readEntranceSettings } from '../entrances/settings';
import { GatewayErrors } from './answers/gateway-errors';
import { watchProcess } from '../tracing/process-metrics';
import { hearAnswers } from './answers/hear-answers';
import { hearOther, passToAll, passToParent } from './answers/pass-answers';
import { createPluginServerMetrics } from './metrics';
import { startMetricsListener, type MetricsListener } from './metrics-listener';
import { type ServerLog } from './log';
import { openAccessLayer } from './open-access-layer';
import { formatPluginInfo } from './plugin-info';
import { createPluginServer } from './plugin-server';
import { type PluginServerSettings, readPluginServerSettings } from './settings';
import { checkPlace, makeSocketFolder } from './socket-place';
import { openChannel } from './workers/asking';
import { directoryOfParent } from './workers/instance-directory';
import { BIND_VARIABLE, startWorkers } from './workers/worker-parent';

/** Kong keeps sending until its connections close; running events are short. */
const DRAIN_MS = 3_000;

/**
 * Collects garbage when the heap has grown to twice what is in use; V8 by itself waits for four times. Most garbage here is decisions on
 * their way to the log. With this and `--max-semi-space-size=4` (cli/supervisor/plan.ts), a flood of rejections takes 110 MB of memory
 * instead of 150 to 185, at the same CPU time a request.
 */
const HEAP_GROWTH = '--heap-growing-percent=100';

/** Logs JSON lines in the form of the services, to stderr, because stdout carries only the ready line. */
function openLog({ logLevel, nodeName }: PluginServerSettings): Logger {
  const form = { timestamp: stdTimeFunctions.isoTime, formatters: { level: (label: string) => ({ level: label }) } };
  const base = { service: 'plugin-server', ...(cluster.isWorker ? { node: nodeName } : {}) };
  return pino({ level: logLevel, base, ...form }, destination({ dest: 2, sync: false }));
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

/** Opens the access layer and serves it to Kong until SIGTERM. */
async function serve(settings: PluginServerSettings): Promise<void> {
  const log = openLog(settings);
  const metrics = settings.metrics && createPluginServerMetrics();
  const entranceSettings = readEntranceSettings(process.env);
  const hearsAnswers = settings.answersListen !== undefined || entranceSettings.lane !== undefined;
  const accessLayer = await openAccessLayer({ settings, log, metrics, hearsAnswers });
  const ask = cluster.isWorker ? openChannel(process, () => metrics?.registry.getMetricsAsJSON()) : undefined;
  const plugin = metrics?.timeEvents(accessLayer.plugin) ?? accessLayer.plugin;
  const server = createPluginServer({
    plugin,
    socketPath: settings.socketPath,
    bindAt: process.env[BIND_VARIABLE],
    directory: ask && directoryOfParent(ask),
    log,
  });
  metrics?.watch({ ...accessLayer.sources, server: () => server.stats() });
  // The parent of workers shows the figures of all workers.
  const place = cluster.isWorker ? undefined : settings.metrics;
  const listener = place && metrics && (await startMetricsListener({ ...place, registry: metrics.registry }));
  const gatewayErrors = new GatewayErrors();
  if (metrics) {
    watchProcess(metrics.registry);
    gatewayErrors.show(metrics.registry);
  }
  /** Takes lines in the form in which a gateway sent them. */
  const hear = (lines: string, passOn?: (line: string) => void): void => {
    gatewayErrors.hear(lines);
    accessLayer.hearAnswers(lines, passOn);
  };
  // Their gateway errors were counted where they first arrived.
  if (cluster.isWorker) hearOther(process, (lines) => accessLayer.hearAnswers(lines));
  const listen = cluster.isPrimary ? settings.answersListen : undefined;
  const answers = listen && (await hearAnswers({ listen, hear: (lines) => hear(lines), log }));
  const passOn = cluster.isWorker ? passToParent(process) : undefined;
  const hearLane = (lines: string): void => hear(lines, passOn);
  const entrances = await openEntrances({ plugin, settings: entranceSettings, log, hear: hearLane });
  // Last, because the parent of workers takes a worker that accepts connections here for one that serves.
  await server.listen();
  log.info({ signature: settings.signing.description }, 'proofs are signed');

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'draining');
    await Promise.all([server.close({ graceMs: DRAIN_MS }), entrances.close({ graceMs: DRAIN_MS })]);
    // The parent of workers still receives responses for a worker that ends.
    await accessLayer.close(answers !== undefined || cluster.isWorker);
    await Promise.all([listener?.close(), answers?.close()]);
    log.info({}, 'stopped');
  };
  endOnSignals(stop, log);
  if (cluster.isPrimary) tellReady(listener);
}

/** The last step of a start: a parent that reads this line may stop the process at once. */
function tellReady(listener: MetricsListener | undefined): void {
  process.stdout.write(`${JSON.stringify({ ready: true, ...(listener ? { metrics: listener.port } : {}) })}\n`);
}

/** Keeps several processes serving until SIGTERM; SIGHUP replaces them one by one. */
async function serveByWorkers(settings: PluginServerSettings): Promise<void> {
  const log = openLog(settings);
  const { workers: count, socketPath, nodeName, answersListen: listen } = settings;
  await checkPlace(socketPath);
  const pass = (lines: string): void =>
    passToAll(
      Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []),
      lines,
    );
  cluster.on('fork', (worker) => hearOther(worker, pass));
  const own = new Registry();
  const gatewayErrors = new GatewayErrors();
  gatewayErrors.show(own);
  const hear = (lines: string): void => {
    gatewayErrors.hear(lines);
    pass(lines);
  };
  const answers = listen && (await hearAnswers({ listen, hear, log }));
  const parent = await startWorkers({ count, socketPath, nodeName, log, own });
  const registry = { contentType: Registry.PROMETHEUS_CONTENT_TYPE, metrics: () => parent.metrics() };
  const listener = settings.metrics && (await startMetricsListener({ ...settings.metrics, registry }));
  process.on('SIGHUP', () => void parent.restart().then(() => log.info({ workers: count }, 'every worker was replaced')));
  endOnSignals(async (signal) => {
    log.info({ signal }, 'ending the workers');
    await parent.stop();
    await Promise.all([listener?.close(), answers?.close()]);
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
      if (cluster.isPrimary) await clearPlaces(readEntranceSettings(process.env), makeSocketFolder);
      return cluster.isPrimary && settings.workers > 1 ? serveByWorkers(settings) : serve(settings);
    })
    .catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    });
}

main();
