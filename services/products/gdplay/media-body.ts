import { Transform, type TransformCallback } from 'node:stream';
import { driveFailure, driveTimeout } from './drive-failure';

export interface MediaBodyOptions {
  /** Announced number of bytes; undefined if none was announced. */
  readonly expectedBytes: number | undefined;
  /** Milliseconds within which at least one chunk must pass. */
  readonly idleMs: number;
}

/**
 * Passes bytes from Drive to the client as fast as they are read. Fails when nothing moves for too long on either side, and when Drive
 * sends more or fewer bytes than announced.
 */
export class MediaBody extends Transform {
  private seen = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: MediaBodyOptions) {
    super();
    const { idleMs } = options;
    this.timer = setTimeout(() => this.destroy(driveTimeout(new Error(`nothing moved for ${idleMs} ms`))), idleMs);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.timer.refresh();
    this.seen += chunk.length;
    const { expectedBytes } = this.options;
    if (expectedBytes !== undefined && this.seen > expectedBytes)
      done(driveFailure('bad_response', new Error('more bytes than announced')));
    else done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    const { expectedBytes } = this.options;
    if (expectedBytes !== undefined && this.seen < expectedBytes)
      done(driveFailure('bad_response', new Error('fewer bytes than announced')));
    else done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.timer);
    done(error);
  }
}
