import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { type ServiceDefinition } from '../../../services/kit/service/define-service';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';
import { rankingWorkerSettings } from '../../../services/workers/ranking/settings';
import { type RankingWorkerOptions, startRankingWorker } from '../../../services/workers/ranking/start-ranking-worker';
import { compilePageThread } from '../../support/page-thread';
import { createHarness, type Harness } from '../../kit/harness';
import { testClock } from '../../kit/test-clock';

const log = createLog('test', { level: 'silent' });

export function startTestSandbox(): Promise<Sandbox> {
  return startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
}

/** A source that is silent is not waited for; for inputs that meet one. */
export const HASTY = { RANKING_TIMEOUT_MS: '400' };

/** @param network of the email crawl's guarded fetch */
export async function startTestWorker(env: Record<string, string>, network?: RankingWorkerOptions['network']): Promise<WorkerServer> {
  const settings = rankingWorkerSettings.parse({ RANKING_TIMEOUT_MS: '20000', ...env });
  return startRankingWorker({ settings, log, clock: testClock, pageThread: await compilePageThread(), ...(network && { network }) });
}

/** A service in memory that talks to a worker over gRPC; without an address it has none. */
export async function serviceWith<Deps, Settings>(service: ServiceDefinition<Deps, Settings>, address?: string): Promise<Harness> {
  const settings = service.settings.parse(address === undefined ? {} : { RANKING_WORKER_URL: address });
  const deps = await service.createDeps({ settings, common: { sandboxUrl: undefined }, log, clock: testClock, metrics: createMetrics() });
  const harness = createHarness(service as ServiceDefinition<Deps>, { deps });
  harness.app.addHook('onClose', () => service.close?.(deps));
  return harness;
}
