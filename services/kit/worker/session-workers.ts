import { type z } from 'zod';
import { listSetting, redisSetting } from '../../../plugins/core/settings';
import { ServiceError } from '../errors';
import { type ServiceTools } from '../service/define-service';
import { connectWorkers } from './connect-workers';
import { isUnreachable } from './grpc-status';
import { createMemorySessionRegistry, createRedisSessionRegistry, type SessionRegistry } from './session-registry';
import { type WorkerCallOptions, type WorkerClient, type WorkerMethods } from './worker-client';

interface SessionWorkersOptions<M extends WorkerMethods> {
  readonly client: WorkerClient<M>;
  readonly registry: SessionRegistry;
  /** Maximum lifetime of a session in milliseconds. */
  readonly lifetimeMs: number;
}

type CallOptions = Omit<WorkerCallOptions, 'address' | 'idempotent'>;

/**
 * Calls to workers that keep sessions. Calls after the start of a session go to the worker that started it. Fails as `WorkerClient` does.
 */
export interface SessionWorkers<M extends WorkerMethods> {
  /** @param idOf finds the new session's id in the response */
  start<N extends keyof M & string>(
    method: N,
    request: M[N]['request'],
    call: CallOptions & { readonly idOf: (response: M[N]['response']) => string },
  ): Promise<M[N]['response']>;
  /** @throws ServiceError 400 `session_expired` when no worker owns the session, or its owner is gone */
  next<N extends keyof M & string>(
    method: N,
    request: M[N]['request'],
    call: CallOptions & { readonly sessionId: string },
  ): Promise<M[N]['response']>;
  /** @throws ServiceError `service_not_ready` when no configured worker is serving */
  checkReady(): Promise<void>;
  /** False if no worker is configured: every call is then refused. */
  readonly hasWorkers: boolean;
  close(): void;
}

/** The failure for a session that is unknown, expired, somebody else's, or lost with its worker. */
function sessionExpired(cause?: unknown): ServiceError {
  return new ServiceError('invalid_request', {
    code: 'session_expired',
    detail: 'There is no such session, or it has ended. Start again.',
    cause,
  });
}

function isGone(error: unknown): boolean {
  return error instanceof ServiceError && isUnreachable(error.options.cause);
}

/** Undefined when any worker may respond: a single worker must be the owner, and every worker refuses a session that has no owner. */
async function ownerOf<M extends WorkerMethods>(sessionId: string, options: SessionWorkersOptions<M>): Promise<string | undefined> {
  const { client, registry } = options;
  if (client.addresses.length < 2) return undefined;
  let owner: string | undefined;
  try {
    owner = await registry.find(sessionId);
  } catch (cause) {
    throw new ServiceError('service_not_ready', { detail: 'The session could not be looked up. Try again shortly.', cause });
  }
  return owner !== undefined && client.addresses.includes(owner) ? owner : undefined;
}

/** Starts go to all workers in turn. A worker that cannot be reached is passed over. */
function createSessionWorkers<M extends WorkerMethods>(options: SessionWorkersOptions<M>): SessionWorkers<M> {
  const { client, registry, lifetimeMs } = options;
  return {
    start: async (method, request, { idOf, ...call }) => {
      let failure: unknown;
      for (const address of await client.inTurn()) {
        try {
          const response = await client.unary(method, request, { ...call, address });
          await registry.remember(idOf(response), address, lifetimeMs);
          return response;
        } catch (error) {
          if (!isGone(error)) throw error;
          failure = error;
        }
      }
      throw failure;
    },
    next: async (method, request, { sessionId, ...call }) => {
      const address = await ownerOf(sessionId, options);
      try {
        return await client.unary(method, request, address === undefined ? call : { ...call, address });
      } catch (error) {
        throw isGone(error) ? sessionExpired(error) : error;
      }
    },
    hasWorkers: client.addresses.length > 0,
    checkReady: () => (client.addresses.length === 0 ? Promise.resolve() : client.checkHealth()),
    close: () => {
      client.close();
      registry.close();
    },
  };
}

/** The settings of a service whose workers keep sessions. */
export const sessionWorkersFields = {
  /** `host:port` of the identity workers, separated by commas, the same list for every replica. */
  IDENTITY_WORKER_URL: listSetting().optional(),
  /** Lets every replica find the worker of a session. Needed with several workers and several replicas. */
  REDIS_URL: redisSetting().optional(),
};

type SessionWorkersSettings = z.output<z.ZodObject<typeof sessionWorkersFields>>;

/**
 * Creates clients and registry from settings.
 * @param lifetimeMs maximum lifetime of a session
 */
export function connectSessionWorkers<M extends WorkerMethods>(
  { settings, common, clock, log, metrics }: ServiceTools<SessionWorkersSettings>,
  lifetimeMs: number,
): SessionWorkers<M> {
  const { IDENTITY_WORKER_URL: addresses = [], REDIS_URL: redisUrl } = settings;
  const client = connectWorkers<M>('identity', addresses, { metrics, tls: common.workerTls });
  const isShared = redisUrl !== undefined && addresses.length > 0;
  const registry = isShared ? createRedisSessionRegistry(redisUrl, { clock, log }) : createMemorySessionRegistry(clock);
  return createSessionWorkers({ client, registry, lifetimeMs });
}
