import { Agent, type Dispatcher } from 'undici';
import { within } from '../deadline';
import { isTimeout } from '../errors';
import { joinHeaders } from '../join-headers';
import { createPinnedConnector, type Dial, FetchRefused } from './pinned-connector';
import { readCapped, ResponseTooLarge } from './read-capped';
import { type Resolve } from './resolve-host';
import { BodyNotUnpacked, encodingOf, unpackWhole } from './unpack-body';

const MAX_REDIRECTS = 3;
const MAX_BYTES = 2_097_152;
const TIMEOUT_MS = 8_000;
const DEFAULT_USER_AGENT = 'TollgateBot/1.0';
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Ports of http and https. Any other port could be an internal service. */
const PORTS = new Set(['', '80', '443']);

export interface GuardedFetchOptions {
  readonly userAgent?: string;
  /** Milliseconds for the whole fetch, redirects included. */
  readonly timeoutMs?: number;
  /** Bytes of a body, both as sent and decompressed. */
  readonly maxBytes?: number;
  readonly maxRedirects?: number;
  /** True: private addresses and any port may be fetched. Set it only if the person who gives the URLs owns the network. Default false. */
  readonly allowPrivate?: boolean;
  /** Replaces name look-up and connection in tests. */
  readonly resolve?: Resolve;
  readonly dial?: Dial;
}

export interface GuardedRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** Media types that are read, for example `['text/html']`. Any other is `content_type_refused`. All are read when absent. */
  readonly contentTypes?: readonly string[];
  /** 0 returns a redirect as it is. */
  readonly maxRedirects?: number;
  readonly timeoutMs?: number;
  /** Leaves the body unread; `bytes` is empty then. */
  readonly ignoreBody?: boolean;
  /** Leaves the body as it was sent, for {@link unpackStart} or a thread. Its `content-encoding` is one that they can unpack. */
  readonly leavePacked?: boolean;
}

export interface GuardedResponse {
  /** URL of the last hop. */
  readonly url: string;
  readonly status: number;
  /** Lower-case names; repeats are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, decompressed unless `leavePacked` was set. */
  readonly bytes: Buffer;
  /** The earlier hops, in order. */
  readonly redirects: readonly { readonly url: string; readonly status: number }[];
}

interface BodyOptions {
  readonly maxBytes: number;
  readonly leavePacked: boolean;
}

interface UrlOptions {
  readonly base?: URL;
  readonly allowPrivate?: boolean | undefined;
}

/**
 * Parses a URL and checks that its form allows a fetch. The address is judged when connecting.
 * @throws FetchRefused `url_invalid`, `scheme_refused`, `userinfo_refused` or `port_refused`
 */
export function checkGuardedUrl(text: string, { base, allowPrivate = false }: UrlOptions = {}): URL {
  if (!URL.canParse(text, base?.href)) throw new FetchRefused('url_invalid');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new FetchRefused('scheme_refused');
  if (url.username !== '' || url.password !== '') throw new FetchRefused('userinfo_refused');
  if (!PORTS.has(url.port) && !allowPrivate) throw new FetchRefused('port_refused');
  return url;
}

async function readBody(
  response: Dispatcher.ResponseData,
  header: string | undefined,
  { maxBytes, leavePacked }: BodyOptions,
): Promise<Buffer> {
  if (!encodingOf(header)) throw new FetchRefused('encoding_refused');
  const packed = await readCapped(response.body, maxBytes);
  return leavePacked ? packed : unpackWhole(packed, header, maxBytes);
}

function checkContentType(headers: Record<string, string>, allowed: readonly string[] | undefined): void {
  if (!allowed) return;
  const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!allowed.includes(mediaType)) throw new FetchRefused('content_type_refused');
}

function refusalOf(error: unknown): FetchRefused {
  for (let each = error, depth = 0; each instanceof Error && depth < 4; each = each.cause, depth++)
    if (each instanceof FetchRefused) return each;
  if (error instanceof ResponseTooLarge) return new FetchRefused('too_large', error);
  if (error instanceof BodyNotUnpacked) return new FetchRefused(error.reason, error);
  return new FetchRefused(isTimeout(error) ? 'timeout' : 'unreachable', error);
}

interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly body: string | Buffer | null;
  /** Headers of the caller, sent only to the first origin: they may be meant for it alone. */
  readonly headers: Readonly<Record<string, string>>;
}

function nextHop(hop: Hop, url: URL, status: number): Hop {
  const toGet = status === 303 || (hop.method === 'POST' && (status === 301 || status === 302));
  return {
    url,
    method: toGet && hop.method !== 'HEAD' ? 'GET' : hop.method,
    body: toGet ? null : hop.body,
    headers: url.origin === hop.url.origin ? hop.headers : {},
  };
}

function sendHop(agent: Agent, hop: Hop, userAgent: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return agent.request({
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: { 'accept-encoding': 'gzip, br', ...hop.headers, 'user-agent': userAgent },
    body: hop.body,
    signal,
  });
}

/** Fetches URLs that callers give. It never connects to an address that is not public, and never reads more than the caps. */
export class GuardedFetch {
  private readonly agent: Agent;

  constructor(private readonly options: GuardedFetchOptions = {}) {
    const { resolve, dial, allowPrivate, timeoutMs = TIMEOUT_MS } = options;
    this.agent = new Agent({
      connect: createPinnedConnector({ resolve, dial, allowPrivate, connectTimeoutMs: timeoutMs }),
      // A kept connection stays with the address that was judged. It is kept briefly, because a name's addresses change.
      keepAliveTimeout: 1_000,
      maxHeaderSize: 32_768,
    });
  }

  /** @throws FetchRefused, and nothing else */
  async fetch(text: string, request: GuardedRequest = {}): Promise<GuardedResponse> {
    const limitMs = request.timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS;
    try {
      const { method = 'GET', headers = {}, body = null } = request;
      const first = { url: checkGuardedUrl(text, this.options), method, body, headers };
      // undici notices a signal only once it is connected, and a name server that hangs must not outlast the deadline.
      return await within(limitMs, (signal) => this.follow(first, request, signal), request.signal);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async follow(first: Hop, request: GuardedRequest, signal: AbortSignal): Promise<GuardedResponse> {
    const { options } = this;
    const maxRedirects = request.maxRedirects ?? options.maxRedirects ?? MAX_REDIRECTS;
    const redirects: { url: string; status: number }[] = [];
    for (let hop = first; ;) {
      const response = await sendHop(this.agent, hop, options.userAgent ?? DEFAULT_USER_AGENT, signal);
      // A reader of the body gets its errors. Without a reader they do not matter.
      response.body.on('error', () => undefined);
      const headers = joinHeaders(response.headers);
      const { statusCode: status } = response;
      const { location } = headers;
      if (location === undefined || !REDIRECTS.has(status) || maxRedirects === 0) {
        return { url: hop.url.href, status, headers, bytes: await this.finish(response, headers, request), redirects };
      }
      response.body.destroy();
      if (redirects.length >= maxRedirects) throw new FetchRefused('too_many_redirects');
      redirects.push({ url: hop.url.href, status });
      hop = nextHop(hop, checkGuardedUrl(location, { base: hop.url, allowPrivate: options.allowPrivate }), status);
    }
  }

  private async finish(response: Dispatcher.ResponseData, headers: Record<string, string>, request: GuardedRequest): Promise<Buffer> {
    try {
      if (request.ignoreBody) return Buffer.alloc(0);
      checkContentType(headers, request.contentTypes);
      const { leavePacked = false } = request;
      return await readBody(response, headers['content-encoding'], { maxBytes: this.options.maxBytes ?? MAX_BYTES, leavePacked });
    } finally {
      response.body.destroy();
    }
  }
}
