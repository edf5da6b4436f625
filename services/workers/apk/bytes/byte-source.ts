import { readSync } from 'node:fs';
import { MalformedError } from '../apk-error';

/** Random access to a file's bytes. */
export interface ByteSource {
  readonly size: number;
  /** @throws MalformedError beyond the end */
  read(offset: number, length: number): Buffer;
}

function checkRange(source: ByteSource, offset: number, length: number): void {
  if (offset < 0 || length < 0 || offset + length > source.size) {
    throw new MalformedError(`the file ends before byte ${offset + length} (it has ${source.size})`);
  }
}

/** Reads an open file. The caller closes the descriptor. */
export class FileSource implements ByteSource {
  constructor(
    private readonly descriptor: number,
    readonly size: number,
  ) {}

  read(offset: number, length: number): Buffer {
    checkRange(this, offset, length);
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length;) {
      const count = readSync(this.descriptor, bytes, done, length - done, offset + done);
      if (count === 0) throw new MalformedError('the file became shorter while it was read');
      done += count;
    }
    return bytes;
  }
}

export class BufferSource implements ByteSource {
  constructor(private readonly bytes: Buffer) {}

  get size(): number {
    return this.bytes.length;
  }

  read(offset: number, length: number): Buffer {
    checkRange(this, offset, length);
    return this.bytes.subarray(offset, offset + length);
  }
}

/** Part of another source. */
export class SourceRange implements ByteSource {
  /** @throws MalformedError when the range is not within the source */
  constructor(
    private readonly whole: ByteSource,
    private readonly start: number,
    readonly size: number,
  ) {
    checkRange(whole, start, size);
  }

  read(offset: number, length: number): Buffer {
    checkRange(this, offset, length);
    return this.whole.read(this.start + offset, length);
  }
}
