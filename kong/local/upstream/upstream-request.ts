import { KONG_VERSION } from '../http/answers';
import { type UpstreamAddress } from '../config/kong-yml';
import { upstreamPath, type RouteMatch } from '../config/router';
import { type HttpExchange } from '../http/http-exchange';
import { parseTokens } from '../http/header-list';
import { escapePath } from '../http/uri';

/** Headers that nginx or Kong writes itself, or never sends. The client's own are dropped. */
const NOT_PASSED = new Set([
  'te', 'via', 'host', 'upgrade', 'connection', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port',
  'x-forwarded-path', 'x-forwarded-prefix', 'x-real-ip', 'x-kong-request-id', 'content-length', 'transfer-encoding', 'keep-alive', 'expect',
  'proxy', 'proxy-connection', 'proxy-authorization', 'trailer',
]); // prettier-ignore

/**
 * The headers of the request for the service, flat `[name, value, …]`, in the order in which Kong's nginx sends them. `bodyLength` is
 * undefined when there is no body. Chunked bodies have been read by now, as in Kong, so every body has a length.
 */
export function upstreamHeaders(
  exchange: HttpExchange,
  { match, address, bodyLength }: { match: RouteMatch; address: UpstreamAddress; bodyLength: number | undefined },
): string[] {
  const { headers, upstream, hopByHop } = exchange;
  const out: string[] = parseTokens(headers.joined('te')).includes('trailers') ? ['TE', 'trailers'] : [];
  out.push('Via', viaOf(exchange), 'Host', upstream.host ?? hostFor(exchange, match, address));
  if (isWebSocket(exchange)) out.push('Upgrade', 'websocket', 'Connection', 'keep-alive, Upgrade');
  else out.push('Connection', 'keep-alive');
  out.push(...forwardedHeaders(exchange, match), 'X-Real-IP', exchange.caller.ip, 'X-Kong-Request-Id', exchange.id);
  if (bodyLength !== undefined) out.push('Content-Length', String(bodyLength));
  headers.forEach((lower, value, name) => {
    if (!NOT_PASSED.has(lower) && !hopByHop.has(lower)) out.push(name, value);
  });
  return out;
}

/** Kong writes the client's HTTP version as a Lua number, so 1.0 becomes `1`. */
function viaOf(exchange: HttpExchange): string {
  const own = `${exchange.httpVersion === 1 ? '1' : '1.1'} ${KONG_VERSION}`;
  const earlier = exchange.headers.joined('via');
  return earlier === undefined ? own : `${earlier}, ${own}`;
}

function hostFor(exchange: HttpExchange, match: RouteMatch, { host, port, tls }: UpstreamAddress): string {
  if (match.route.preserveHost) return exchange.headers.get('host') ?? exchange.host;
  return port === (tls ? 443 : 80) ? host : `${host}:${String(port)}`;
}

function forwardedHeaders(exchange: HttpExchange, match: RouteMatch): string[] {
  const { headers, peerIsTrusted } = exchange;
  const believed = (name: string): string | undefined => (peerIsTrusted ? headers.get(name) : undefined);
  const earlier = headers.joined('x-forwarded-for');
  const prefix = believed('x-forwarded-prefix') ?? (match.route.stripPath && match.prefix !== '/' ? match.prefix : undefined);
  const out = ['X-Forwarded-For', earlier === undefined ? exchange.caller.ip : `${earlier}, ${exchange.peer.ip}`];
  out.push('X-Forwarded-Proto', believed('x-forwarded-proto') ?? 'http', 'X-Forwarded-Host', believed('x-forwarded-host') ?? exchange.host);
  out.push('X-Forwarded-Port', believed('x-forwarded-port') ?? String(exchange.port));
  out.push('X-Forwarded-Path', believed('x-forwarded-path') ?? exchange.rawPath);
  return prefix === undefined ? out : [...out, 'X-Forwarded-Prefix', prefix];
}

/** A `?` with nothing after it is kept if the client sent one. */
export function upstreamTarget(exchange: HttpExchange, match: RouteMatch): string {
  const path = escapePath(upstreamPath(match, exchange.path));
  const query = exchange.upstream.query ?? exchange.rawQuery;
  return query !== '' || (exchange.hasQuery && exchange.rawQuery === '') ? `${path}?${query}` : path;
}

export function isWebSocket({ headers }: Pick<HttpExchange, 'headers'>): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket' && parseTokens(headers.joined('connection')).includes('upgrade');
}
