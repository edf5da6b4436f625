import { ByteReader } from '../bytes/byte-reader';

/** Reads a structure of the signing block from front to back: u32 numbers and values with a u32 length before them. */
export class LengthPrefixed {
  private readonly reader: ByteReader;
  private at = 0;

  constructor(bytes: Buffer, what: string) {
    this.reader = new ByteReader(bytes, what);
  }

  get hasMore(): boolean {
    return this.at < this.reader.length;
  }

  /** Everything not read yet. */
  get rest(): Buffer {
    return this.reader.slice(this.at, this.reader.length - this.at);
  }

  u32(): number {
    const value = this.reader.u32(this.at);
    this.at += 4;
    return value;
  }

  value(): Buffer {
    const length = this.u32();
    const bytes = this.reader.slice(this.at, length);
    this.at += length;
    return bytes;
  }

  /** The values inside of the next value; at most `most` of them. */
  values(most: number): Buffer[] {
    const inner = new LengthPrefixed(this.value(), this.reader.what);
    const found: Buffer[] = [];
    while (inner.hasMore && found.length < most) found.push(inner.value());
    return found;
  }
}
