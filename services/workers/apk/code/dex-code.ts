import { MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';

/** Offsets in the header: a count, followed by the offset of the table. */
const TABLE = { strings: 0x38, types: 0x40, prototypes: 0x48, fields: 0x50, methods: 0x58, classes: 0x60 } as const;
const MEMBER_BYTES = 8;
const NAME_AT = 4;
const PROTOTYPE_BYTES = 12;
/** Bytes read of a string. The names that are searched for are shorter. */
const MAX_TEXT = 300;
const MAX_ULEB_BITS = 35;

interface Table {
  readonly count: number;
  /** Offset in the file. */
  readonly at: number;
}

/** A field or method. The numbers are indexes. */
interface DexMember {
  /** The type of its class, such as `Lcom/example/Trust;`. */
  readonly owner: number;
  /** The type of a field, or the prototype of a method. */
  readonly type: number;
  readonly name: number;
}

/**
 * The tables of a dex file, which list everything that its code refers to. Android refuses a file whose tables are not sorted, so every
 * name is found by binary search.
 */
export class DexCode {
  readonly reader: ByteReader;
  private readonly tables = new Map<number, Table>();

  constructor(
    private readonly name: string,
    private readonly bytes: Buffer,
  ) {
    this.reader = new ByteReader(bytes, name);
  }

  /** The index of a type, by its descriptor. @throws MalformedError */
  findType(descriptor: string): number | undefined {
    const string = this.findString(descriptor);
    if (string === undefined) return undefined;
    const { count, at } = this.table(TABLE.types);
    const index = lowerBound(count, (each) => this.reader.u32(at + each * 4) - string);
    return index < count && this.reader.u32(at + index * 4) === string ? index : undefined;
  }

  /** True when the code may call this method of exactly this class. @throws MalformedError */
  refersTo(descriptor: string, method: string): boolean {
    return this.findMember(TABLE.methods, descriptor, method) !== undefined;
  }

  /** The index of a field of exactly this class, static or not. @throws MalformedError */
  findField(descriptor: string, field: string): number | undefined {
    return this.findMember(TABLE.fields, descriptor, field);
  }

  private findMember(table: number, descriptor: string, member: string): number | undefined {
    const type = this.findType(descriptor);
    const name = this.findString(member);
    if (type === undefined || name === undefined) return undefined;
    const { count } = this.table(table);
    const index = lowerBound(count, (each) => this.member(table, each).owner - type || this.member(table, each).name - name);
    return index < count && this.member(table, index).owner === type && this.member(table, index).name === name ? index : undefined;
  }

  /** The first text with this prefix. @throws MalformedError */
  findText(prefix: string): string | undefined {
    const { count } = this.table(TABLE.strings);
    const index = this.lowerString(prefix);
    const text = index < count ? this.text(index) : '';
    return text.startsWith(prefix) ? text : undefined;
  }

  descriptorOf(type: number): string {
    return this.text(this.reader.u32(this.table(TABLE.types).at + type * 4));
  }

  /** The types of a method's parameters, at most `most`. */
  parametersOf(prototype: number, most: number): number[] {
    const list = this.reader.u32(this.table(TABLE.prototypes).at + prototype * PROTOTYPE_BYTES + 8);
    if (list === 0) return [];
    const count = Math.min(this.reader.u32(list), most);
    return Array.from({ length: count }, (_each, index) => this.reader.u16(list + 4 + index * 2));
  }

  /** A method's parameters, at most `most`, and its result, such as `(Ljava/lang/String;I)V`. */
  signatureOf(prototype: number, most: number): string {
    const returned = this.reader.u32(this.table(TABLE.prototypes).at + prototype * PROTOTYPE_BYTES + 4);
    const parameters = this.parametersOf(prototype, most).map((type) => this.descriptorOf(type));
    return `(${parameters.join('')})${this.descriptorOf(returned)}`;
  }

  get methodCount(): number {
    return this.table(TABLE.methods).count;
  }

  method(index: number): DexMember {
    return this.member(TABLE.methods, index);
  }

  /** The index of the string that names a method. Cheaper than reading everything that {@link method} does. */
  methodName(index: number): number {
    return this.reader.u32(this.table(TABLE.methods).at + index * MEMBER_BYTES + NAME_AT);
  }

  get classes(): Table {
    return this.table(TABLE.classes);
  }

  private table(at: number): Table {
    const known = this.tables.get(at);
    if (known) return known;
    const table = { count: this.reader.u32(at), at: this.reader.u32(at + 4) };
    this.tables.set(at, table);
    return table;
  }

  private member(table: number, index: number): DexMember {
    const at = this.table(table).at + index * MEMBER_BYTES;
    return { owner: this.reader.u16(at), type: this.reader.u16(at + 2), name: this.reader.u32(at + 4) };
  }

  findString(text: string): number | undefined {
    const { count } = this.table(TABLE.strings);
    const index = this.lowerString(text);
    return index < count && this.text(index) === text ? index : undefined;
  }

  /**
   * The index of the first string that is not less. The names that are searched for are ASCII, so the order of bytes is the order of
   * characters.
   */
  private lowerString(text: string): number {
    return lowerBound(this.table(TABLE.strings).count, (index) => {
      const string = this.text(index);
      return string < text ? -1 : Number(string > text);
    });
  }

  /** The first bytes of a string, at most 300, as latin1. */
  text(index: number): string {
    const cursor = { at: this.reader.u32(this.table(TABLE.strings).at + index * 4) };
    this.uleb(cursor);
    const limit = Math.min(cursor.at + MAX_TEXT, this.bytes.length);
    const end = this.bytes.subarray(cursor.at, limit).indexOf(0);
    return this.bytes.toString('latin1', cursor.at, end < 0 ? limit : cursor.at + end);
  }

  /** Reads a number in groups of seven bits and moves the cursor past it. @throws MalformedError */
  uleb(cursor: { at: number }): number {
    let value = 0;
    for (let shift = 0; shift < MAX_ULEB_BITS; shift += 7) {
      const byte = this.bytes[cursor.at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new MalformedError(`${this.name}: a number has too many bytes, or too few`);
  }
}

/** The first index of a sorted table for which `compare` is not negative. */
function lowerBound(count: number, compare: (index: number) => number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    if (compare(middle) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
