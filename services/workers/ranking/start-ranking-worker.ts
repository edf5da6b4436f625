import { join } from 'node:path';
import { type Clock, systemClock } from '../../../plugins/core/ports';
import { type Log } from '../../kit/log';
import { loadService } from '../../kit/load-proto';
import { serveWorker, type WorkerServer } from '../../kit/serve-worker';
import { createWorkerMetrics, type WorkerMetrics } from '../../kit/worker-metrics';
import { createRankingHandlers } from './handler';
import { type RankingWorkerSettings } from './settings';
import { createRankingUpstreams } from './upstreams';

const PROTO = join(__dirname, '../../../protos/ranking/v1/ranking.proto');

/** Serves the worker over gRPC until it is closed. */
export async function startRankingWorker(
  settings: RankingWorkerSettings,
  log: Log,
  clock: Clock = systemClock,
  metrics: WorkerMetrics = createWorkerMetrics('ranking'),
): Promise<WorkerServer> {
  const upstreams = createRankingUpstreams(settings, { log, clock, metrics: metrics.upstreams });
  const handlers = createRankingHandlers(upstreams);
  const server = await serveWorker({
    name: 'ranking',
    metrics,
    service: loadService(PROTO, 'ranking.v1.RankingWorker'),
    handlers: { ...handlers },
    host: settings.WORKER_HOST,
    port: settings.WORKER_PORT,
    log,
  });
  return {
    ...server,
    close: async (drainMs) => {
      await server.close(drainMs);
      await upstreams.close();
    },
  };
}
