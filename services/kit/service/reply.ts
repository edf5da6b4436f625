import { type Readable } from 'node:stream';

export interface ReplyOptions {
  /** 200 unless given. */
  readonly status?: number;
  /** Replace the kit's own, for example `Cache-Control`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is more than plain data. Handlers that return anything else answer it as JSON with status 200. */
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

/** JSON with a status or headers of its own. */
export function jsonReply(data: unknown, options: ReplyOptions = {}): Reply {
  return new Reply(JSON.stringify(data), { ...options, headers: { 'Content-Type': JSON_TYPE, ...options.headers } });
}

/** Bytes as they are: an image, or the JSON of a provider that is passed through unchanged. */
export function bytesReply(bytes: Buffer, contentType: string, options: ReplyOptions = {}): Reply {
  return new Reply(bytes, { ...options, headers: { 'Content-Type': contentType, ...options.headers } });
}

/**
 * A stream, sent with backpressure. It is destroyed when the client leaves; on HEAD only the headers are sent.
 * The route's deadline ends when the handler returns: guard a stream with an idle time-out of its own.
 */
export function streamReply(stream: Readable, contentType: string, options: ReplyOptions = {}): Reply {
  return new Reply(stream, { ...options, headers: { 'Content-Type': contentType, ...options.headers } });
}

/** No body: 204, 304 and the like. */
export function emptyReply(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return new Reply(undefined, { status, headers });
}
