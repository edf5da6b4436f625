import { type RequestHeaders } from './credential-location';
import { hasHostRules, matchHost, originHostOf, type Whitelist } from './whitelist';

const REQUESTED_METHOD = 'access-control-request-method';

/** Names of headers and methods (RFC 9110, section 5.6.2), and lists of them. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const TOKENS = /^[!#$%&'*+.^_`|~0-9a-z-]+(?: ?, ?[!#$%&'*+.^_`|~0-9a-z-]+)*$/i;
/** Characters of a list of headers; a page asks for a dozen. */
const MAX_LIST = 1_000;

/** The methods of all routes together. A route itself refuses other methods with 405. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Seconds for which a browser need not repeat a preflight: Chromium keeps no response longer than two hours. */
const MAX_AGE = '7200';

/** Response headers that a page may read, besides those that browsers always show. */
const EXPOSED = [
  'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Tollgate-Charged', 'X-Tollgate-Mode', 'X-Tollgate-Refund', 'X-Kong-Request-Id',
  'X-Upstream-Provider', 'WWW-Authenticate', 'Allow', 'Accept-Ranges', 'Content-Range', 'Content-Disposition', 'ETag', 'Link',
  'Deprecation', 'Sunset',
].join(', '); // prettier-ignore

/** An origin as browsers write it. Only such text is copied into a response header. */
const ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+$/i;

/**
 * True for a preflight, which a browser sends before a page's request to another origin. It carries no key and asks for no data.
 * @param method of the request
 */
export function isPreflight(method: string, headers: RequestHeaders): boolean {
  const requested = headers[REQUESTED_METHOD];
  return method === 'OPTIONS' && typeof headers['origin'] === 'string' && typeof requested === 'string' && TOKEN.test(requested);
}

/**
 * The response to every preflight. It is the same for all pages, because the key is not known yet. It only lets the browser send the
 * request, which is then checked. `*` allows no cookies, and a page can read a response only with {@link crossOriginHeaders}.
 * @param requested the headers that the page wants to send
 */
export function preflightHeaders(requested: unknown): Record<string, string> {
  const isList = typeof requested === 'string' && requested.length <= MAX_LIST && TOKENS.test(requested);
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': METHODS,
    ...(isList && { 'Access-Control-Allow-Headers': requested }),
    'Access-Control-Max-Age': MAX_AGE,
    Vary: 'Access-Control-Request-Headers',
    'Cache-Control': 'no-store',
  };
}

/**
 * The CORS headers of a response to a request with a known key: only pages of the origins in the key's domain rules may read it. Without
 * domain rules there are no headers, and browsers show the response to no page.
 */
export function crossOriginHeaders(whitelist: Whitelist, headers: RequestHeaders): Record<string, string> {
  if (!hasHostRules(whitelist)) return {};
  const origin = headers['origin'];
  if (typeof origin !== 'string' || !ORIGIN.test(origin) || matchHost(whitelist, originHostOf(origin, undefined)) === undefined) {
    return { Vary: 'Origin' };
  }
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary: 'Origin' };
}
