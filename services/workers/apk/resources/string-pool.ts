import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { type Chunk } from './chunk';

const UTF8_FLAG = 0x100;

/** The strings of a binary XML file or a resource table, decoded when asked for. */
export class StringPool {
  readonly count: number;
  private readonly reader: ByteReader;
  private readonly headerSize: number;
  private readonly stringsStart: number;
  private readonly isUtf8: boolean;
  private readonly decoded = new Map<number, string>();

  /** @throws MalformedError when the chunk is too short for its own table */
  constructor(outer: ByteReader, chunk: Chunk) {
    this.reader = new ByteReader(outer.slice(chunk.at, chunk.size), `${outer.what}: string pool`);
    this.headerSize = chunk.headerSize;
    this.count = this.reader.u32(8);
    this.isUtf8 = (this.reader.u32(16) & UTF8_FLAG) !== 0;
    this.stringsStart = this.reader.u32(20);
    this.reader.slice(this.headerSize, this.count * 4);
  }

  /** The string, cut at the length limit; undefined for an index beyond the pool (0xffffffff is how the formats say "none"). */
  at(index: number): string | undefined {
    if (index >= this.count) return undefined;
    const known = this.decoded.get(index);
    if (known !== undefined) return known;
    const text = this.decode(index);
    this.decoded.set(index, text);
    return text;
  }

  /** All strings in order, kept nowhere. Several entries may share their bytes, so the caller bounds what it takes. */
  *all(): Generator<string> {
    for (let index = 0; index < this.count; index++) yield this.decode(index);
  }

  private decode(index: number): string {
    const start = this.stringsStart + this.reader.u32(this.headerSize + index * 4);
    return this.isUtf8 ? this.utf8(start) : this.utf16(start);
  }

  /** Two lengths, of one or two bytes each: in characters, then in bytes. */
  private utf8(start: number): string {
    const afterCharacters = start + (this.reader.u8(start) & 0x80 ? 2 : 1);
    const first = this.reader.u8(afterCharacters);
    const isLong = (first & 0x80) !== 0;
    const length = isLong ? ((first & 0x7f) << 8) | this.reader.u8(afterCharacters + 1) : first;
    const bytes = this.reader.slice(afterCharacters + (isLong ? 2 : 1), length);
    return bytes.subarray(0, LIMITS.stringLength).toString('utf8');
  }

  /** One length in UTF-16 units, of two or four bytes. */
  private utf16(start: number): string {
    const first = this.reader.u16(start);
    const isLong = (first & 0x8000) !== 0;
    const length = isLong ? (first & 0x7fff) * 0x10000 + this.reader.u16(start + 2) : first;
    const bytes = this.reader.slice(start + (isLong ? 4 : 2), length * 2);
    return bytes.subarray(0, LIMITS.stringLength * 2).toString('utf16le');
  }
}
