import { type Context, type ContextManager, type DiagLogger } from '@opentelemetry/api';

/** Share of requests without a trace of their own that are traced; docs/operate/monitor.md has the figures. */
const DEFAULT_RATIO = 0.01;
/** A collector that is away must not hold up a stop. */
const FLUSH_MS = 2_000;
/** A collector that is away fails every few seconds. */
const QUIET_MS = 60_000;

/**
 * Spans name their parents themselves. The usual manager keeps an AsyncLocalStorage, which on Node.js 20 hooks into every promise of the
 * process: 20 to 40 µs a request, traced or not.
 */
function withoutAmbientContext(root: Context): ContextManager {
  const manager: ContextManager = {
    active: () => root,
    with: (_context, work, thisArg, ...args) => work.call(thisArg as ThisParameterType<typeof work>, ...args),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

export interface TracingOptions {
  /** Name in traces, for example `tollgate-plugin-server`; `OTEL_SERVICE_NAME` wins. */
  readonly serviceName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: { warn(details: object, message: string): void };
}

export interface Tracing {
  /** The share of requests that are traced, 0 to 1. */
  readonly ratio: number;
  /** Sends what is left, for two seconds at most. */
  stop(): Promise<void>;
}

function readRatio(text: string | undefined): number {
  if (!text) return DEFAULT_RATIO;
  const ratio = Number(text);
  if (Number.isFinite(ratio) && ratio >= 0 && ratio <= 1) return ratio;
  throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
}

/** What the exporter complains about, without its words: an endpoint may hold a password. */
function quietly(log: TracingOptions['log']): DiagLogger {
  let quietUntil = 0;
  const complain = (): void => {
    const now = Date.now();
    if (now < quietUntil) return;
    quietUntil = now + QUIET_MS;
    log.warn({}, 'spans could not be sent to the trace collector');
  };
  const ignore = (): void => undefined;
  return { error: complain, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
}

/**
 * Starts OpenTelemetry when `OTEL_EXPORTER_OTLP_ENDPOINT` is set, and loads nothing of it otherwise. The exporter reads the standard
 * `OTEL_EXPORTER_OTLP_*` variables. Which requests are traced is decided once, by the plugin server; everybody else goes along.
 * @returns undefined when tracing is off
 * @throws Error that names the wrong setting and not its value
 */
export async function startTracing({ serviceName, env, log }: TracingOptions): Promise<Tracing | undefined> {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (!endpoint || env['OTEL_SDK_DISABLED'] === 'true') return undefined;
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that starts with http:// or https://');
  }
  const ratio = readRatio(env['OTEL_TRACES_SAMPLER_ARG']);
  const { NodeSDK, api, resources, tracing } = await import('@opentelemetry/sdk-node');
  const sdk = new NodeSDK({
    serviceName: env['OTEL_SERVICE_NAME'] || serviceName,
    // Not the process detector: it tells the command line.
    resourceDetectors: [resources.envDetector, resources.hostDetector],
    // A span is only ever begun for a request that was chosen already.
    sampler: new tracing.AlwaysOnSampler(),
    contextManager: withoutAmbientContext(api.ROOT_CONTEXT),
    textMapPropagator: null,
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  api.diag.setLogger(quietly(log), { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true });
  sdk.start();
  return {
    ratio,
    stop: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FLUSH_MS)));
      await Promise.race([sdk.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}
