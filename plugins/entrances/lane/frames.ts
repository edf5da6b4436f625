import { isIP } from 'node:net';
import { collectHeaders } from '../../access-layer/gateway-question';
import { type RequestFacts, splitTarget } from '../../core/access/request-variable';
import { type Admission, type Consumer, type Verdict } from '../../core/access/verdict';

/*
 * The frames of the lane, version 2 (docs/decisions/0181-the-lane.md). A frame is a u32 length, little-endian, and that many bytes: the
 * version, one letter for the kind, the u32 id of its question, and a text. No header or request line can contain a line feed, so it
 * separates values. Text is latin1, which keeps every byte. LuaJIT finds a long string by a few of its bytes, including the last ones, so
 * whatever differs between requests comes last.
 */

/** The first byte of every frame. */
const VERSION = '2';
/** Version, kind and question. */
const HEAD_BYTES = 6;

/** Frames of a gateway: a question with the variable, one with the whole head, the head or body that was asked for, and lines about responses. */
export const SAID = { question: 'q', whole: 'w', head: 'h', body: 'b', reported: 't' } as const;

/** Frames of the plugin server besides a verdict. `reported`: the lines were received. */
export const ASKED = { head: 'h', body: 'b', reported: 't' } as const;
/**
 * The question was not read and may be asked on another connection. Without a question id, this applies to every question without a
 * verdict.
 */
export const LEAVING = 'x';
/** Id of frames without a question. */
export const NO_QUESTION = 0;

const u32 = (value: number): string => String.fromCharCode(value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24);

/** A whole frame as text. */
export function frame(kind: string, question: number, text = ''): string {
  return `${u32(text.length + HEAD_BYTES)}${VERSION}${kind}${u32(question)}${text}`;
}

export interface Frame {
  readonly kind: string;
  readonly question: number;
  readonly text: string;
}

/** @throws Error for another version */
export function readFrame(bytes: Buffer, start: number, end: number): Frame {
  if (end - start < HEAD_BYTES || bytes[start] !== VERSION.charCodeAt(0)) throw new Error('a frame of another version of the lane');
  const kind = String.fromCharCode(bytes[start + 1] ?? 0);
  return { kind, question: bytes.readUInt32LE(start + 2), text: bytes.toString('latin1', start + HEAD_BYTES, end) };
}

/** A route, a line feed, and the description of the request: `$tollgate_request` as it is, or the head. */
export function readQuestion(text: string): { readonly route: string; readonly request: string } {
  const end = text.indexOf('\n');
  if (end < 0) throw new Error('a question without a route');
  return { route: text.slice(0, end), request: text.slice(end + 1) };
}

/**
 * Method, caller's address, the request line's target, query, each header as `name:value`, and the request's id last.
 * @throws Error for any other text
 */
export function readHead(text: string): RequestFacts {
  const lines = text.split('\n');
  const [method = '', callerAddress = '', target = '', rawQuery = ''] = lines;
  const requestId = lines.at(-1) ?? '';
  if (lines.length < 5 || isIP(callerAddress) === 0 || requestId === '') throw new Error('a head without the caller or the request’s id');
  const pairs = lines.slice(4, -1).map((line): [string, string] => {
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error('a header without a name');
    return [line.slice(0, colon), line.slice(colon + 1)];
  });
  return { method, callerAddress, rawQuery, rawPath: splitTarget(target).rawPath, requestId, headers: collectHeaders(pairs) };
}

/** UUIDs, and a name in which each byte of UTF-8 is one character. */
function consumerLine({ id, username, credentialId }: Consumer): string {
  return `@${id}:${credentialId}:${Buffer.from(username, 'utf8').toString('latin1')}\n`;
}

/** One line for each change of an admitted request. */
function linesOf({ set, remove, rawQuery, target, consumer, responseHeaders }: Admission, sentQuery: string): string {
  let lines = '';
  for (const name of remove) lines += `-${name}\n`;
  for (const name in responseHeaders) lines += `+${name}:${responseHeaders[name]}\n`;
  if (consumer) lines += consumerLine(consumer);
  if (target) lines += `>${target.port}:${target.host}\n`;
  if (rawQuery !== sentQuery) lines += `?${rawQuery}\n`;
  for (const name in set) lines += `=${name}:${set[name]}\n`;
  return lines;
}

/**
 * The verdict in one or two frames: the form without the key comes first. The request's id comes last, and the Lua code compares it with
 * its own.
 */
export function writeVerdict(
  question: number,
  verdict: Verdict,
  { rawQuery, requestId }: Pick<RequestFacts, 'rawQuery' | 'requestId'>,
): string {
  if (verdict.admitted) {
    const admitted = frame('a', question, linesOf(verdict, rawQuery) + requestId);
    return verdict.body ? frame('f', question, verdict.body.toString('latin1')) + admitted : admitted;
  }
  let head = `${verdict.status}\n`;
  for (const name in verdict.headers) head += `${name}:${verdict.headers[name]}\n`;
  // The body is JSON on one line.
  return frame('r', question, `${head}\n${verdict.body.toString('latin1')}\n${requestId}`);
}
