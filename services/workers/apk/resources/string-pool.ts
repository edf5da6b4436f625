import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { type Chunk } from './chunk';

const UTF8_FLAG = 0x100;

/** The strings of a binary XML file or a resource table. Each is decoded on demand. */
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

  /** The string, cut at the length limit; undefined for an index beyond the pool (0xffffffff means "none" in these formats). */
  at(index: number): string | undefined {
    if (index >= this.count) return undefined;
    const known = this.decoded.get(index);
    if (known !== undefined) return known;
    const text = this.decode(index);
    this.decoded.set(index, text);
    return text;
  }

  /** All strings in order, without keeping any. Several entries may share their bytes, so the caller limits how many it takes. */
  *all(): Generator<string> {
    for (let index = 0; index < this.count; index++) yield this.decode(index);
  }

  private decode(index: number): string {
    const start = this.stringsStart + this.reader.u32(this.headerSize + index * 4);
    return this.isUtf8 ? this.utf8(start) : this.utf16(start);
  }

  /** A string with two lengths, of one or two bytes each: in characters, then in bytes. */
  private utf8(start: number): string {
    const afterCharacters = start + (this.reader.u8(start) & 0x80 ? 2 : 1);
    const first = this.reader.u8(afterCharacters);
    const isLong = (first & 0x80) !== 0;
    const length = isLong ? ((first & 0x7f) << 8) | this.reader.u8(afterCharacters + 1) : first;
    const bytes = this.reader.slice(afterCharacters + (isLong ? 2 : 1), length);
    return decodeUtf8(bytes.subarray(0, LIMITS.stringLength));
  }

  /** A string with one length in UTF-16 units, of two or four bytes. */
  private utf16(start: number): string {
    const first = this.reader.u16(start);
    const isLong = (first & 0x8000) !== 0;
    const length = isLong ? (first & 0x7fff) * 0x10000 + this.reader.u16(start + 2) : first;
    const bytes = this.reader.slice(start + (isLong ? 4 : 2), length * 2);
    return bytes.subarray(0, LIMITS.stringLength * 2).toString('utf16le');
  }
}

/** A UTF-16 surrogate pair whose halves are encoded separately, read as Latin-1. */
const ENCODED_PAIR = /\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]/g;

/** Decodes UTF-8. Characters above U+FFFF, such as emoji, may be in the modified form that aapt2 writes and standard decoders refuse. */
function decodeUtf8(bytes: Buffer): string {
  if (!bytes.includes(0xed)) return bytes.toString('utf8');
  const standard = bytes.toString('latin1').replace(ENCODED_PAIR, (pair) => {
    const unitAt = (at: number): number => 0xd000 | ((pair.charCodeAt(at + 1) & 0x3f) << 6) | (pair.charCodeAt(at + 2) & 0x3f);
    return Buffer.from(String.fromCharCode(unitAt(0), unitAt(3))).toString('latin1');
  });
  return Buffer.from(standard, 'latin1').toString('utf8');
}
