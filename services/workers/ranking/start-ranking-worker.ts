import { join } from 'node:path';
import { type Clock } from '../../../plugins/core/ports';
import { type Log } from '../../kit/log';
import { loadService } from '../../kit/load-proto';
import { serveWorker, type WorkerServer } from '../../kit/serve-worker';
import { type MutualTls } from '../../kit/worker-wire';
import { createRankingHandlers } from './handler';
import { type RankingWorkerSettings } from './settings';
import { createRankingUpstreams } from './upstreams';

const PROTO = join(__dirname, '../../../protos/ranking/v1/ranking.proto');

export interface RankingWorkerOptions {
  readonly settings: RankingWorkerSettings;
  readonly log: Log;
  readonly clock: Clock;
  readonly tls?: MutualTls | undefined;
}

/** Serves the worker over gRPC until it is closed. */
export async function startRankingWorker({ settings, log, clock, tls }: RankingWorkerOptions): Promise<WorkerServer> {
  const upstreams = createRankingUpstreams(settings, { log, clock });
  const handlers = createRankingHandlers(upstreams);
  const server = await serveWorker({
    service: loadService(PROTO, 'ranking.v1.RankingWorker'),
    handlers: { ...handlers },
    host: settings.WORKER_HOST,
    port: settings.WORKER_PORT,
    log,
    tls,
  });
  return {
    ...server,
    close: async (drainMs) => {
      await server.close(drainMs);
      await upstreams.close();
    },
  };
}
