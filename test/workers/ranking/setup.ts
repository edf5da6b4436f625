import { createLog } from '../../../services/kit/log';
import { type ServiceDefinition } from '../../../services/kit/service/define-service';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { rankingWorkerSettings } from '../../../services/workers/ranking/settings';
import { compilePageThread } from '../../support/page-thread';
import { buildHarness, type Harness } from '../../kit/harness';
import { testClock } from '../../kit/test-clock';
import { type RankingWorkerOptions, startRankingWorker } from '../../../services/workers/ranking/start-ranking-worker';

const log = createLog('test', { level: 'silent' });

/** A source that is silent is not waited for; for inputs that meet one. */
export const HASTY = { RANKING_TIMEOUT_MS: '400' };

/** @param network of the email crawl's guarded fetch */
export async function startTestWorker(env: Record<string, string>, network?: RankingWorkerOptions['network']): Promise<WorkerServer> {
  const settings = rankingWorkerSettings.parse({ RANKING_TIMEOUT_MS: '20000', ...env });
  return startRankingWorker({ settings, log, clock: testClock, pageThread: await compilePageThread(), ...(network && { network }) });
}

/** A service in memory that talks to a worker over gRPC; without an address it has none. */
export function serviceWith<Deps, Settings>(service: ServiceDefinition<Deps, Settings>, address?: string): Promise<Harness> {
  return buildHarness(service, address === undefined ? {} : { RANKING_WORKER_URL: address });
}
