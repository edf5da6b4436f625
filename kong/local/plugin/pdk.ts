import { decodeStruct, writeValue } from '../../../plugins/server/wire/struct-codec';
import { type Writer } from '../../../plugins/server/wire/wire-writer';
import { type HttpExchange } from '../http/http-exchange';
import { type Log, type LogLevel } from '../log';
import { type NginxVariables } from './nginx-variables';
import { headerEntries, headerValues, PdkError, readText, type ArgumentBytes } from './pdk-arguments';
import { writeHeaders, writeNumber, writeQuery, writeRoute, writeService, writeText } from './pdk-replies';
import { parseQueryArgs } from '../http/query-args';
import { escapePath } from '../http/uri';
import { decodeByteString, decodeExitArgs, decodeInt, decodeKeyValue, decodeListValue, decodeTarget } from './pdk-decoders';

/** What the calls need beside the request. */
export interface PdkContext {
  /** This node's id, the same for the life of the process. */
  nodeId: string;
  /** Seconds since 1970 of kong.yml. */
  createdAt: number;
  /** Of kong.conf. */
  variables: NginxVariables;
  log: Log;
}

/** Ends the request with this answer. `headers` is flat. */
export interface PdkExit {
  status: number;
  body: Buffer | undefined;
  headers: [string, string[]][];
}

export interface PdkCall {
  exchange: HttpExchange;
  args: ArgumentBytes;
  /** Takes the reply message; nothing written is an Empty. */
  reply: Writer;
  context: PdkContext;
}

type Handler = (call: PdkCall) => void;

/** nginx's limit of headers and arguments that a plugin may read. */
const MAX_READ = 1000;
const DEFAULT_READ = 100;

/** Methods that nginx knows by name: `set_method` takes no other. */
const METHODS = new Set('GET HEAD POST PUT DELETE OPTIONS PATCH TRACE MKCOL COPY MOVE PROPFIND PROPPATCH LOCK UNLOCK'.split(' '));

const LOG_LEVELS: Record<string, LogLevel> = {
  emerg: 'error', alert: 'error', crit: 'error', err: 'error', warn: 'warn', notice: 'info', info: 'info', debug: 'debug',
}; // prettier-ignore

const requestCalls: Record<string, Handler> = {
  get_headers: ({ exchange, args, reply }) => writeHeaders(reply, exchange.headers, readMaximum(args)),
  get_header: ({ exchange, args, reply }) => writeText(reply, exchange.headers.get(readText(args).toLowerCase())),
  get_query: ({ exchange, args, reply }) => writeQuery(reply, parseQueryArgs(exchange.rawQuery, readMaximum(args))),
  get_query_arg: ({ exchange, args, reply }) => {
    const name = readText(args);
    const value = parseQueryArgs(exchange.rawQuery, DEFAULT_READ).find((entry) => entry[0] === name)?.[1];
    // Kong cannot put the `true` of a bare flag into a String reply.
    if (value === true) throw new PdkError('a bare flag has no text');
    writeText(reply, value);
  },
  get_raw_query: ({ exchange, reply }) => writeText(reply, exchange.rawQuery),
  get_method: ({ exchange, reply }) => writeText(reply, exchange.method),
  get_path: ({ exchange, reply }) => writeText(reply, exchange.path),
  get_path_with_query: ({ exchange, reply }) => writeText(reply, exchange.rawPath + (exchange.hasQuery ? `?${exchange.rawQuery}` : '')),
  get_scheme: ({ reply }) => writeText(reply, 'http'),
  get_host: ({ exchange, reply }) => writeText(reply, exchange.host),
  get_port: ({ exchange, reply }) => writeNumber(reply, exchange.port),
  get_forwarded_scheme: ({ exchange, reply }) => writeText(reply, forwarded(exchange, 'x-forwarded-proto')?.toLowerCase() ?? 'http'),
  get_forwarded_host: ({ exchange, reply }) =>
    writeText(reply, forwarded(exchange, 'x-forwarded-host')?.replace(/:\d+$/, '').toLowerCase() ?? exchange.host),
  get_forwarded_port: ({ exchange, reply }) => writeNumber(reply, Number(forwarded(exchange, 'x-forwarded-port') ?? exchange.port) || 0),
  get_http_version: ({ exchange, reply }) => reply.double(1, exchange.httpVersion),
};

const clientCalls: Record<string, Handler> = {
  get_ip: ({ exchange, reply }) => writeText(reply, exchange.peer.ip),
  get_forwarded_ip: ({ exchange, reply }) => writeText(reply, exchange.caller.ip),
  get_port: ({ exchange, reply }) => writeNumber(reply, exchange.peer.port),
  get_forwarded_port: ({ exchange, reply }) => writeNumber(reply, exchange.caller.port),
  // No consumer entities are implemented, so no request has one.
  get_consumer: () => undefined,
};

const upstreamCalls: Record<string, Handler> = {
  set_header: ({ exchange, args }) => {
    const { key, value } = decodeKeyValue(args.bytes, args.start, args.end);
    setUpstreamHeader(exchange, key, headerValues(key, value));
  },
  add_header: ({ exchange, args }) => {
    const { key, value } = decodeKeyValue(args.bytes, args.start, args.end);
    exchange.keepForService(key.toLowerCase());
    for (const text of headerValues(key, value)) exchange.headers.append(key, text);
  },
  set_headers: ({ exchange, args }) => {
    for (const [name, values] of headerEntries(decodeStruct(args.bytes, args.start, args.end))) setUpstreamHeader(exchange, name, values);
  },
  clear_header: ({ exchange, args }) => exchange.headers.remove(readText(args).toLowerCase()),
  set_raw_query: ({ exchange, args }) => {
    const query = readText(args);
    if (/[^!-~]/.test(query)) throw new PdkError('a query must be encoded');
    exchange.upstream.query = query;
  },
  set_path: ({ exchange, args }) => {
    const path = readText(args);
    if (!path.startsWith('/')) throw new PdkError('a path starts with /');
    exchange.upstream.path = escapePath(path).replaceAll('?', '%3F');
  },
  set_scheme: ({ exchange, args }) => {
    const scheme = readText(args);
    if (scheme !== 'http' && scheme !== 'https') throw new PdkError('a scheme is http or https');
    exchange.upstream.scheme = scheme;
  },
  set_method: ({ exchange, args }) => {
    const method = readText(args);
    if (!METHODS.has(method)) throw new PdkError('unknown method');
    exchange.upstream.method = method;
  },
  // The client's body has been read by the time this runs: Kong reads it first, too.
  set_raw_body: ({ exchange, args }) => {
    exchange.upstream.body = decodeByteString(args.bytes, args.start, args.end);
  },
};

const responseCalls: Record<string, Handler> = {
  set_header: ({ exchange, args }) => {
    const { key, value } = decodeKeyValue(args.bytes, args.start, args.end);
    exchange.responseHeaders.set(key, headerValues(key, value));
  },
  add_header: ({ exchange, args }) => {
    const { key, value } = decodeKeyValue(args.bytes, args.start, args.end);
    for (const text of headerValues(key, value)) exchange.responseHeaders.append(key, text);
  },
  set_headers: ({ exchange, args }) => {
    for (const [name, values] of headerEntries(decodeStruct(args.bytes, args.start, args.end))) exchange.responseHeaders.set(name, values);
  },
  clear_header: ({ exchange, args }) => exchange.responseHeaders.remove(readText(args).toLowerCase()),
};

const otherCalls: Record<string, Handler> = {
  'kong.service.set_target': ({ exchange, args }) => {
    const target = decodeTarget(args.bytes, args.start, args.end);
    if (target.host === '' || target.port < 0 || target.port > 65_535) throw new PdkError('a target has a host and a port');
    exchange.upstream.target = target;
    // As a real Kong: Host without the port, whatever the route says of it.
    exchange.upstream.host = target.host;
  },
  'kong.router.get_service': ({ exchange, reply, context }) => {
    if (exchange.match !== undefined) writeService(reply, exchange.match.route.service, context.createdAt);
  },
  'kong.router.get_route': ({ exchange, reply, context }) => {
    if (exchange.match !== undefined) writeRoute(reply, exchange.match.route, context.createdAt);
  },
  'kong.node.get_id': ({ reply, context }) => writeText(reply, context.nodeId),
  'kong.nginx.get_var': ({ exchange, args, reply, context }) => writeText(reply, context.variables.read(exchange, readText(args))),
  'kong.ctx.shared.set': ({ exchange, args }) => {
    const { key, value } = decodeKeyValue(args.bytes, args.start, args.end);
    exchange.shared.set(key, value);
  },
  'kong.ctx.shared.get': ({ exchange, args, reply }) => writeValue(reply, exchange.shared.get(readText(args)) ?? null),
};

const HANDLERS = new Map<string, Handler>([
  ...prefixed('kong.request.', requestCalls),
  ...prefixed('kong.client.', clientCalls),
  ...prefixed('kong.service.request.', upstreamCalls),
  ...prefixed('kong.response.', responseCalls),
  ...Object.entries(otherCalls),
  ...Object.entries(LOG_LEVELS).map(([name, level]): [string, Handler] => [`kong.log.${name}`, (call) => logLine(level, call)]),
]);

function prefixed(prefix: string, calls: Record<string, Handler>): [string, Handler][] {
  return Object.entries(calls).map(([name, handler]) => [prefix + name, handler]);
}

/** Runs one call. Throws {@link PdkError} (or the codec's ProtocolError) where Kong would answer the client with 500. */
export function runPdkCall(method: string, call: PdkCall): void {
  const handler = HANDLERS.get(method);
  if (handler === undefined) throw new PdkError(`method "${method}" not found`);
  handler(call);
}

/** The arguments of `kong.response.exit`. */
export function readExit(args: ArgumentBytes): PdkExit {
  const exit = decodeExitArgs(args.bytes, args.start, args.end);
  // Kong takes 100 to 599; a 1xx cannot end an answer, so nginx would fail on it later.
  if (!Number.isInteger(exit.status) || exit.status < 200 || exit.status > 599) throw new PdkError('invalid status');
  return { status: exit.status, body: exit.body, headers: exit.headers === undefined ? [] : headerEntries(exit.headers) };
}

function readMaximum(args: ArgumentBytes): number {
  if (args.start === args.end) return DEFAULT_READ;
  const max = decodeInt(args.bytes, args.start, args.end);
  if (max < 1 || max > MAX_READ) throw new PdkError('the maximum must be 1 to 1000');
  return max;
}

function forwarded(exchange: HttpExchange, header: string): string | undefined {
  return exchange.peerIsTrusted ? exchange.headers.get(header) : undefined;
}

/** Host is nginx's to send: Kong keeps it beside the headers. */
function setUpstreamHeader(exchange: HttpExchange, name: string, values: string[]): void {
  const lower = name.toLowerCase();
  if (lower === 'host') exchange.upstream.host = values[0];
  exchange.keepForService(lower);
  exchange.headers.set(name, values);
}

function logLine(level: LogLevel, { args, context, exchange }: PdkCall): void {
  const parts = decodeListValue(args.bytes, args.start, args.end);
  const text = parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('');
  context.log(level, 'plugin log', { text, requestId: exchange.id });
}
