import { GuardedFetch, type GuardedFetchOptions, type GuardedRequest, type GuardedResponse } from '../upstream/guarded-fetch';
import { FetchRefused } from '../upstream/pinned-connector';
import { isTimeout } from '../errors';
import { type Metrics } from '../metrics';
import { UpstreamClient } from '../upstream/upstream-client';
import { watchExchange } from '../upstream/watch-exchange';
import { hostOf, parseUrl, refuseUrl } from './page-url';
import { USER_AGENT } from './robots';

type PageRequest = Pick<GuardedRequest, 'signal' | 'timeoutMs' | 'headers'>;

/**
 * One exchange with a web server that a caller named. Redirects are returned and not followed. Bodies come as sent: unpack them where the
 * cost does not fall on other callers.
 */
export interface PagePort {
  /** @throws FetchRefused, and nothing else */
  fetch(url: string, request: PageRequest): Promise<GuardedResponse>;
  close(): Promise<void>;
}

/** Maximum bytes of a page, both as sent and unpacked. */
export const MAX_PAGE_BYTES = 2_097_152;

export interface PagePortOptions {
  /** Milliseconds for one exchange. */
  readonly timeoutMs: number;
  /** Bytes of a body as sent; 2 MiB unless given. */
  readonly maxBytes?: number;
  readonly metrics?: Metrics | undefined;
}

/** The internet, through the guarded fetch. */
export function createLivePort({ metrics, ...options }: Pick<GuardedFetchOptions, 'resolve' | 'dial'> & PagePortOptions): PagePort {
  const guarded = new GuardedFetch({ maxBytes: MAX_PAGE_BYTES, ...options, userAgent: USER_AGENT });
  return {
    fetch: (url, request) => {
      const { signal = new AbortController().signal } = request;
      return watchExchange({ upstream: 'web_pages', metrics, signal }, () =>
        guarded.fetch(url, { ...request, maxRedirects: 0, leavePacked: true }),
      );
    },
    close: () => guarded.close(),
  };
}

/**
 * The sandbox's web. Every host lies below `/seo-web/<scheme>/<host>`, so a test key never causes a request to the network. It refuses the
 * same forms of URL as the live port.
 */
export function createSandboxPort(sandboxUrl: string, options: PagePortOptions): PagePort {
  const { timeoutMs, maxBytes = MAX_PAGE_BYTES, metrics } = options;
  const target = { liveUrl: undefined, liveSetting: 'SANDBOX_URL', sandboxUrl: `${sandboxUrl}/seo-web` };
  const headers = { 'user-agent': USER_AGENT };
  const client = new UpstreamClient({ name: 'seo_web', target, timeoutMs, maxBytes, headers, metrics });
  const inSandbox = (text: string): { path: string; href: string } => {
    const url = parseUrl(text);
    const refusal = url ? refuseUrl(url) : 'url_invalid';
    if (!url || refusal) throw new FetchRefused(refusal ?? 'url_invalid');
    return { path: `/${url.protocol.slice(0, -1)}/${encodeURIComponent(hostOf(url))}${url.pathname}${url.search}`, href: url.href };
  };
  return {
    fetch: async (text, { signal = new AbortController().signal, timeoutMs: limitMs, headers = {} }) => {
      const { path, href } = inSandbox(text);
      try {
        const bound = limitMs === undefined ? {} : { timeoutMs: limitMs };
        const answer = await client.request({ mode: 'test', path, headers, signal, idempotent: false, ...bound });
        return { url: href, ...answer, redirects: [] };
      } catch (error) {
        throw new FetchRefused(isTimeout(error) ? 'timeout' : 'unreachable', error);
      }
    },
    close: () => client.close(),
  };
}
