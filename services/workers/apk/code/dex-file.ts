import { createHash } from 'node:crypto';
import { MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { type DexFacts } from '../report';

const MAGIC = /^dex\n(\d{3})\0$/;
/** Offsets in the header. */
const AT = { checksum: 0x08, signature: 0x0c, fileSize: 0x20, strings: 0x38, types: 0x40, methods: 0x58, classes: 0x60 } as const;
const HEADER_BYTES = 0x70;
const CLASS_BYTES = 32;
const MAX_DESCRIPTOR = 2_000;

/** One dex file: the facts in its header, and the names of its classes. */
export class DexFile {
  private readonly reader: ByteReader;

  /** @throws MalformedError when it is not a dex file */
  constructor(
    private readonly name: string,
    private readonly bytes: Buffer,
  ) {
    this.reader = new ByteReader(bytes, name);
    if (bytes.length < HEADER_BYTES || !MAGIC.test(bytes.toString('latin1', 0, 8))) throw new MalformedError(`${name}: is not a dex file`);
  }

  facts(): DexFacts {
    return {
      name: this.name,
      version: this.bytes.toString('latin1', 4, 7),
      classes: this.reader.u32(AT.classes),
      methods: this.reader.u32(AT.methods),
      checksum_ok: this.hasIntactChecksums(),
    };
  }

  private hasIntactChecksums(): boolean {
    const size = this.reader.u32(AT.fileSize);
    if (size < HEADER_BYTES || size > this.bytes.length) return false;
    const signed = createHash('sha1').update(this.bytes.subarray(AT.fileSize, size)).digest();
    const isSigned = signed.equals(this.bytes.subarray(AT.signature, AT.fileSize));
    return isSigned && adler32(this.bytes.subarray(AT.signature, size)) === this.reader.u32(AT.checksum);
  }

  /**
   * Descriptors of the classes defined here, such as `Lcom/example/Main;`.
   * @throws MalformedError when the tables do not fit the file
   */
  *classDescriptors(): Generator<string> {
    const count = this.reader.u32(AT.classes);
    const at = this.reader.u32(AT.classes + 4);
    const typesAt = this.reader.u32(AT.types + 4);
    const stringsAt = this.reader.u32(AT.strings + 4);
    for (let index = 0; index < count; index++) {
      const type = this.reader.u32(at + index * CLASS_BYTES);
      const string = this.reader.u32(typesAt + type * 4);
      yield this.descriptor(this.reader.u32(stringsAt + string * 4));
    }
  }

  /** A ULEB128 length in UTF-16 units, then bytes up to a zero. Descriptors of interest are ASCII. */
  private descriptor(at: number): string {
    let start = at;
    while (this.reader.u8(start++) & 0x80) if (start - at > 5) throw new MalformedError(`${this.name}: a string has a bad length`);
    const limit = Math.min(start + MAX_DESCRIPTOR, this.bytes.length);
    const end = this.bytes.subarray(start, limit).indexOf(0);
    return this.bytes.toString('latin1', start, end < 0 ? limit : start + end);
  }
}

const ADLER_MODULUS = 65_521;
/** Maximum additions before a 32-bit sum must be reduced (RFC 1950; zlib does the same). */
const ADLER_RUN = 5_552;

function adler32(bytes: Buffer): number {
  let low = 1;
  let high = 0;
  for (let start = 0; start < bytes.length; start += ADLER_RUN) {
    const end = Math.min(start + ADLER_RUN, bytes.length);
    for (let at = start; at < end; at++) {
      low += bytes[at] ?? 0;
      high += low;
    }
    low %= ADLER_MODULUS;
    high %= ADLER_MODULUS;
  }
  return ((high << 16) | low) >>> 0;
}
