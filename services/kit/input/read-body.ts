import { type IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { ServiceError, invalidInput } from '../errors';

/** Maximum bytes of a request body. A route can set its own. */
export const DEFAULT_BODY_LIMIT_BYTES = 1_048_576;

/** The 413 keeps the connection open. If it closed, a gateway that is still sending would see a reset and send 502 instead. */
export function bodyTooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', {
    detail: `The request body is larger than the ${limitBytes} bytes that this route accepts.`,
    members: { limit_bytes: limitBytes },
  });
}

/** False when the headers say that no body follows. */
export function hasBody(request: IncomingMessage): boolean {
  if (request.headers['transfer-encoding'] !== undefined) return true;
  const length = request.headers['content-length'];
  return length !== undefined && length !== '0';
}

/**
 * @param limitBytes the limit that the message names
 * @param mostBytes the limit that is enforced, when it is higher
 * @throws ServiceError 413 when the declared length is over the limit already
 */
export function checkDeclaredLength(request: IncomingMessage, limitBytes: number, mostBytes = limitBytes): void {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > mostBytes) throw bodyTooLarge(limitBytes);
}

/** Passes bytes of a body through until the limit, then fails with 413. It is for bodies without a declared length, which may never end. */
export class BodyLimit extends Transform {
  private seen = 0;

  constructor(private readonly limitBytes: number) {
    super();
  }

  /** True once the limit was passed, whatever error the reader made of that. */
  get exceeded(): boolean {
    return this.seen > this.limitBytes;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.seen += chunk.length;
    if (this.exceeded) done(bodyTooLarge(this.limitBytes));
    else done(null, chunk);
  }
}

/**
 * The whole body, at most `limitBytes`.
 * @throws ServiceError 413 over the limit, 400 when the client stops in the middle
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  checkDeclaredLength(request, limitBytes);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let seen = 0;
    const settle = (finish: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      seen += chunk.length;
      if (seen > limitBytes) settle(() => reject(bodyTooLarge(limitBytes)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, seen)));
    const onBroken = (): void => settle(() => reject(new ServiceError('invalid_request', { detail: 'The request body ended early.' })));
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes bytes that a caller sent.
 * @param field named in the message
 * @throws ServiceError 400 when they are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidInput([{ field, message: 'is not valid UTF-8' }]);
  }
}
