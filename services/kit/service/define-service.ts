import { type WebSocket } from 'ws';
import { z } from 'zod';
import { type CatalogueProduct, type PublishedMethod } from '../../../plugins/core/catalogue/catalogue';
import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { type Clock, type KeyMode } from '../../../plugins/core/ports';
import { type Log } from '../log';
import { type Metrics } from '../metrics';
import { type Reply } from './reply';
import { type RouteDescription } from './route-description';
import { type BodyMode, type IncomingUpload, type UploadedFile } from '../input/body-mode';
import { type MutualTls } from '../mutual-tls';
import { type WorkerKind } from '../worker-kind';

/** What a handler knows of one call besides its input. */
export interface CallContext {
  readonly requestId: string;
  /** The verified proof: customer, subscription, product that admitted, mode, caller's address. */
  readonly proof: RequestContext;
  /** The service's first product and what the catalogue publishes of it; no routes once the catalogue has it no longer. */
  readonly published: Pick<CatalogueProduct, 'id' | 'routes'>;
  /** `test` calls go to the sandbox upstreams. */
  readonly mode: KeyMode;
  readonly method: string;
  readonly path: string;
  /** Fires at the route's deadline and when the client leaves. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
  /** Says how many units the work cost, of a route with `units`. Without it, it costs all that were reserved. */
  charge(units: number): void;
  /** A request header by lower-case name; credentials and the proof are never shown. */
  header(name: string): string | undefined;
  /** Uploaded files by field name; empty unless the route's body mode is `files`. */
  readonly files: ReadonlyMap<string, UploadedFile>;
  /** Undefined unless the route's body mode is `upload` and a file came. */
  readonly upload: IncomingUpload | undefined;
}

/** What a WebSocket handler knows of its call. */
export interface SocketContext {
  readonly requestId: string;
  readonly proof: RequestContext;
  readonly mode: KeyMode;
  readonly log: Log;
  readonly clock: Clock;
  /** Fires when the socket closes. */
  readonly signal: AbortSignal;
}

/** Owns the socket until it closes; a throw closes it with 1011. */
export type WebSocketHandler<Deps> = (socket: WebSocket, context: SocketContext, deps: Deps) => Awaitable<void>;

type Awaitable<T> = T | Promise<T>;

interface RouteSettings extends RouteDescription {
  /** `ANY` takes every method. Others answer 405 with `Allow` to what they do not take; HEAD is allowed where GET is. */
  readonly method: PublishedMethod;
  /** Full path below the base URL, as in the catalogue. */
  readonly path: `/${string}`;
  /** `{kind: 'fields'}` unless given. */
  readonly body?: BodyMode;
  /** Bytes; 1 MiB unless given. A larger body is a 413. */
  readonly bodyLimitBytes?: number;
  /** 400 `invalid_request` (the default) or 422 `validation_failed` when the input does not satisfy the schema. */
  readonly validationStatus?: 400 | 422;
  /** Milliseconds from readable input to the handler's result, then 504; 30 s unless given. */
  readonly deadlineMs?: number;
  /** Answers live keys though no live source of the product is set: all of them, or only those that a few words name. */
  readonly withoutSource?: true | string;
  /** Takes answers of other routes that the caller kept, so it needs no source, and is of no use without them. */
  readonly takesKeptAnswers?: boolean;
  /** Answers at once (an index, a health check), so it takes none of the subscription's slots. */
  readonly isLight?: boolean;
  /** True where a link may stand in for a key; the handler must heed `context.proof.link`. All other routes refuse links. */
  readonly takesLinks?: boolean;
  /** Fields that are refused in the URL, because URLs end up in logs (an identity number). */
  readonly bodyOnlyFields?: readonly string[];
}

/** A route with its dependencies still to come. Made by {@link defineRoute}. */
export interface Route<Deps = unknown> extends RouteSettings {
  readonly input?: z.ZodType;
  readonly output?: z.ZodType;
  handler(input: unknown, context: CallContext, deps: Deps): unknown;
  /** Answers an upgrade of this path to a WebSocket; the proof is checked first. */
  webSocket?(...call: Parameters<WebSocketHandler<Deps>>): Awaitable<void>;
}

interface RouteSpec<Input extends z.ZodType, Output extends z.ZodType, Deps> extends RouteSettings {
  /** Without asynchronous checks: those belong to the handler. Unknown fields are ignored, near misses of known ones refused; text and numbers stand for each other where the schema says which. */
  readonly input?: Input;
  /** The plain data of a 200, for the documentation and the compiler; not checked at run time. */
  readonly output?: Output;
  /**
   * Returns plain data (JSON, 200) or a `Reply`; fails by throwing a `ServiceError`. Anything else thrown is a 500, or a 502/504 when
   * it went through `upstreamFailure`.
   */
  handler(input: z.output<Input>, context: CallContext, deps: Deps): Awaitable<z.input<Output> | Reply>;
  webSocket?(...call: Parameters<WebSocketHandler<Deps>>): Awaitable<void>;
}

/** Types one route: the handler's input follows from `input`, its dependencies from the annotation of `deps`. */
export function defineRoute<Input extends z.ZodType = z.ZodUndefined, Output extends z.ZodType = z.ZodUnknown, Deps = unknown>(
  spec: RouteSpec<Input, Output, Deps>,
): Route<Deps> {
  return spec;
}

/** Settings that every service shares. */
export interface CommonSettings {
  /** Base URL of the sandbox, or undefined: then test keys get 503 `upstream_not_configured`. */
  readonly sandboxUrl: string | undefined;
  /** What connections to workers are secured with; plain when absent. */
  readonly workerTls?: MutualTls | undefined;
}

/** What a service may build its dependencies from. */
export interface ServiceTools<Settings> {
  readonly settings: Settings;
  readonly common: CommonSettings;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** What others must know of a service without loading its code. */
export interface ServiceFacts {
  /** Folder and process name, for example `ip`. */
  readonly name: string;
  /** A proof for any of these is accepted. The first one is what it answers. */
  readonly products: readonly [string, ...string[]];
  /** Workers that do its work: without them it serves nothing. */
  readonly workers?: readonly WorkerKind[];
}

/** A file of data, and when its data is from: null where it does not say. */
export interface DataAge {
  readonly name: string;
  readonly asOf: Date | null;
}

export interface ServiceDefinition<Deps = unknown, Settings = unknown> extends ServiceFacts {
  readonly routes: readonly Route<Deps>[];
  /** Reads the service's own environment variables; all problems of all services are reported together at start. */
  readonly settings: z.ZodType<Settings>;
  /** Builds clients and caches once, at start. */
  createDeps(tools: ServiceTools<Settings>): Awaitable<Deps>;
  /** Asked by `/ready`; throws (with a text fit for an operator) when the service cannot answer calls. */
  checkReady?(deps: Deps): Awaitable<void>;
  /** False when what does the service's work was not named: then every call is refused. Absent: it works by itself. */
  hasWorkers?(deps: Deps): boolean;
  /** The data on disk that it answers from, with its age. */
  dataOf?(deps: Deps): Promise<readonly DataAge[]>;
  close?(deps: Deps): Awaitable<void>;
}

type ServiceSpec<Deps, Settings> = Omit<ServiceDefinition<Deps, Settings>, 'settings' | 'createDeps'> &
  Partial<Pick<ServiceDefinition<Deps, Settings>, 'settings'>>;

/**
 * A service as data. A service whose handlers need nothing leaves `settings` and `createDeps` out.
 * @throws Error when two routes take the same method of a path
 */
export function defineService<Deps, Settings = Record<never, never>>(
  spec: ServiceSpec<Deps, Settings> & Pick<ServiceDefinition<Deps, Settings>, 'createDeps'>,
): ServiceDefinition<Deps, Settings>;
export function defineService(spec: ServiceSpec<undefined, unknown>): ServiceDefinition<undefined>;
export function defineService(spec: ServiceSpec<unknown, unknown> & Partial<Pick<ServiceDefinition, 'createDeps'>>): ServiceDefinition {
  const seen = new Map<string, Set<PublishedMethod>>();
  for (const { path, method } of spec.routes) {
    const methods = seen.get(path) ?? new Set();
    const isTwice = methods.has(method) || methods.has('ANY') || (method === 'ANY' && methods.size > 0);
    if (isTwice) throw new Error(`service ${spec.name} defines ${method} ${path} twice`);
    seen.set(path, methods.add(method));
  }
  return { settings: z.object({}), createDeps: () => undefined, ...spec };
}
