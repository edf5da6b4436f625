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
  /** The verified proof: customer, subscription, product that admitted the key, mode, caller's address. */
  readonly proof: RequestContext;
  /** The service's first product and what the catalogue publishes about it; no routes if the catalogue no longer has the product. */
  readonly published: Pick<CatalogueProduct, 'id' | 'routes'>;
  /** `test` calls go to the sandbox upstreams. */
  readonly mode: KeyMode;
  readonly method: string;
  readonly path: string;
  /** Fires at the route's deadline and when the client leaves. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock: Clock;
  /** Reports how many units the work cost, on a route with `units`. Without a call, all reserved units stay charged. */
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
type WebSocketHandler<Deps> = (socket: WebSocket, context: SocketContext, deps: Deps) => Awaitable<void>;

type Awaitable<T> = T | Promise<T>;

interface RouteSettings extends RouteDescription {
  /** `ANY` takes every method. Other routes refuse further methods with 405 and `Allow`; HEAD is allowed where GET is. */
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
  /** Serves live keys although the product has no live source: in all cases, or only in the cases that a few words name. */
  readonly withoutSource?: true | string;
  /** Takes responses of other routes that the caller kept. It needs no source, but is of no use without such responses. */
  readonly takesKeptAnswers?: boolean;
  /** Responds at once (an index, a health check), so it takes none of the subscription's slots. */
  readonly isLight?: boolean;
  /** True if a link may replace a key; the handler must then check `context.proof.link`. All other routes refuse links. */
  readonly takesLinks?: boolean;
  /** Fields that are refused in the URL, because URLs end up in logs (an identity number). */
  readonly bodyOnlyFields?: readonly string[];
}

/** A route that still needs its dependencies. Made by {@link defineRoute}. */
export interface Route<Deps = unknown> extends RouteSettings {
  readonly input?: z.ZodType;
  readonly output?: z.ZodType;
  handler(input: unknown, context: CallContext, deps: Deps): unknown;
  /** Handles an upgrade of this path to a WebSocket, after the proof was checked. */
  webSocket?(...call: Parameters<WebSocketHandler<Deps>>): Awaitable<void>;
}

interface RouteSpec<Input extends z.ZodType, Output extends z.ZodType, Deps> extends RouteSettings {
  /**
   * May not check asynchronously: that is the handler's work. Unknown fields are ignored, and near misses of known fields are refused. Text
   * and numbers are converted where the schema says which it wants.
   */
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
  /** Base URL of the sandbox. If undefined, test keys get 503 `upstream_not_configured`. */
  readonly sandboxUrl: string | undefined;
  /** TLS for connections to workers. Plain when absent. */
  readonly workerTls?: MutualTls | undefined;
}

/** The tools from which a service may build its dependencies. */
export interface ServiceTools<Settings> {
  readonly settings: Settings;
  readonly common: CommonSettings;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Facts about a service that can be read without loading its code. */
export interface ServiceFacts {
  /** Folder and process name, for example `ip`. */
  readonly name: string;
  /** A proof for any of these products is accepted. The first is the product that the service implements. */
  readonly products: readonly [string, ...string[]];
  /** Workers that do the service's work. Without them it serves nothing. */
  readonly workers?: readonly WorkerKind[];
}

/** A data file and the date of its data; null if the file has none. */
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
  /** Called by `/ready`. Throws when the service cannot handle calls, with a text for platform engineers. */
  checkReady?(deps: Deps): Awaitable<void>;
  /** False if none of its workers are configured: every call is then refused. Absent for a service without workers. */
  hasWorkers?(deps: Deps): boolean;
  /** The data on disk that the service uses, with its age. */
  dataOf?(deps: Deps): Promise<readonly DataAge[]>;
  close?(deps: Deps): Awaitable<void>;
}

type ServiceSpec<Deps, Settings> = Omit<ServiceDefinition<Deps, Settings>, 'settings' | 'createDeps'> &
  Partial<Pick<ServiceDefinition<Deps, Settings>, 'settings'>>;

/**
 * Defines a service as data. A service whose handlers need nothing omits `settings` and `createDeps`.
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
