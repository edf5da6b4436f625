import { type Clock } from '../../../plugins/core/ports';
import { ServiceError } from '../errors';
import { isUnreachable } from './grpc-status';
import { type Log } from '../log';
import { type Metrics } from '../metrics';
import { createMemorySessionRegistry, createRedisSessionRegistry, type SessionRegistry } from './session-registry';
import {
  createWorkerClient,
  type WorkerCallOptions,
  type WorkerClient,
  type WorkerClientOptions,
  type WorkerMethods,
} from './worker-client';

interface SessionWorkersOptions<M extends WorkerMethods> {
  readonly client: WorkerClient<M>;
  readonly registry: SessionRegistry;
  /** No session lives longer; milliseconds. */
  readonly lifetimeMs: number;
}

type CallOptions = Omit<WorkerCallOptions, 'address' | 'idempotent'>;

/** Calls to workers that keep sessions: what follows a start goes to the worker that answered it. Fails as `WorkerClient` does. */
export interface SessionWorkers<M extends WorkerMethods> {
  /** @param idOf the new session's id in the answer */
  start<N extends keyof M & string>(
    method: N,
    request: M[N]['request'],
    call: CallOptions & { readonly idOf: (response: M[N]['response']) => string },
  ): Promise<M[N]['response']>;
  /** @throws ServiceError 400 `session_expired` when nobody owns the session or its owner is gone */
  next<N extends keyof M & string>(
    method: N,
    request: M[N]['request'],
    call: CallOptions & { readonly sessionId: string },
  ): Promise<M[N]['response']>;
  /** @throws ServiceError `service_not_ready` when no worker is serving */
  checkReady(): Promise<void>;
  close(): void;
}

/** The answer for a session that is unknown, over, somebody else's, or lost with its worker. */
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

/** Without a shared memory a single worker can only be the one that owns it. */
async function ownerOf<M extends WorkerMethods>(sessionId: string, { client, registry }: SessionWorkersOptions<M>): Promise<string> {
  const [only, ...others] = client.addresses;
  if (only !== undefined && others.length === 0) return only;
  let owner: string | undefined;
  try {
    owner = await registry.find(sessionId);
  } catch (cause) {
    throw new ServiceError('service_not_ready', { detail: 'The session could not be looked up. Try again shortly.', cause });
  }
  if (owner === undefined || !client.addresses.includes(owner)) throw sessionExpired();
  return owner;
}

/** Starts go round all workers in turn; one that cannot be reached is passed over. */
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
        return await client.unary(method, request, { ...call, address });
      } catch (error) {
        throw isGone(error) ? sessionExpired(error) : error;
      }
    },
    checkReady: () => client.checkHealth(),
    close: () => {
      client.close();
      registry.close();
    },
  };
}

export interface SessionWorkersSettings extends Pick<WorkerClientOptions, 'service' | 'name' | 'tls'> {
  /** `host:port` of every worker, in the same words for every replica; empty when none is configured. */
  readonly addresses: readonly string[];
  /** The environment variable that holds them; named in the 503. */
  readonly setting: string;
  /** Shared by the replicas; without it each replica knows its own sessions. */
  readonly redisUrl: string | undefined;
  readonly lifetimeMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Clients and registry from settings. Without workers every call is 503 `upstream_not_configured`, which is an answer: such a service is
 * ready, and does not take the others of its process along.
 */
export function connectSessionWorkers<M extends WorkerMethods>(settings: SessionWorkersSettings): SessionWorkers<M> {
  const { setting, redisUrl, lifetimeMs, clock, log, metrics, service, name, tls } = settings;
  const [first, ...others] = settings.addresses;
  if (first === undefined) {
    const refuse = (): Promise<never> => Promise.reject(noWorker(setting));
    return { start: refuse, next: refuse, checkReady: () => Promise.resolve(), close: () => undefined };
  }
  const client = createWorkerClient<M>({ service, name, addresses: [first, ...others], metrics, tls });
  const registry = redisUrl === undefined ? createMemorySessionRegistry(clock) : createRedisSessionRegistry(redisUrl, { clock, log });
  return createSessionWorkers({ client, registry, lifetimeMs });
}

function noWorker(setting: string): ServiceError {
  return new ServiceError('upstream_not_configured', {
    detail: `This product has no worker configured: the setting ${setting} is missing.`,
    members: { setting },
  });
}
