import { type RequestHeaders } from './credential-location';
import { hasHostRules, matchHost, originHostOf, type Whitelist } from './whitelist';

const REQUESTED_METHOD = 'access-control-request-method';

/** Names of headers and methods (RFC 9110, section 5.6.2), and lists of them. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const TOKENS = /^[!#$%&'*+.^_`|~0-9a-z-]+(?: ?, ?[!#$%&'*+.^_`|~0-9a-z-]+)*$/i;
/** Characters of a list of headers; a page asks for a dozen. */
const MAX_LIST = 1_000;

/** The methods of all routes together; a route answers 405 itself. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Seconds for which a browser need not ask again: Chromium keeps no answer longer than two hours. */
const MAX_AGE = '7200';

/** What a page may read of a response besides the body and what browsers show anyway. */
const EXPOSED = [
  'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Tollgate-Charged', 'X-Tollgate-Mode', 'X-Tollgate-Refund', 'X-Kong-Request-Id',
  'X-Upstream-Provider', 'WWW-Authenticate', 'Allow', 'Accept-Ranges', 'Content-Range', 'Content-Disposition', 'ETag', 'Link',
  'Deprecation', 'Sunset',
].join(', '); // prettier-ignore

/** An origin as browsers write it. Only such text is copied into a response header. */
const ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+$/i;

/**
 * True for the question that a browser asks before a page's request to another origin. It carries no key and asks for no data.
 * @param method of the request
 */
export function isPreflight(method: string, headers: RequestHeaders): boolean {
  const requested = headers[REQUESTED_METHOD];
  return method === 'OPTIONS' && typeof headers['origin'] === 'string' && typeof requested === 'string' && TOKEN.test(requested);
}

/**
 * The answer to every preflight. It is the same for all pages, because the key is not there yet. It only lets the browser send the request,
 * which is then checked. `*` allows no cookies, and a page can read an answer only with {@link crossOriginHeaders}.
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
 * What the response to a request with a known key says to browsers: pages of the origins that the key's domain rules name may read it, no
 * others may. Without domain rules there is nothing to say, and browsers show the answer to no page.
 */
export function crossOriginHeaders(whitelist: Whitelist, headers: RequestHeaders): Record<string, string> {
  if (!hasHostRules(whitelist)) return {};
  const origin = headers['origin'];
  if (typeof origin !== 'string' || !ORIGIN.test(origin) || matchHost(whitelist, originHostOf(origin, undefined)) === undefined) {
    return { Vary: 'Origin' };
  }
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED, Vary: 'Origin' };
}
