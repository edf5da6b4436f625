import { type Clock } from '../../../plugins/core/ports';
import { type GuardedFetchOptions } from '../../kit/upstream/guarded-fetch';
import { type Log } from '../../kit/log';
import { type Metrics } from '../../kit/metrics';
import { FetchLimits } from '../../kit/pages/fetch-limits';
import { createPageParser } from '../../kit/pages/page-parser';
import { createLivePort, createSandboxPort } from '../../kit/pages/page-port';
import { type WorkerServer } from '../../kit/worker/serve-worker';
import { startWorker } from '../../kit/worker/start-worker';
import { createWorkerMetrics, type WorkerMetrics } from '../../kit/worker/worker-metrics';
import { type MutualTls } from '../../kit/mutual-tls';
import { createEmailCrawl, type EmailCrawl } from './emails/email-crawl';
import { createRankingHandlers } from './handler';
import { type RankingWorkerSettings } from './settings';
import { createRankingUpstreams } from './upstreams';

export interface RankingWorkerOptions {
  readonly settings: RankingWorkerSettings;
  readonly log: Log;
  readonly clock: Clock;
  /** Path of the compiled `kit/pages/page-thread`. */
  readonly pageThread: string;
  readonly tls?: MutualTls | undefined;
  readonly metrics?: WorkerMetrics;
  /** Replaces name look-ups and connections of the guarded fetch in tests. */
  readonly network?: Pick<GuardedFetchOptions, 'resolve' | 'dial'>;
}

/** Maximum bytes read of one page of a business. An address comes long before that. */
const PAGE_BYTES = 1_048_576;
const PAGE_TIMEOUT_MS = 4_000;

/** An address is usually on the first page or two, so one thread keeps up with the fetches. */
const PARSE_THREADS = 1;

function emailCrawlOf({ settings, network, pageThread }: RankingWorkerOptions, metrics: Metrics): EmailCrawl | undefined {
  if (!settings.RANKING_EMAIL_CRAWL) return undefined;
  const { SANDBOX_URL: sandboxUrl } = settings;
  const page = { timeoutMs: PAGE_TIMEOUT_MS, maxBytes: PAGE_BYTES, metrics };
  return createEmailCrawl({
    ports: {
      live: createLivePort({ ...network, ...page }),
      test: sandboxUrl === undefined ? undefined : createSandboxPort(sandboxUrl, page),
    },
    parser: createPageParser({ threadFile: pageThread, threads: PARSE_THREADS, maxBytes: PAGE_BYTES }),
    limits: new FetchLimits(settings.RANKING_EMAIL_PAGES_AT_ONCE),
    budgetMs: settings.RANKING_EMAIL_CRAWL_MS,
    pageTimeoutMs: PAGE_TIMEOUT_MS,
  });
}

/** Serves the worker over gRPC until it is closed. */
export function startRankingWorker(options: RankingWorkerOptions): Promise<WorkerServer> {
  const { settings, log, clock, tls, metrics = createWorkerMetrics('ranking') } = options;
  const upstreams = createRankingUpstreams(settings, { log, clock, metrics: metrics.upstreams });
  const emails = emailCrawlOf(options, metrics.upstreams);
  const handlers = createRankingHandlers(upstreams, emails);
  return startWorker('ranking', {
    settings,
    log,
    tls,
    metrics,
    handlers: { ...handlers },
    close: () => Promise.all([upstreams.close(), emails?.close()]),
  });
}
