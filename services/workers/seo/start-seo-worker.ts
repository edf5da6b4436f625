import { type Clock } from '../../../plugins/core/ports';
import { type GuardedFetchOptions } from '../../kit/upstream/guarded-fetch';
import { type Log } from '../../kit/log';
import { type WorkerServer } from '../../kit/worker/serve-worker';
import { connectRedis, type RedisClient } from '../../kit/redis-client';
import { startWorker } from '../../kit/worker/start-worker';
import { createWorkerMetrics, type WorkerMetrics } from '../../kit/worker/worker-metrics';
import { type MutualTls } from '../../kit/mutual-tls';
import { createSeoHandlers } from './handler';
import { FetchLimits } from '../../kit/pages/fetch-limits';
import { createPageParser } from '../../kit/pages/page-parser';
import { createLivePort, createSandboxPort } from '../../kit/pages/page-port';
import { type SeoWorkerSettings } from './settings';
import { createSources } from './sources/create-sources';

export interface SeoWorkerOptions {
  readonly settings: SeoWorkerSettings;
  readonly log: Log;
  readonly clock: Clock;
  /** Path of the compiled `kit/pages/page-thread`. */
  readonly pageThread: string;
  readonly tls?: MutualTls | undefined;
  readonly metrics?: WorkerMetrics;
  /** Replaces name look-ups and connections of the guarded fetch in tests. */
  readonly network?: Pick<GuardedFetchOptions, 'resolve' | 'dial'>;
}

/** Milliseconds that a call waits for links that were seen before. */
const REDIS_DEADLINE_MS = 500;

function connectToRedis({ REDIS_URL: url }: SeoWorkerSettings, log: Log): RedisClient | undefined {
  const onError = (error: Error): void => log.debug({ err: error }, 'Redis cannot be used');
  return url === undefined ? undefined : connectRedis(url, { deadlineMs: REDIS_DEADLINE_MS, waitForConnection: false, onError });
}

/** Serves the worker over gRPC. Closing it also ends its connections to sources. */
export function startSeoWorker({ settings, log, clock, tls, network, pageThread, ...options }: SeoWorkerOptions): Promise<WorkerServer> {
  const { metrics = createWorkerMetrics('seo') } = options;
  const { upstreams } = metrics;
  const { SANDBOX_URL: sandboxUrl, SEO_PAGE_TIMEOUT_MS: pageTimeoutMs } = settings;
  const redis = settings.SEO_LINK_INDEX ? connectToRedis(settings, log) : undefined;
  const sources = createSources({ settings, clock, metrics: upstreams, redis });
  const page = { timeoutMs: pageTimeoutMs, metrics: upstreams };
  const live = createLivePort({ ...network, ...page });
  const test = sandboxUrl === undefined ? undefined : createSandboxPort(sandboxUrl, page);
  const limits = new FetchLimits(settings.SEO_PAGES_AT_ONCE);
  const parser = createPageParser({ threadFile: pageThread, threads: settings.SEO_PARSE_THREADS });
  metrics.watchPool('pages', () => limits.levels());
  metrics.watchPool('parsing', () => parser.levels());
  const handlers = createSeoHandlers({
    sources: sources.byMode,
    ports: { live, test },
    parser,
    limits,
    clock,
    pageTimeoutMs,
    pagesBudgetMs: settings.SEO_PAGES_BUDGET_MS,
    pagesPerCall: settings.SEO_PAGES_PER_CALL,
  });
  return startWorker('seo', {
    settings,
    log,
    tls,
    metrics,
    handlers: { ...handlers },
    close: async () => {
      await Promise.all([sources.close(), live.close(), test?.close(), parser.close()]);
      redis?.disconnect();
    },
  });
}
