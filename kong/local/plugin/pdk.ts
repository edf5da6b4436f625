import { decodeString } from '../../../plugins/server/wire/pdk-messages';
import { decodeStruct, type ProtoStruct, type ProtoValue } from '../../../plugins/server/wire/struct-codec';
import { type Writer } from '../../../plugins/server/wire/wire-writer';
import { type PluginExit } from '../http/answers';
import { type HttpExchange } from '../http/http-exchange';
import { type NginxVariables } from '../http/nginx-variables';
import { type WriteLog } from '../log';
import { type HeaderList, isHeaderName, isHeaderValue } from '../http/header-list';
import { decodeAuthenticate, decodeByteString, decodeExitArgs, decodeInt, decodeTarget } from './pdk-decoders';

/** What the calls need besides the request. */
export interface PdkContext {
  /** nginx variables of kong.conf. */
  variables: NginxVariables;
  log: WriteLog;
}

export interface PdkCall {
  exchange: HttpExchange;
  args: ArgumentBytes;
  /** Receives the reply message. If nothing is written, the reply is an Empty. */
  reply: Writer;
  context: PdkContext;
}

type Handler = (call: PdkCall) => void;

/** nginx's limit on headers that a plugin may read. */
const MAX_READ = 1000;
const DEFAULT_READ = 100;

/** The calls that plugins/server makes, except those that end an event run or make it wait. Kong has more. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['kong.request.get_headers', ({ exchange, args, reply }) => writeHeaders(reply, exchange.headers, readMaximum(args))],
  ['kong.request.get_raw_query', ({ exchange, reply }) => writeText(reply, exchange.rawQuery)],
  ['kong.client.get_forwarded_ip', ({ exchange, reply }) => writeText(reply, exchange.caller.ip)],
  ['kong.client.authenticate', ({ exchange, args }) => (exchange.client = decodeAuthenticate(args.bytes, args.start, args.end))],
  ['kong.nginx.get_var', readVariable],
  ['kong.service.request.set_headers', setUpstreamHeaders],
  ['kong.service.request.clear_header', ({ exchange, args }) => exchange.headers.remove(readText(args).toLowerCase())],
  ['kong.service.request.set_raw_query', setRawQuery],
  // The client's body has been read by then, because Kong reads it first, too.
  [
    'kong.service.request.set_raw_body',
    ({ exchange, args }) => (exchange.upstream.body = decodeByteString(args.bytes, args.start, args.end)),
  ],
  ['kong.service.request.set_scheme', setScheme],
  ['kong.service.set_target', setTarget],
  ['kong.response.set_headers', setResponseHeaders],
]);

/** Runs one call. Throws {@link PdkError} (or the codec's ProtocolError) if Kong would send the client a 500. */
export function runPdkCall(method: string, call: PdkCall): void {
  const handler = HANDLERS.get(method);
  if (handler === undefined) throw new PdkError(`method "${method}" not found`);
  handler(call);
}

/** The arguments of `kong.response.exit`. */
export function readExit(args: ArgumentBytes): PluginExit {
  const exit = decodeExitArgs(args.bytes, args.start, args.end);
  // Kong accepts 100 to 599, but a 1xx cannot end a response, so nginx would fail on it later.
  if (!Number.isInteger(exit.status) || exit.status < 200 || exit.status > 599) throw new PdkError('invalid status');
  return { status: exit.status, body: exit.body, headers: exit.headers === undefined ? [] : headerEntries(exit.headers) };
}

function readMaximum(args: ArgumentBytes): number {
  if (args.start === args.end) return DEFAULT_READ;
  const max = decodeInt(args.bytes, args.start, args.end);
  if (max < 1 || max > MAX_READ) throw new PdkError('the maximum must be 1 to 1000');
  return max;
}

function readVariable({ exchange, args, reply, context }: PdkCall): void {
  const name = decodeString(args.bytes, args.start, args.end);
  const value = context.variables.read(exchange, name);
  // An empty reply would be mistaken for the variable's value.
  if (value === undefined) throw new PdkError(`the local gateway does not implement the nginx variable "${name}"`);
  writeText(reply, value);
}

/** nginx sends Host, so Kong keeps it apart from the headers. */
function setUpstreamHeaders({ exchange, args }: PdkCall): void {
  for (const [name, values] of headerEntries(decodeStruct(args.bytes, args.start, args.end))) {
    const lower = name.toLowerCase();
    if (lower === 'host') exchange.upstream.host = values[0];
    exchange.keepForService(lower);
    exchange.headers.set(name, values);
  }
}

function setRawQuery({ exchange, args }: PdkCall): void {
  const query = readText(args);
  if (/[^!-~]/.test(query)) throw new PdkError('a query must be encoded');
  exchange.upstream.query = query;
}

function setScheme({ exchange, args }: PdkCall): void {
  const scheme = readText(args);
  if (scheme !== 'http' && scheme !== 'https') throw new PdkError('a scheme is http or https');
  exchange.upstream.scheme = scheme;
}

function setTarget({ exchange, args }: PdkCall): void {
  const target = decodeTarget(args.bytes, args.start, args.end);
  if (target.host === '' || target.port < 0 || target.port > 65_535) throw new PdkError('a target has a host and a port');
  exchange.upstream.target = target;
  // As in Kong: Host without the port, whatever the route says.
  exchange.upstream.host = target.host;
}

function setResponseHeaders({ exchange, args }: PdkCall): void {
  for (const [name, values] of headerEntries(decodeStruct(args.bytes, args.start, args.end))) exchange.responseHeaders.set(name, values);
}

// Replies to PDK calls. Text here is a byte string (one character a byte), because Kong passes on received bytes unchanged, whether or not
// they are UTF-8.

/** Kong omits an empty string from a one-field message. */
function writeText(to: Writer, value: string | undefined): void {
  if (value !== undefined && value !== '') writeByteString(to, 1, value);
}

function writeByteString(to: Writer, field: number, value: string): void {
  if (!/[^ -~]/.test(value)) to.string(field, value);
  else to.bytes(field, Buffer.from(value, 'latin1'));
}

/** A Struct from names to one value or, for a repeated name, to a list. At most `max` lines count, as in nginx. */
function writeHeaders(to: Writer, headers: HeaderList, max: number): void {
  const grouped = new Map<string, string | string[]>();
  let seen = 0;
  headers.forEach((name, value) => {
    seen += 1;
    if (seen <= max) group(grouped, name, value);
  });
  for (const [name, value] of grouped) {
    const entry = to.open(1);
    writeByteString(to, 1, name);
    const holder = to.open(2);
    if (Array.isArray(value)) writeList(to, value);
    else writeByteString(to, 3, value);
    to.close(holder);
    to.close(entry);
  }
}

function group(grouped: Map<string, string | string[]>, name: string, value: string): void {
  const earlier = grouped.get(name);
  if (earlier === undefined) grouped.set(name, value);
  else if (Array.isArray(earlier)) earlier.push(value);
  else grouped.set(name, [earlier, value]);
}

function writeList(to: Writer, values: readonly string[]): void {
  const list = to.open(6);
  for (const value of values) {
    const item = to.open(1);
    writeByteString(to, 3, value);
    to.close(item);
  }
  to.close(list);
}

/** A PDK call that Kong would refuse. The request ends with 500. */
export class PdkError extends Error {
  override readonly name = 'PdkError';
}

/** The bounds of one encoded argument message. */
export interface ArgumentBytes {
  bytes: Buffer;
  start: number;
  end: number;
}

/** A String argument as a byte string. */
function readText(args: ArgumentBytes): string {
  return toByteString(decodeString(args.bytes, args.start, args.end));
}

function toByteString(text: string): string {
  return /[^ -~]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** One header's values: text, number or boolean, alone or in a list, in the forms that `kong.response.set_header` takes. */
function headerValues(name: string, value: ProtoValue): string[] {
  if (!isHeaderName(name)) throw new PdkError('invalid header name');
  return (Array.isArray(value) ? value : [value]).map((item) => headerValue(name, item));
}

function headerValue(name: string, value: ProtoValue): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new PdkError(`invalid value of header ${name}`);
  }
  const text = toByteString(String(value)).trim();
  if (!isHeaderValue(text)) throw new PdkError(`invalid value of header ${name}`);
  return text;
}

/** Flat `[name, value, …]`. */
function headerEntries(headers: ProtoStruct): [string, string[]][] {
  return Object.entries(headers).map(([name, value]) => [name, headerValues(name, value)]);
}
