import { once } from 'node:events';
import { Client, type CallOptions, type Metadata, type ServiceDefinition as GrpcServiceDefinition } from '@grpc/grpc-js';
import { DEFAULT_DEADLINE_MS } from '../deadline';
import { type CallContext } from '../service/define-service';
import { ServiceError } from '../errors';
import { isUnreachable, workerFailure } from './grpc-status';
import { HEALTH_SERVICE } from './load-proto';
import { type Metrics, type UpstreamOutcome } from '../metrics';
import { watchExchange } from '../upstream/watch-exchange';
import { WorkerAvailability } from './worker-availability';
import { clientCredentials, DEFAULT_MAX_MESSAGE_BYTES, metadataOf } from './worker-wire';
import { type MutualTls } from '../mutual-tls';

/** Messages of a worker's methods, by method name; take them from the generated proto types. */
export type WorkerMethods = Record<string, { request: object; response: object }>;

export interface WorkerClientOptions {
  /** From `loadService`. */
  readonly service: GrpcServiceDefinition;
  /** `host:port` of every worker. Calls go to them in turn, skipping those that do not serve. */
  readonly addresses: readonly [string, ...string[]];
  /** Name for metrics. */
  readonly name: string;
  readonly tls?: MutualTls | undefined;
  readonly metrics?: Metrics | undefined;
  readonly maxMessageBytes?: number;
}

export interface WorkerCallOptions {
  /** The handler's context. Its identity is sent to the worker; its signal cancels the call. */
  readonly context: Pick<CallContext, 'requestId' | 'proof' | 'signal'>;
  /** Milliseconds, also sent to the worker; 30 s unless given. */
  readonly deadlineMs?: number;
  /** The only worker for this call, because it owns the session. */
  readonly address?: string;
  /** If true, another worker is tried once when the first cannot be reached. */
  readonly idempotent?: boolean;
}

type Request<M extends WorkerMethods, N extends keyof M> = M[N]['request'];
type Response<M extends WorkerMethods, N extends keyof M> = M[N]['response'];

/** Calls to one kind of worker. All throw {@link ServiceError}: the worker's own, 504 on time-out, 502 when it cannot be reached. */
export interface WorkerClient<M extends WorkerMethods> {
  unary<N extends keyof M & string>(method: N, request: Request<M, N>, options: WorkerCallOptions): Promise<Response<M, N>>;
  /** Client streaming, with backpressure: the next message is read when the last was taken. */
  upload<N extends keyof M & string>(
    method: N,
    requests: AsyncIterable<Request<M, N>>,
    options: WorkerCallOptions,
  ): Promise<Response<M, N>>;
  /** @throws ServiceError `service_not_ready` when no worker reports SERVING in time */
  checkHealth(timeoutMs?: number): Promise<void>;
  readonly addresses: readonly string[];
  /** All addresses, beginning with the next in turn. Those that do not serve come last. */
  inTurn(): Promise<readonly string[]>;
  close(): void;
}

const DEFAULT_HEALTH_TIMEOUT_MS = 1_000;
/** gRPC's own delays go up to two minutes, during which a restarted worker would be refused. */
const FIRST_RECONNECT_MS = 100;
const SLOWEST_RECONNECT_MS = 500;

interface Cancellable {
  cancel(): void;
}

/**
 * Cancels the call when the signal fires.
 * @returns a function to call when the call is over
 */
function cancelOn(signal: AbortSignal, call: Cancellable): () => void {
  const cancel = (): void => call.cancel();
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  return () => signal.removeEventListener('abort', cancel);
}

/** The error of a failed call. For a call that we cancelled ourselves it is the reason of the signal. */
function failureOf(error: unknown, signal: AbortSignal): Error {
  const reason: unknown = signal.aborted ? signal.reason : undefined;
  return reason instanceof Error ? reason : workerFailure(error);
}

/** Counts a refusal by a worker as `ok`, because the worker responded. */
function countOf(failure: unknown): UpstreamOutcome {
  if (!(failure instanceof ServiceError)) return 'cancelled';
  if (failure.status < 500) return 'ok';
  return failure.problem === 'upstream_timeout' ? 'timeout' : 'failed';
}

/** A call to one worker, as part of its service's trace. */
interface AddressedCall extends WorkerCallOptions {
  readonly address: string;
  readonly traceparent?: string | undefined;
}

/** One method of the service, ready to be called. */
interface Prepared {
  readonly path: string;
  readonly serialize: (message: object) => Buffer;
  readonly deserialize: (bytes: Buffer) => object;
  readonly metadata: Metadata;
  readonly callOptions: CallOptions;
  readonly client: Client;
}

type Answer = (error: Error | null, response?: object) => void;

function settleWith(resolve: (response: object) => void, reject: (error: Error) => void): Answer {
  return (error, response) => {
    if (error || !response) reject(error ?? new Error('a worker sent no response'));
    else resolve(response);
  };
}

/** One channel for each address. Nothing connects before the first call. */
export class GrpcWorkerClient<M extends WorkerMethods> implements WorkerClient<M> {
  private readonly clients: ReadonlyMap<string, Client>;
  /** Undefined with a single worker, because there is no other to use. */
  private readonly availability: WorkerAvailability | undefined;
  private turn = 0;

  constructor(private readonly options: WorkerClientOptions) {
    const { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options;
    const channel = {
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.initial_reconnect_backoff_ms': FIRST_RECONNECT_MS,
      'grpc.max_reconnect_backoff_ms': SLOWEST_RECONNECT_MS,
    };
    this.clients = new Map(options.addresses.map((address) => [address, new Client(address, clientCredentials(options.tls), channel)]));
    this.availability = this.clients.size > 1 ? new WorkerAvailability(this.clients) : undefined;
  }

  get addresses(): readonly string[] {
    return this.options.addresses;
  }

  unary<N extends keyof M & string>(method: N, request: Request<M, N>, call: WorkerCallOptions): Promise<Response<M, N>> {
    const { signal } = call.context;
    return this.measured(method, signal, async (traceparent) => {
      const [address, other] = await this.candidates(call);
      try {
        return await this.callOnce(method, request, { ...call, address, traceparent });
      } catch (error) {
        if (call.idempotent !== true || other === undefined || signal.aborted || !isUnreachable(error)) throw error;
        return await this.callOnce(method, request, { ...call, address: other, traceparent });
      }
    });
  }

  upload<N extends keyof M & string>(method: N, requests: AsyncIterable<Request<M, N>>, call: WorkerCallOptions): Promise<Response<M, N>> {
    return this.measured(method, call.context.signal, async (traceparent) => {
      const [address] = await this.candidates(call);
      return this.send(method, requests, { ...call, address, traceparent });
    });
  }

  async checkHealth(timeoutMs = DEFAULT_HEALTH_TIMEOUT_MS): Promise<void> {
    try {
      await Promise.any([...this.clients.values()].map((client) => checkServing(client, timeoutMs)));
    } catch (error) {
      throw new ServiceError('service_not_ready', { detail: 'No worker is ready.', cause: error });
    }
  }

  async inTurn(): Promise<readonly string[]> {
    const { addresses, availability } = this;
    if (!availability) return addresses;
    await availability.ready();
    await availability.someServing();
    const start = this.turn++;
    const inTurn = addresses.map((_, index) => addresses[(start + index) % addresses.length] ?? '');
    return [...inTurn.filter((each) => availability.isServing(each)), ...inTurn.filter((each) => !availability.isServing(each))];
  }

  close(): void {
    this.availability?.close();
    for (const client of this.clients.values()) client.close();
  }

  /** The session's owner alone, or all workers in turn. */
  private async candidates({ address }: WorkerCallOptions): Promise<readonly [string, ...string[]]> {
    if (address !== undefined) return [address];
    const [first = '', ...others] = await this.inTurn();
    return [first, ...others];
  }

  private clientAt(address: string): Client {
    const client = this.clients.get(address);
    if (!client) throw new ServiceError('upstream_failed', { cause: new Error('the session belongs to a worker that is not configured') });
    return client;
  }

  private prepare(method: string, call: AddressedCall): Prepared {
    const definition = this.options.service[method];
    if (!definition) throw new Error(`the worker ${this.options.name} has no method ${method}`);
    const { proof, requestId } = call.context;
    const { customerId, subscriptionId, mode } = proof;
    return {
      path: definition.path,
      serialize: definition.requestSerialize,
      deserialize: definition.responseDeserialize as (bytes: Buffer) => object,
      metadata: metadataOf({ requestId, customerId, subscriptionId, mode }, call.traceparent),
      callOptions: { deadline: Date.now() + (call.deadlineMs ?? DEFAULT_DEADLINE_MS) },
      client: this.clientAt(call.address),
    };
  }

  private async callOnce<N extends keyof M & string>(method: N, request: object, call: AddressedCall): Promise<Response<M, N>> {
    const { client, path, serialize, deserialize, metadata, callOptions } = this.prepare(method, call);
    let done = (): void => undefined;
    try {
      return await new Promise<object>((resolve, reject) => {
        const started = client.makeUnaryRequest(path, serialize, deserialize, request, metadata, callOptions, settleWith(resolve, reject));
        done = cancelOn(call.context.signal, started);
      });
    } finally {
      done();
    }
  }

  private async send<N extends keyof M & string>(method: N, requests: AsyncIterable<object>, call: AddressedCall): Promise<Response<M, N>> {
    const { client, path, serialize, deserialize, metadata, callOptions } = this.prepare(method, call);
    let answer: Answer = () => undefined;
    const answered = new Promise<object>((resolve, reject) => (answer = settleWith(resolve, reject)));
    const early = answered.then(
      () => 'answered' as const,
      () => 'answered' as const,
    );
    const stream = client.makeClientStreamRequest(path, serialize, deserialize, metadata, callOptions, answer);
    // The callback reports the same failure, with its status.
    stream.on('error', () => undefined);
    const done = cancelOn(call.context.signal, stream);
    try {
      for await (const request of requests) {
        // A worker may respond before it has everything, to refuse. The rest need not be sent then.
        if (!stream.write(request) && (await Promise.race([once(stream, 'drain'), early])) === 'answered') break;
      }
      stream.end();
      return await answered;
    } catch (error) {
      stream.cancel();
      throw error;
    } finally {
      done();
    }
  }

  /** Counts a call, and turns its error into the service's. */
  private measured<T>(operation: string, signal: AbortSignal, work: (traceparent: string | undefined) => Promise<T>): Promise<T> {
    const { metrics, name } = this.options;
    return watchExchange({ upstream: name, operation, metrics, signal, outcomeOf: countOf }, async (traceparent) => {
      try {
        return await work(traceparent);
      } catch (error) {
        throw failureOf(error, signal);
      }
    });
  }
}

async function checkServing(client: Client, timeoutMs: number): Promise<void> {
  const check = HEALTH_SERVICE.Check;
  if (!check) throw new Error('the health service has no Check');
  const deserialize = check.responseDeserialize as (bytes: Buffer) => object;
  const deadline = { deadline: Date.now() + timeoutMs };
  const response = await new Promise<object>((resolve, reject) => {
    client.makeUnaryRequest(check.path, check.requestSerialize, deserialize, { service: '' }, deadline, settleWith(resolve, reject));
  });
  if (Reflect.get(response, 'status') !== 'SERVING') throw new Error('a worker is not serving');
}
