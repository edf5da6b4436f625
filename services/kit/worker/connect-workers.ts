import { z } from 'zod';
import { listSetting } from '../../../plugins/core/settings';
import { notConfigured } from '../errors';
import { type Metrics } from '../metrics';
import { type ServiceDefinition, type ServiceTools } from '../service/define-service';
import { loadWorkerService, workerSetting } from './load-proto';
import { type WorkerKind } from '../worker-kind';
import { GrpcWorkerClient, type WorkerClient, type WorkerMethods } from './worker-client';
import { type MutualTls } from '../mutual-tls';

export interface WorkerConnection {
  readonly metrics: Metrics;
  readonly tls: MutualTls | undefined;
  /** 16 MiB unless given. */
  readonly maxMessageBytes?: number;
}

/** A client that refuses every call with 503 `upstream_not_configured`. */
function refusingClient<M extends WorkerMethods>(kind: WorkerKind): WorkerClient<M> {
  const refuse = (): Promise<never> => Promise.reject(notConfigured([workerSetting(kind)], 'any'));
  return { addresses: [], unary: refuse, upload: refuse, checkHealth: refuse, inTurn: refuse, close: () => undefined };
}

/**
 * A client of all workers of one kind. Without addresses, the client refuses every call. Such a service still counts as ready and does not
 * take the other services of its process down.
 * @param addresses `host:port` of each, spelled the same for every replica
 */
export function connectWorkers<M extends WorkerMethods>(
  kind: WorkerKind,
  addresses: readonly string[] | undefined,
  connection: WorkerConnection,
): WorkerClient<M> {
  const [first, ...others] = addresses ?? [];
  if (first === undefined) return refusingClient(kind);
  return new GrpcWorkerClient<M>({
    service: loadWorkerService(kind),
    addresses: [first, ...others],
    name: `${kind}-worker`,
    ...connection,
  });
}

/** Dependencies of the handlers of a service that is backed by workers. */
export interface WorkerDeps<M extends WorkerMethods> {
  readonly worker: WorkerClient<M>;
}

type WorkerSettings = Readonly<Record<string, string[] | undefined>>;

/** The part of a definition that every service backed by workers shares. */
export function backedByWorkers<M extends WorkerMethods>(
  kind: WorkerKind,
  limits: Pick<WorkerConnection, 'maxMessageBytes'> = {},
): Required<Pick<ServiceDefinition<WorkerDeps<M>, WorkerSettings>, 'settings' | 'createDeps' | 'checkReady' | 'hasWorkers' | 'close'>> {
  const setting = workerSetting(kind);
  return {
    settings: z.object({ [setting]: listSetting().optional() }),
    createDeps: ({ settings, common, metrics }: ServiceTools<WorkerSettings>) => ({
      worker: connectWorkers<M>(kind, settings[setting], { metrics, tls: common.workerTls, ...limits }),
    }),
    checkReady: ({ worker }) => (worker.addresses.length === 0 ? undefined : worker.checkHealth()),
    hasWorkers: ({ worker }) => worker.addresses.length > 0,
    close: ({ worker }) => worker.close(),
  };
}
