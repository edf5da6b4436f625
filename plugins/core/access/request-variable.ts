import { type RequestHeaders } from './credential-location';

/** The nginx variable that gives the access layer, in one read, what it needs for nearly every request. */
export const REQUEST_VARIABLE = 'tollgate_request';

/** The number of this layout. Any change of the lines needs a new number. */
const LAYOUT = '4';

const HEADER_FIELDS = [
  'authorization', 'x-api-key', 'origin', 'referer', 'content-type', 'content-length', 'transfer-encoding', 'traceparent',
  'access-control-request-method', 'connection', 'cookie',
] as const; // prettier-ignore

/**
 * Headers that only the gateway may set and a client might forge, in one line that is empty in a usual request. nginx cannot list every
 * header that begins with X-Tollgate-, so these are the proof and the names that a receiver could take for a claim about the caller. If one
 * was sent, all are removed.
 */
export const FORGEABLE = [
  'context', 'customer', 'customer-id', 'credential', 'credential-id', 'key', 'key-id', 'subscription', 'subscription-id', 'product', 'mode', 'plan',
  'quota', 'charged', 'request-id', 'user', 'user-id',
] as const; // prettier-ignore

const variableOf = (header: string): string => `$http_${header.replaceAll('-', '_')}`;

const LINES = [
  '$remote_addr',
  '$request_length',
  FORGEABLE.map((name) => variableOf(`x-tollgate-${name}`)).join(''),
  '$request_method',
  ...HEADER_FIELDS.map(variableOf),
  '$request_uri',
  // Must come last: Kong's LuaJIT finds a long string by its first and last bytes, and earlier ones may be the same for every request of a
  // caller.
  '$kong_request_id',
];

/** The line of the first header. */
const FIRST_HEADER = 5;

/** The file with that variable, which kong.conf includes. */
export const REQUEST_MAP = 'request-map.conf';

/**
 * The value of that variable, as a text of nginx's configuration in double quotes. A line feed cannot occur in a header or a request line,
 * so it separates the values.
 */
export const REQUEST_TEXT = [LAYOUT, ...LINES].join('\\n');

/**
 * A request with more headers is refused. Services on Node read 1,000, Kong adds about a dozen and its plugins may add more. The proof
 * comes last, so it would not be read.
 */
export const MAX_HEADERS = 950;

/** A longer head may have more headers than that: the shortest header is `a:` and a line feed. */
const MAX_HEAD = MAX_HEADERS * 3;

/** The parts of a request line's target, the query without its question mark. */
export function splitTarget(target: string): { readonly rawPath: string; readonly rawQuery: string } {
  const at = target.indexOf('?');
  return at < 0 ? { rawPath: target, rawQuery: '' } : { rawPath: target.slice(0, at), rawQuery: target.slice(at + 1) };
}

/** A request, as nginx's variables describe it. */
export interface RequestFacts {
  readonly callerAddress: string;
  readonly requestId: string;
  readonly rawQuery: string;
  /** The path as the client sent it, without the query; empty if the entrance has checked the path itself. */
  readonly rawPath: string;
  /** Empty if the entrance does not report it. */
  readonly method: string;
  /** Headers that the access layer reads, without empty ones. */
  readonly headers: RequestHeaders;
  /** Method and path for the log, if the two above are empty. */
  readonly shown?: { readonly method: string; readonly rawPath: string };
}

/** The last line, for the log. */
export const requestIdIn = (text: string): string => text.slice(text.lastIndexOf('\n') + 1);

/**
 * Reads the variable. `unclear` means that it is not exact and Kong must be asked for the headers: nginx writes a repeated header as `a,
 * b`, takes an underscore for a hyphen, includes only the headers that are listed, and ends a query at a fragment.
 */
export function readRequestVariable(text: string): RequestFacts | 'absent' | 'unclear' {
  if (text === '') return 'absent';
  const lines = text.split('\n');
  if (lines[0] !== LAYOUT || lines.length !== LINES.length + 1) return 'unclear';
  const [, callerAddress = '', length, forged, method = ''] = lines;
  if (!(Number(length) < MAX_HEAD) || callerAddress === '' || forged !== '') return 'unclear';
  const headers: Record<string, string> = {};
  for (let index = 0; index < HEADER_FIELDS.length; index++) {
    const value = lines[index + FIRST_HEADER] ?? '';
    if (value === '') continue;
    if (value.includes(', ')) return 'unclear';
    headers[HEADER_FIELDS[index] ?? ''] = value;
  }
  const target = lines[LINES.length - 1] ?? '';
  if (target.includes('#')) return 'unclear';
  const { rawPath, rawQuery } = splitTarget(target);
  return { callerAddress, requestId: lines[LINES.length] ?? '', rawQuery, rawPath, method, headers };
}
