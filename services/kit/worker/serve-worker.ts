import {
  Server,
  type ServiceDefinition as GrpcServiceDefinition,
  type UntypedHandleCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { HEALTH_SERVICE } from './load-proto';
import { type Log, withoutRedaction } from '../log';
import { type CallTools, type GrpcCall, OpenCall, type WorkerCall } from './worker-call';
import { createWorkerMetrics, type WorkerMetrics } from './worker-metrics';
import { DEFAULT_MAX_MESSAGE_BYTES, serverCredentials } from './worker-wire';
import { type MutualTls } from '../mutual-tls';

/**
 * A plain function for a method. Unary: `(request, call) → response`. Client streaming: `(requests: AsyncIterable, call) → response`. It
 * fails by throwing a `ServiceError`, which the service sends as its own.
 */
export type WorkerHandler = { handle(request: unknown, call: WorkerCall): unknown }['handle'];

export interface WorkerServerOptions {
  /** Name for log, metrics and traces, for example `identity`. */
  readonly name: string;
  /** From `loadService`. */
  readonly service: GrpcServiceDefinition;
  /** A handler for every method of the service. */
  readonly handlers: Readonly<Record<string, WorkerHandler>>;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly log: Log;
  readonly metrics?: WorkerMetrics | undefined;
  readonly tls?: MutualTls | undefined;
  readonly maxMessageBytes?: number;
}

export interface WorkerServer {
  readonly port: number;
  /** `host:port`, as clients dial it. */
  readonly address: string;
  /** Sets the status of grpc.health.v1, which is serving from the start. */
  setServing(serving: boolean): void;
  /**
   * Reports NOT_SERVING, and takes calls until every watcher has received that and left, so that no call sent before is refused. Then calls
   * may finish for at most `drainMs` (10 s unless given) before they are ended.
   */
  close(drainMs?: number): Promise<void>;
}

const DEFAULT_DRAIN_MS = 10_000;
/**
 * Our own clients leave as soon as they receive NOT_SERVING (WorkerAvailability). The server waits no longer than this for other watchers.
 */
const LEAVE_MS = 3_000;

/** Turns a synchronous throw of a handler into a rejection. */
function started(work: () => unknown): Promise<unknown> {
  return new Promise((resolve) => resolve(work()));
}

function bindHandler(method: string, streamsRequest: boolean, tools: HandlerTools): UntypedHandleCall {
  const serve: handleUnaryCall<unknown, unknown> & handleClientStreamingCall<unknown, unknown> = (incoming: GrpcCall, answer) => {
    const open = new OpenCall(incoming, method, tools);
    const request: unknown = streamsRequest ? incoming : Reflect.get(incoming, 'request');
    started(() => tools.handler(request, open.call)).then(
      (response) => {
        open.succeed();
        answer(null, response);
      },
      (error: unknown) => answer(open.fail(error)),
    );
  };
  return serve;
}

interface HandlerTools extends CallTools {
  readonly handler: WorkerHandler;
}

function bindAll(options: WorkerServerOptions): Record<string, UntypedHandleCall> {
  const { service, handlers, log, name } = options;
  const metrics = options.metrics ?? createWorkerMetrics(name);
  const tools: CallTools = { worker: name, log, accessLog: withoutRedaction(log), metrics };
  const bound: Record<string, UntypedHandleCall> = {};
  for (const [method, { requestStream, responseStream }] of Object.entries(service)) {
    const handler = handlers[method];
    if (!handler) throw new Error(`the worker has no handler for ${method}`);
    if (responseStream) throw new Error(`${method} returns a stream, which workers do not support`);
    bound[method] = bindHandler(method, requestStream, { ...tools, handler });
  }
  return bound;
}

/** grpc.health.v1 over one flag. Watchers receive every change. */
class Health {
  private serving = true;
  private readonly watchers = new Set<ServerWritableStream<unknown, unknown>>();
  private isLeaving = false;
  private noteAlone: () => void = () => undefined;

  readonly handlers: Readonly<Record<string, UntypedHandleCall>> = {
    Check: ((_call, answer) => answer(null, this.report())) satisfies handleUnaryCall<unknown, unknown>,
    Watch: ((stream) => {
      if (this.isLeaving) {
        stream.write(this.report());
        stream.end();
        return;
      }
      this.watchers.add(stream);
      stream.on('cancelled', () => {
        this.watchers.delete(stream);
        stream.end();
        if (this.watchers.size === 0) this.noteAlone();
      });
      stream.write(this.report());
    }) satisfies handleServerStreamingCall<unknown, unknown>,
  };

  /** Reports NOT_SERVING for good. Resolves when all watchers have left, after `limitMs` at the latest. */
  async leave(limitMs: number): Promise<void> {
    this.isLeaving = true;
    this.set(false);
    if (this.watchers.size === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, limitMs);
      this.noteAlone = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }

  set(serving: boolean): void {
    this.serving = serving;
    for (const stream of this.watchers) stream.write(this.report());
  }

  /** Ends the watches, which would keep a drain waiting. */
  end(): void {
    for (const stream of this.watchers) stream.end();
    this.watchers.clear();
  }

  private report(): { status: string } {
    return { status: this.serving ? 'SERVING' : 'NOT_SERVING' };
  }
}

/**
 * Serves plain functions over gRPC, with grpc.health.v1 beside them.
 * @throws Error when a method has no handler or the port cannot be taken
 */
export async function serveWorker(options: WorkerServerOptions): Promise<WorkerServer> {
  const { host, maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options;
  const server = new Server({ 'grpc.max_receive_message_length': maxMessageBytes, 'grpc.max_send_message_length': maxMessageBytes });
  const health = new Health();
  server.addService(options.service, bindAll(options));
  server.addService(HEALTH_SERVICE, health.handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${options.port}`, serverCredentials(options.tls), (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return {
    port,
    address: `${host}:${port}`,
    setServing: (serving) => health.set(serving),
    close: async (drainMs = DEFAULT_DRAIN_MS) => {
      await health.leave(LEAVE_MS);
      health.end();
      const force = setTimeout(() => server.forceShutdown(), drainMs);
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      clearTimeout(force);
    },
  };
}
