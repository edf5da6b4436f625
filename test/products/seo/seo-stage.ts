import { type LightMyRequestResponse } from 'fastify';
import { readSettings } from '../../../plugins/core/settings';
import { type GuardedFetchOptions } from '../../../services/kit/upstream/guarded-fetch';
import { createMetrics } from '../../../services/kit/metrics';
import { createWorkerMetrics } from '../../../services/kit/worker/worker-metrics';
import { connectWorkers } from '../../../services/kit/worker/connect-workers';
import { createLog } from '../../../services/kit/log';
import { type WorkerClient } from '../../../services/kit/worker/worker-client';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { type SeoWorkerMethods } from '../../../services/products/seo/research-route';
import { seoService } from '../../../services/products/seo/routes';
import { seoWorkerSettings } from '../../../services/workers/seo/settings';
import { startSeoWorker } from '../../../services/workers/seo/start-seo-worker';
import { compilePageThread } from '../../support/page-thread';
import { createHarness } from '../../kit/harness';
import { testClock } from '../../kit/test-clock';
import { startTestSandbox } from '../../support/sandbox';

export interface SeoStage {
  readonly sandbox: Sandbox;
  readonly worker: WorkerClient<SeoWorkerMethods>;
  /** A POST with a test key unless the mode is given. */
  readonly post: (route: string, body: unknown, mode?: 'live' | 'test') => Promise<LightMyRequestResponse>;
  readonly call: ReturnType<typeof createHarness>['call'];
  /** Pages that wait for a thread of the worker. */
  pagesWaiting(): Promise<number>;
  close(): Promise<void>;
}

export interface SeoStageOptions {
  /** Environment of the worker; SANDBOX_URL is set. */
  readonly env?: Readonly<Record<string, string>>;
  /** Answers live calls about Open PageRank from the sandbox, as an operator's own upstream on loopback would. */
  readonly liveOpenPageRank?: boolean;
  readonly network?: Pick<GuardedFetchOptions, 'resolve' | 'dial'>;
  /** Path of the file that threads run; the compiled `page-thread` unless given. */
  readonly pageThread?: string;
}

/** The sandbox, a worker behind real gRPC on loopback, and the service in memory. */
export async function startSeoStage({ env = {}, liveOpenPageRank = false, network, pageThread }: SeoStageOptions = {}): Promise<SeoStage> {
  const sandbox = await startTestSandbox();
  const openPageRank = liveOpenPageRank && { SEO_OPEN_PAGE_RANK_URL: `${sandbox.url}/seo-open-page-rank`, SEO_OPEN_PAGE_RANK_KEY: 'key' };
  const settings = readSettings({ worker: seoWorkerSettings }, { SANDBOX_URL: sandbox.url, ...openPageRank, ...env }).worker;
  const log = createLog('seo-worker', { level: 'silent' });
  const metrics = createWorkerMetrics('seo');
  const server = await startSeoWorker({
    settings,
    log,
    clock: testClock,
    metrics,
    pageThread: pageThread ?? (await compilePageThread()),
    ...(network && { network }),
  });
  const worker = connectWorkers<SeoWorkerMethods>('seo', [server.address], { metrics: createMetrics(), tls: undefined });
  const { call } = createHarness(seoService, { deps: { worker }, slots: 100 });
  return {
    sandbox,
    worker,
    call,
    async pagesWaiting() {
      const waiting = await metrics.registry.getSingleMetric('tollgate_worker_queue_waiting')?.get();
      return waiting?.values.find(({ labels }) => labels['pool'] === 'parsing')?.value ?? NaN;
    },
    post: (route, body, mode = 'test') =>
      call({
        method: 'POST',
        url: route,
        payload: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
        context: { mode },
      }),
    close: async () => {
      worker.close();
      await server.close(100);
      await sandbox.close();
    },
  };
}
