import { type Readable } from 'node:stream';

export interface ReplyOptions {
  /** 200 unless given. */
  readonly status?: number;
  /** Headers that replace the kit's own, for example `Cache-Control`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response that is more than plain data. Whatever else a handler returns is sent as JSON with status 200. */
export class Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly body: Buffer | string | Readable | undefined,
    options: ReplyOptions = {},
  ) {
    this.status = options.status ?? 200;
    this.headers = options.headers ?? {};
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** JSON with its own status or headers. */
export function jsonReply(data: unknown, options: ReplyOptions = {}): Reply {
  return new Reply(JSON.stringify(data), { ...options, headers: { 'Content-Type': JSON_TYPE, ...options.headers } });
}

/** Bytes sent unchanged: an image, or the JSON of an upstream. */
export function bytesReply(bytes: Buffer, contentType: string, options: ReplyOptions = {}): Reply {
  return new Reply(bytes, { ...options, headers: { 'Content-Type': contentType, ...options.headers } });
}

/**
 * A stream, sent with backpressure. It is destroyed when the client leaves. A HEAD gets only the headers. The route's deadline ends when
 * the handler returns: guard a stream with its own idle time-out.
 */
export function streamReply(stream: Readable, contentType: string, options: ReplyOptions = {}): Reply {
  return new Reply(stream, { ...options, headers: { 'Content-Type': contentType, ...options.headers } });
}

/** A response without a body: 204, 304 and the like. */
export function emptyReply(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return new Reply(undefined, { status, headers });
}
