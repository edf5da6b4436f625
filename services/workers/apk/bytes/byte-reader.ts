import { MalformedError } from '../apk-error';

/** Reads little-endian values within the bounds of one buffer. */
export class ByteReader {
  /** @param what names the structure in errors, for example `string pool` */
  constructor(
    readonly bytes: Buffer,
    readonly what: string,
  ) {}

  get length(): number {
    return this.bytes.length;
  }

  u8(at: number): number {
    this.check(at, 1);
    return this.bytes.readUInt8(at);
  }

  u16(at: number): number {
    this.check(at, 2);
    return this.bytes.readUInt16LE(at);
  }

  u32(at: number): number {
    this.check(at, 4);
    return this.bytes.readUInt32LE(at);
  }

  /** @throws MalformedError also for a value that a number cannot hold exactly, because no offset in a file is that large */
  u64(at: number): number {
    this.check(at, 8);
    const value = this.bytes.readBigUInt64LE(at);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedError(`${this.what}: a 64-bit length is out of range`);
    return Number(value);
  }

  /** Returns a view, not a copy. */
  slice(at: number, length: number): Buffer {
    this.check(at, length);
    return this.bytes.subarray(at, at + length);
  }

  /** @throws MalformedError when the range is not within the bytes */
  check(at: number, length: number): void {
    if (at < 0 || length < 0 || at + length > this.bytes.length) {
      throw new MalformedError(`${this.what}: ends before ${at + length} bytes (has ${this.bytes.length})`);
    }
  }
}
