import { type Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { type KeyMode } from '../../../plugins/core/ports';
import { TRACE_HEADER } from '../../../plugins/core/proof/trace-context';
import { within } from '../deadline';
import { upstreamFailure } from '../errors';
import { joinHeaders } from '../join-headers';
import { type Metrics } from '../metrics';
import { readCapped, ResponseTooLarge } from './read-capped';
import { baseUrlFor, type UpstreamTarget } from './upstream-target';
import { watchExchange } from './watch-exchange';

/** Milliseconds for an exchange, its retry included. */
const DEFAULT_TIMEOUT_MS = 10_000;
/** Maximum bytes of a response body. */
const DEFAULT_MAX_BYTES = 5_242_880;
const RETRIED_STATUSES = new Set([502, 503, 504]);

export interface UpstreamClientOptions {
  /** Name for metrics; never a URL. */
  readonly name: string;
  readonly target: UpstreamTarget;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Sent with every request: `User-Agent`, an API key, … */
  readonly headers?: Readonly<Record<string, string>>;
  readonly metrics?: Metrics | undefined;
}

export interface UpstreamRequest {
  readonly mode: KeyMode;
  readonly method?: 'GET' | 'HEAD' | 'POST';
  /** Appended to the base URL. Encode what a caller gave with `encodeURIComponent`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** The handler's `context.signal`. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** If true, the request may be retried once. GET and HEAD are idempotent unless stated otherwise. */
  readonly idempotent?: boolean;
}

export interface UpstreamHead {
  readonly status: number;
  /** Lower-case names; repeats are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface UpstreamResponse extends UpstreamHead {
  readonly bytes: Buffer;
}

export interface UpstreamJson extends UpstreamResponse {
  readonly data: unknown;
}

function pathWith(basePath: string, request: UpstreamRequest): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return `${basePath.replace(/\/+$/, '')}${request.path}${text === '' ? '' : `?${text}`}`;
}

interface Attempt {
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
}

/**
 * An upstream that a platform engineer configured (it may be on loopback), over its own connection pool. Close it with the service. Every
 * HTTP status is a value; only a broken exchange throws.
 */
export class UpstreamClient {
  private readonly dispatcher = new Agent({ connect: { timeout: DEFAULT_TIMEOUT_MS } });
  private readonly maxBytes: number;

  constructor(private readonly options: UpstreamClientOptions) {
    this.maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  }

  /** @throws ServiceError `upstream_timeout`, `upstream_failed` (no exchange, or too large) or `upstream_not_configured` */
  request(request: UpstreamRequest): Promise<UpstreamResponse> {
    return this.exchange(request, (call) => this.attemptTwice(request, call));
  }

  /** Like {@link request}. A body that is not JSON is `upstream_failed` with `reason: "bad_response"`. */
  async requestJson(request: UpstreamRequest): Promise<UpstreamJson> {
    const response = await this.request(request);
    try {
      return { ...response, data: JSON.parse(response.bytes.toString('utf8')) as unknown };
    } catch (error) {
      throw upstreamFailure(error, { members: { reason: 'bad_response' } });
    }
  }

  /**
   * Resolves with the headers, and with the body as a stream without a size limit. `timeoutMs` bounds the wait for the headers and each gap
   * in the body.
   */
  async stream(request: UpstreamRequest): Promise<UpstreamHead & { readonly body: Readable }> {
    // The deadline ends with the headers. The caller's signal goes on, and destroys the body when the client leaves.
    const response = await this.exchange(request, (call) => this.send(request, call, this.timeoutOf(request)));
    const { body } = response;
    body.on('error', () => undefined);
    const stop = (): void => void body.destroy();
    request.signal.addEventListener('abort', stop, { once: true });
    body.once('close', () => request.signal.removeEventListener('abort', stop));
    return { status: response.statusCode, headers: joinHeaders(response.headers), body };
  }

  close(): Promise<void> {
    return this.dispatcher.close();
  }

  private timeoutOf(request: UpstreamRequest): number {
    return request.timeoutMs ?? this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /** Makes one attempt, as far as the headers. */
  private send(request: UpstreamRequest, { signal, traceparent }: Attempt, bodyTimeout: number): Promise<Dispatcher.ResponseData> {
    const base = new URL(baseUrlFor(this.options.target, request.mode));
    const json = request.json === undefined ? undefined : JSON.stringify(request.json);
    return this.dispatcher.request({
      origin: base.origin,
      path: pathWith(base.pathname, request),
      method: request.method ?? 'GET',
      headers: {
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(traceparent !== undefined && { [TRACE_HEADER]: traceparent }),
        ...this.options.headers,
        ...request.headers,
      },
      body: json ?? null,
      signal,
      headersTimeout: 0,
      bodyTimeout,
    });
  }

  private async attempt(request: UpstreamRequest, call: Attempt): Promise<UpstreamResponse> {
    const response = await this.send(request, call, 0);
    const bytes = await readCapped(response.body, this.maxBytes);
    return { status: response.statusCode, headers: joinHeaders(response.headers), bytes };
  }

  private async attemptTwice(request: UpstreamRequest, call: Attempt): Promise<UpstreamResponse> {
    const retryable = request.idempotent ?? request.method !== 'POST';
    if (!retryable) return this.attempt(request, call);
    try {
      const response = await this.attempt(request, call);
      if (!RETRIED_STATUSES.has(response.status)) return response;
    } catch (error) {
      if (call.signal.aborted || error instanceof ResponseTooLarge) throw error;
    }
    return this.attempt(request, call);
  }

  /** Runs an exchange under one deadline, counts it, and turns its error into the service's. */
  private async exchange<T>(request: UpstreamRequest, work: (call: Attempt) => Promise<T>): Promise<T> {
    const { name, target, metrics } = this.options;
    // A missing setting is not a time-out, so it is refused before the clock starts.
    baseUrlFor(target, request.mode);
    const exchange = { upstream: name, metrics, signal: request.signal };
    const timeoutMs = this.timeoutOf(request);
    try {
      // undici notices a signal only once it is connected; the deadline must end the wait at once.
      return await watchExchange(exchange, (traceparent) => within(timeoutMs, (signal) => work({ signal, traceparent }), request.signal));
    } catch (error) {
      throw upstreamFailure(error);
    }
  }
}
