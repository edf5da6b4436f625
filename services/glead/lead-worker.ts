import { join } from 'node:path';
import { ServiceError } from '../kit/errors';
import { loadService } from '../kit/worker/load-proto';
import { createWorkerClient, type WorkerClient, type WorkerClientOptions } from '../kit/worker/worker-client';
import { type FindLeadsRequest } from '../workers/generated/ranking/ranking/v1/FindLeadsRequest';
import { type FindLeadsResponse__Output } from '../workers/generated/ranking/ranking/v1/FindLeadsResponse';
import { type GetSourceRequest } from '../workers/generated/ranking/ranking/v1/GetSourceRequest';
import { type GetSourceResponse__Output } from '../workers/generated/ranking/ranking/v1/GetSourceResponse';

const PROTO = join(__dirname, '../../protos/ranking/v1/ranking.proto');

// A type, not an interface: it has to be a record of methods.
export type LeadMethods = {
  GetSource: { request: GetSourceRequest; response: GetSourceResponse__Output };
  FindLeads: { request: FindLeadsRequest; response: FindLeadsResponse__Output };
};

export interface GleadDeps {
  /** Undefined when no worker is configured. */
  readonly worker: WorkerClient<LeadMethods> | undefined;
}

/** @param addresses `host:port` of every worker */
export function connectLeadWorker(addresses: readonly string[], options: Pick<WorkerClientOptions, 'metrics' | 'tls'>): GleadDeps {
  const [first, ...others] = addresses;
  if (first === undefined) return { worker: undefined };
  const service = loadService(PROTO, 'ranking.v1.RankingWorker');
  return { worker: createWorkerClient<LeadMethods>({ service, addresses: [first, ...others], name: 'ranking-worker', ...options }) };
}

/** @throws ServiceError 503 naming the setting */
export function workerOf({ worker }: GleadDeps): WorkerClient<LeadMethods> {
  if (worker) return worker;
  const setting = 'RANKING_WORKER_URL';
  throw new ServiceError('upstream_not_configured', {
    detail: `No ranking worker is configured: set ${setting}.`,
    members: { settings: [setting] },
  });
}
