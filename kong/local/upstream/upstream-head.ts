import { isHeaderValue } from '../http/header-list';

/** How the body of an upstream's answer ends. */
export type BodyFraming = { kind: 'none' } | { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'close' };

/** The head of an upstream's answer. `headers` is flat, `[name, value, …]`, in the upstream's order. */
export interface UpstreamHead {
  status: number;
  reason: string;
  headers: string[];
  framing: BodyFraming;
  /** Whether the connection may carry another request once the body has been read. */
  reusable: boolean;
  /** Lower-cased names that the upstream's Connection header lists. */
  connectionTokens: readonly string[];
  /** How long the upstream keeps an idle connection, when it says so. */
  keepAliveMs: number | undefined;
}

interface Framers {
  length: string | undefined;
  transferEncoding: string | undefined;
  connection: string;
  keepAlive: string | undefined;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Reads the text of a response head (without the empty line that ends it). Returns undefined when it is not HTTP/1.x or when the
 * body's length is ambiguous: the gateway answers 502 then, because guessing is how answers get mixed up between clients.
 */
export function parseUpstreamHead(text: string, method: string): UpstreamHead | undefined {
  const lineEnd = text.indexOf('\r\n');
  const statusLine = lineEnd < 0 ? text : text.slice(0, lineEnd);
  const match = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: (.*))?$/.exec(statusLine);
  if (match === null || !isHeaderValue(match[3] ?? '')) return undefined;
  const status = Number(match[2]);
  const headers: string[] = [];
  const framers: Framers = { length: undefined, transferEncoding: undefined, connection: '', keepAlive: undefined };
  if (lineEnd >= 0 && !readHeaderLines(text, { from: lineEnd + 2, headers, framers })) return undefined;
  const framing = decideFraming(status, method, framers);
  if (framing === undefined) return undefined;
  const connectionTokens =
    framers.connection === ''
      ? []
      : framers.connection
          .toLowerCase()
          .split(',')
          .map((token) => token.trim());
  const keepsOpen = match[1] === '1' ? !connectionTokens.includes('close') : connectionTokens.includes('keep-alive');
  return {
    status,
    reason: match[3] ?? '',
    headers,
    framing,
    reusable: keepsOpen && framing.kind !== 'close',
    connectionTokens,
    keepAliveMs: readKeepAlive(framers.keepAlive),
  };
}

interface HeadLines {
  from: number;
  headers: string[];
  framers: Framers;
}

function readHeaderLines(text: string, into: HeadLines): boolean {
  let at = into.from;
  while (at < text.length) {
    let end = text.indexOf('\r\n', at);
    if (end < 0) end = text.length;
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end) return false;
    const name = text.slice(at, colon);
    if (!TOKEN.test(name)) return false;
    const value = text.slice(colon + 1, end).trim();
    if (!isHeaderValue(value) || !noteFraming(name.toLowerCase(), value, into.framers)) return false;
    into.headers.push(name, value);
    at = end + 2;
  }
  return true;
}

/** False when a second, different length or encoding makes the framing ambiguous. */
function noteFraming(lower: string, value: string, framers: Framers): boolean {
  switch (lower) {
    case 'content-length':
      if (framers.length !== undefined || !/^\d{1,15}$/.test(value)) return false;
      framers.length = value;
      return true;
    case 'transfer-encoding':
      if (framers.transferEncoding !== undefined) return false;
      framers.transferEncoding = value.toLowerCase();
      return true;
    case 'connection':
      framers.connection = framers.connection === '' ? value : `${framers.connection},${value}`;
      return true;
    case 'keep-alive':
      framers.keepAlive = value;
      return true;
    default:
      return true;
  }
}

function decideFraming(status: number, method: string, framers: Framers): BodyFraming | undefined {
  if (framers.transferEncoding !== undefined && (framers.length !== undefined || framers.transferEncoding !== 'chunked')) return undefined;
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { kind: 'none' };
  if (framers.transferEncoding !== undefined) return { kind: 'chunked' };
  if (framers.length === undefined) return { kind: 'close' };
  const bytes = Number(framers.length);
  return bytes === 0 ? { kind: 'none' } : { kind: 'length', bytes };
}

function readKeepAlive(value: string | undefined): number | undefined {
  const seconds = value === undefined ? undefined : /timeout=(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
