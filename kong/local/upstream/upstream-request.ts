import { KONG_VERSION } from '../http/answers';
import { type TargetAddress } from './balancer';
import { type HttpExchange } from '../http/http-exchange';
import { parseTokens } from '../http/header-list';
import { upstreamPath, type RouteMatch } from '../router';
import { escapePath } from '../http/uri';

/** Headers that nginx or Kong sends in its own words, or not at all: the client's copies stop here. */
const NOT_PASSED = new Set([
  'te', 'via', 'host', 'upgrade', 'connection', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port',
  'x-forwarded-path', 'x-forwarded-prefix', 'x-real-ip', 'x-kong-request-id', 'content-length', 'transfer-encoding', 'keep-alive', 'expect',
  'proxy', 'proxy-connection', 'proxy-authorization',
]); // prettier-ignore

/**
 * The head of the request for the service, headers in the order in which Kong's nginx sends them. `bodyLength` is undefined when there
 * is no body. Chunked bodies have been read by now, as Kong does, so every body has a length.
 */
export function writeUpstreamHead(
  exchange: HttpExchange,
  { match, target, bodyLength }: { match: RouteMatch; target: TargetAddress; bodyLength: number | undefined },
): string {
  const { headers, upstream } = exchange;
  const upgrade = isWebSocket(exchange);
  let head = `${upstream.method ?? exchange.method} ${upstreamTarget(exchange, match)} HTTP/1.1\r\n`;
  if (parseTokens(headers.joined('te')).includes('trailers')) head += 'TE: trailers\r\n';
  head += `Via: ${viaOf(exchange)}\r\nHost: ${upstream.host ?? hostFor(exchange, match, target)}\r\n`;
  head += upgrade ? 'Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n' : 'Connection: keep-alive\r\n';
  head += forwardedHeaders(exchange, match);
  head += `X-Real-IP: ${exchange.caller.ip}\r\nX-Kong-Request-Id: ${exchange.id}\r\n`;
  if (bodyLength !== undefined) head += `Content-Length: ${String(bodyLength)}\r\n`;
  const { hopByHop } = exchange;
  headers.forEach((lower, value, name) => {
    if (!NOT_PASSED.has(lower) && !hopByHop.has(lower)) head += `${name}: ${value}\r\n`;
  });
  return `${head}\r\n`;
}

/** Kong writes the client's HTTP version as a Lua number, so 1.0 becomes `1`. */
function viaOf(exchange: HttpExchange): string {
  const own = `${exchange.httpVersion === 1 ? '1' : '1.1'} ${KONG_VERSION}`;
  const earlier = exchange.headers.joined('via');
  return earlier === undefined ? own : `${earlier}, ${own}`;
}

/** With several addresses the service hears the one that was chosen, as from Kong. */
function hostFor(exchange: HttpExchange, match: RouteMatch, { host, port, tls }: TargetAddress): string {
  if (match.route.preserveHost) return exchange.headers.get('host') ?? exchange.host;
  return port === (tls ? 443 : 80) ? host : `${host}:${String(port)}`;
}

function forwardedHeaders(exchange: HttpExchange, match: RouteMatch): string {
  const { headers, peerIsTrusted } = exchange;
  const believed = (name: string): string | undefined => (peerIsTrusted ? headers.get(name) : undefined);
  const earlier = headers.joined('x-forwarded-for');
  const prefix = believed('x-forwarded-prefix') ?? (match.route.stripPath && match.prefix !== '/' ? match.prefix : undefined);
  let lines = `X-Forwarded-For: ${earlier === undefined ? exchange.caller.ip : `${earlier}, ${exchange.peer.ip}`}\r\n`;
  lines += `X-Forwarded-Proto: ${believed('x-forwarded-proto') ?? 'http'}\r\n`;
  lines += `X-Forwarded-Host: ${believed('x-forwarded-host') ?? exchange.host}\r\n`;
  lines += `X-Forwarded-Port: ${believed('x-forwarded-port') ?? String(exchange.port)}\r\n`;
  lines += `X-Forwarded-Path: ${believed('x-forwarded-path') ?? exchange.rawPath}\r\n`;
  return prefix === undefined ? lines : `${lines}X-Forwarded-Prefix: ${prefix}\r\n`;
}

/** A `?` with nothing after it is kept when the client sent one. */
function upstreamTarget(exchange: HttpExchange, match: RouteMatch): string {
  const path = exchange.upstream.path ?? escapePath(upstreamPath(match, exchange.path));
  const query = exchange.upstream.query ?? exchange.rawQuery;
  return query !== '' || (exchange.hasQuery && exchange.rawQuery === '') ? `${path}?${query}` : path;
}

export function isWebSocket({ headers }: Pick<HttpExchange, 'headers'>): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket' && parseTokens(headers.joined('connection')).includes('upgrade');
}
