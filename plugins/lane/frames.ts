import { isIP } from 'node:net';
import { collectHeaders } from '../access-layer/gateway-question';
import { type RequestFacts, splitTarget } from '../core/access/request-variable';
import { type Admission, type Verdict } from '../core/access/verdict';

/*
 * The frames of the lane, version 1 (docs/decisions/0181-the-lane.md). A frame is a u32, little-endian, and so many bytes: the version, one letter
 * that says what it is, and its text. A line feed can stand in no header and no request line, so it separates values. Text is latin1, which keeps
 * every byte. LuaJIT finds a long string by few of its bytes, the last ones among them, so what differs from request to request stands last.
 */

/** The first byte of every frame. */
const VERSION = '1';

/** What a gateway says: a question with the variable, one with the whole head, what it is asked for, and lines about requests that were answered. */
export const SAID = { question: 'q', whole: 'w', head: 'h', body: 'b', told: 't' } as const;

/** What the plugin server says besides a verdict. */
export const ASKED = { head: 'h', body: 'b' } as const;
/** On a connection that is about to close: no question on it was or will be read, so it may be asked on another. */
export const LEAVING = 'x';

/** The whole of a frame as text. */
export function frame(kind: string, text = ''): string {
  const bytes = text.length + 2;
  return `${String.fromCharCode(bytes & 255, (bytes >> 8) & 255, (bytes >> 16) & 255, bytes >>> 24)}${VERSION}${kind}${text}`;
}

/** What a frame is. @throws Error for another version */
export function kindOf(bytes: Buffer, start: number, end: number): string {
  if (end - start < 2 || bytes[start] !== VERSION.charCodeAt(0)) throw new Error('a frame of another version of the lane');
  return String.fromCharCode(bytes[start + 1] ?? 0);
}

/** A route, a line feed, and what is told of the request: `$tollgate_request` as it is, or the head. */
export function readQuestion(text: string): { readonly route: string; readonly told: string } {
  const end = text.indexOf('\n');
  if (end < 0) throw new Error('a question without a route');
  return { route: text.slice(0, end), told: text.slice(end + 1) };
}

/** Method, caller's address, the request line's target, query, each header as `name:value`, and the request's id last. @throws Error when it is not that */
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

/** Each change of an admitted request as a line. The proof is the last one. */
function linesOf({ set, remove, rawQuery, target, responseHeaders }: Admission, sentQuery: string): string {
  let lines = '';
  for (const name of remove) lines += `-${name}\n`;
  for (const name in responseHeaders) lines += `+${name}:${responseHeaders[name]}\n`;
  if (target) lines += `>${target.port}:${target.host}\n`;
  if (rawQuery !== sentQuery) lines += `?${rawQuery}\n`;
  for (const name in set) lines += `=${name}:${set[name]}\n`;
  return lines.slice(0, -1);
}

/** The verdict in one or two frames: the form without the key goes ahead. */
export function writeVerdict(verdict: Verdict, { rawQuery, requestId }: Pick<RequestFacts, 'rawQuery' | 'requestId'>): string {
  if (verdict.admitted) {
    const admitted = frame('a', linesOf(verdict, rawQuery));
    return verdict.body ? frame('f', verdict.body.toString('latin1')) + admitted : admitted;
  }
  let head = `${verdict.status}\n`;
  for (const name in verdict.headers) head += `${name}:${verdict.headers[name]}\n`;
  // The body is JSON in one line; after it the id, because problems are alike to their last two characters.
  return frame('r', `${head}\n${verdict.body.toString('latin1')}\n${requestId}`);
}
