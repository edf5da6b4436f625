import { type IncomingMessage } from 'node:http';
import { type HttpExchange } from './http-exchange';
import { type HeaderList } from './header-list';
import { isRefusedPath } from './uri';

/** nginx's large_client_header_buffers as Kong leaves them: four buffers of 8 KiB. */
const LINE_BYTES = 8192;
const TOTAL_BYTES = 4 * LINE_BYTES;
/** Kong's `max_headers`, new in 3.9.3. */
const MAX_HEADERS = 1000;

/** Headers that nginx accepts once and refuses when repeated (ngx_http_process_unique_header_line), each with a bit of its own. */
const UNIQUE_HEADERS: ReadonlyMap<string, number> = new Map(
  [
    'host', 'authorization', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'expect', 'content-range',
    'content-length', 'transfer-encoding',
  ].map((name, index) => [name, 1 << index]),
); // prettier-ignore

/**
 * Maximum that Node's parser accepts before it stops by itself. It is above nginx's total, so that nearly every oversized request is read
 * and gets nginx's own status.
 */
export const MAX_HEADER_BYTES = 48 * 1024;

/** The status with which nginx refuses a request that Node's parser let through, or undefined. 494: header too large. */
export function refusedStatus(exchange: HttpExchange): number | undefined {
  const { request } = exchange;
  const requestLine = exchange.method.length + (request.url?.length ?? 0) + ' HTTP/1.1\r\n'.length + 1;
  if (requestLine > LINE_BYTES) return 414;
  if (hasLargeHeaders(request, requestLine)) return 494;
  if (request.httpVersionMajor !== 1) return 505;
  if (!exchange.rawPath.startsWith('/') || isRefusedPath(exchange.rawPath)) return 400;
  if (repeatsUniqueHeader(exchange.headers) || isRefusedHost(exchange)) return 400;
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined && request.httpVersionMinor === 0) return 400;
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return 501;
  if (exchange.method === 'TRACE') return 405;
  return exchange.body.isDeclaredTooLarge ? 413 : undefined;
}

function repeatsUniqueHeader(headers: HeaderList): boolean {
  let seen = 0;
  let repeats = false;
  headers.forEach((lower) => {
    const bit = UNIQUE_HEADERS.get(lower);
    if (bit === undefined) return;
    repeats ||= (seen & bit) !== 0;
    seen |= bit;
  });
  return repeats;
}

function isRefusedHost({ headers, request }: HttpExchange): boolean {
  const host = headers.get('host');
  if (host === undefined) return request.httpVersionMinor === 1;
  return !/^(?:\[[0-9a-f:.]+\]|[^\s/\\?#:,]+)(?::\d*)?$/i.test(host);
}

function hasLargeHeaders(request: IncomingMessage, requestLine: number): boolean {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS) return true;
  let total = requestLine;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const line = (rawHeaders[i]?.length ?? 0) + (rawHeaders[i + 1]?.length ?? 0) + 4;
    if (line > LINE_BYTES) return true;
    total += line;
  }
  return total > TOTAL_BYTES;
}

/** The status for bytes that Node's parser refused. `packet` is the last chunk that it parsed. */
export function statusOfParserError(code: string | undefined, packet: Buffer | undefined): number {
  if (code !== 'HPE_HEADER_OVERFLOW') return 400;
  // There is no line end in all these bytes: the request line did not end.
  return packet !== undefined && /^[A-Z]+ \S+$/.test(packet.toString('latin1', 0, LINE_BYTES)) ? 414 : 494;
}
