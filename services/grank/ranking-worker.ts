import { join } from 'node:path';
import { ServiceError } from '../kit/errors';
import { loadService } from '../kit/worker/load-proto';
import { createWorkerClient, type WorkerClient, type WorkerClientOptions } from '../kit/worker/worker-client';
import { type GetSourceRequest } from '../workers/generated/ranking/ranking/v1/GetSourceRequest';
import { type GetSourceResponse__Output } from '../workers/generated/ranking/ranking/v1/GetSourceResponse';
import { type RankRequest } from '../workers/generated/ranking/ranking/v1/RankRequest';
import { type RankResponse__Output } from '../workers/generated/ranking/ranking/v1/RankResponse';

const PROTO = join(__dirname, '../../protos/ranking/v1/ranking.proto');

// A type, not an interface: it has to be a record of methods.
export type RankingMethods = {
  GetSource: { request: GetSourceRequest; response: GetSourceResponse__Output };
  Search: { request: RankRequest; response: RankResponse__Output };
  Position: { request: RankRequest; response: RankResponse__Output };
};

export interface GrankDeps {
  /** Undefined when no worker is configured. */
  readonly worker: WorkerClient<RankingMethods> | undefined;
}

/** @param addresses `host:port` of every worker */
export function connectRankingWorker(addresses: readonly string[], options: Pick<WorkerClientOptions, 'metrics' | 'tls'>): GrankDeps {
  const [first, ...others] = addresses;
  if (first === undefined) return { worker: undefined };
  const service = loadService(PROTO, 'ranking.v1.RankingWorker');
  return { worker: createWorkerClient<RankingMethods>({ service, addresses: [first, ...others], name: 'ranking-worker', ...options }) };
}

/** @throws ServiceError 503 naming the setting */
export function workerOf({ worker }: GrankDeps): WorkerClient<RankingMethods> {
  if (worker) return worker;
  const setting = 'RANKING_WORKER_URL';
  throw new ServiceError('upstream_not_configured', {
    detail: `No ranking worker is configured: set ${setting}.`,
    members: { settings: [setting] },
  });
}
