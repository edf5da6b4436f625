import { MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';

/** Offsets in the header: a count, then where the table is. */
const TABLE = { strings: 0x38, types: 0x40, prototypes: 0x48, methods: 0x58, classes: 0x60 } as const;
const METHOD_BYTES = 8;
const METHOD_NAME_AT = 4;
const PROTOTYPE_BYTES = 12;
const CLASS_BYTES = 32;
const CLASS_DATA_AT = 24;
/** Offset in the head of a method's code: how many units of 16 bits follow it. */
const UNITS_AT = 12;
const CODE_AT = 16;
/** Bodies of interest are shorter. */
const MAX_UNITS = 8;

/** Members of classes that may still be looked at, in all files together. */
export interface CodeBudget {
  members: number;
}

export interface MethodBody {
  /** Index of the class, such as `Lcom/example/Trust;`. */
  readonly owner: number;
  readonly prototype: number;
  readonly name: string;
  /** Its code in units of 16 bits, at most eight of them; the length says how many there are. */
  readonly units: readonly number[];
  readonly length: number;
}

/**
 * What the code of a dex file refers to and defines. Android refuses a file whose tables are not sorted, so every name is found by binary
 * search.
 */
export class DexCode {
  private readonly reader: ByteReader;

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

  /** True when the code may call this method of this very class. @throws MalformedError */
  refersTo(descriptor: string, method: string): boolean {
    const type = this.findType(descriptor);
    const name = this.findString(method);
    if (type === undefined || name === undefined) return false;
    const { count } = this.table(TABLE.methods);
    const index = lowerBound(count, (each) => this.method(each).owner - type || this.method(each).name - name);
    return index < count && this.method(index).owner === type && this.method(index).name === name;
  }

  /** The first text that begins so. @throws MalformedError */
  findText(prefix: string): string | undefined {
    const { count } = this.table(TABLE.strings);
    const index = this.lowerString(prefix);
    const text = index < count ? this.string(index) : '';
    return text.startsWith(prefix) ? text : undefined;
  }

  descriptorOf(type: number): string {
    return this.string(this.reader.u32(this.table(TABLE.types).at + type * 4));
  }

  /** The types of a method's parameters, at most this many. */
  parametersOf(prototype: number, most: number): number[] {
    const list = this.reader.u32(this.table(TABLE.prototypes).at + prototype * PROTOTYPE_BYTES + 8);
    if (list === 0) return [];
    const count = Math.min(this.reader.u32(list), most);
    return Array.from({ length: count }, (_each, index) => this.reader.u16(list + 4 + index * 2));
  }

  /**
   * The bodies of all methods that are defined here and have one of these names.
   * @returns false when the budget was spent before the end
   * @throws MalformedError
   */
  *bodiesOf(names: readonly string[], budget: CodeBudget): Generator<MethodBody, boolean> {
    const wanted = new Map(names.flatMap((name) => [[this.findString(name), name] as const]));
    wanted.delete(undefined);
    if (wanted.size === 0) return true;
    const { count, at } = this.table(TABLE.classes);
    for (let index = 0; index < count; index++) {
      const data = this.reader.u32(at + index * CLASS_BYTES + CLASS_DATA_AT);
      if (--budget.members < 0) return false;
      if (data === 0) continue;
      for (const { method, code } of this.methodsNamed(wanted, data, budget)) {
        const { owner, prototype, name } = this.method(method);
        yield { owner, prototype, name: wanted.get(name) ?? '', ...this.unitsAt(code) };
      }
      if (budget.members < 0) return false;
    }
    return true;
  }

  /** The class's methods that have one of the names, and code. Fields come first; each index is a difference to the one before. */
  private *methodsNamed(
    names: ReadonlyMap<unknown, string>,
    data: number,
    budget: CodeBudget,
  ): Generator<{ method: number; code: number }> {
    const cursor = { at: data };
    const [statics, instances, direct, virtual] = [this.uleb(cursor), this.uleb(cursor), this.uleb(cursor), this.uleb(cursor)];
    for (let field = 0; field < statics + instances; field++) {
      if (--budget.members < 0) return;
      this.uleb(cursor);
      this.uleb(cursor);
    }
    const namesAt = this.table(TABLE.methods).at + METHOD_NAME_AT;
    for (const count of [direct, virtual]) {
      for (let index = 0, method = 0; index < count; index++) {
        if (--budget.members < 0) return;
        method += this.uleb(cursor);
        this.uleb(cursor);
        const code = this.uleb(cursor);
        if (code !== 0 && names.has(this.reader.u32(namesAt + method * METHOD_BYTES))) yield { method, code };
      }
    }
  }

  private unitsAt(code: number): { units: number[]; length: number } {
    const length = this.reader.u32(code + UNITS_AT);
    const units = Array.from({ length: Math.min(length, MAX_UNITS) }, (_each, index) => this.reader.u16(code + CODE_AT + index * 2));
    return { units, length };
  }

  private table(at: number): { count: number; at: number } {
    return { count: this.reader.u32(at), at: this.reader.u32(at + 4) };
  }

  private method(index: number): { owner: number; prototype: number; name: number } {
    const at = this.table(TABLE.methods).at + index * METHOD_BYTES;
    return { owner: this.reader.u16(at), prototype: this.reader.u16(at + 2), name: this.reader.u32(at + 4) };
  }

  private findString(text: string): number | undefined {
    const { count } = this.table(TABLE.strings);
    const index = this.lowerString(text);
    return index < count && this.string(index) === text ? index : undefined;
  }

  /** The index of the first string that is not less. Names looked for are ASCII, so the order of bytes is the order of characters. */
  private lowerString(text: string): number {
    return lowerBound(this.table(TABLE.strings).count, (index) => {
      const string = this.string(index);
      return string < text ? -1 : Number(string > text);
    });
  }

  private string(index: number): string {
    const cursor = { at: this.reader.u32(this.table(TABLE.strings).at + index * 4) };
    this.uleb(cursor);
    const limit = Math.min(cursor.at + MAX_STRING, this.bytes.length);
    const end = this.bytes.subarray(cursor.at, limit).indexOf(0);
    return this.bytes.toString('latin1', cursor.at, end < 0 ? limit : cursor.at + end);
  }

  private uleb(cursor: { at: number }): number {
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

/** Bytes of a string that are compared. Names looked for are shorter. */
const MAX_STRING = 300;
const MAX_ULEB_BITS = 35;

/** The first index for which `compare` is not negative, in a sorted table. */
function lowerBound(count: number, compare: (index: number) => number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    if (compare(middle) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
