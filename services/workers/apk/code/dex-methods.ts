import { type DexCode } from './dex-code';
import { MethodCode } from './instructions';

const CLASS_BYTES = 32;
const CLASS_DATA_AT = 24;
/** Offsets in the header of a method's code: the number of try blocks, and the number of 16-bit units that follow. */
const CATCHES_AT = 6;
const UNITS_AT = 12;
const CODE_AT = 16;
const CATCH_BYTES = 8;

/** The work that may still be done, for all files together. */
export interface CodeBudget {
  /** Members of classes that may still be read. */
  members: number;
  /** Units of code that may still be searched for calls. */
  units: number;
  /** Units of code in which values may still be followed. */
  followed: number;
}

/** A method that is defined in the file. */
export interface DexMethod {
  readonly index: number;
  /** Offset of its code. */
  readonly code: number;
}

/** All methods that a dex file defines. */
export class DexMethods {
  constructor(private readonly dex: DexCode) {}

  /**
   * All methods that have code.
   * @param onStaticField called with the index and the access flags of each static field, before the methods of its class
   * @returns false when the budget was spent before the end
   * @throws MalformedError
   */
  *all(budget: CodeBudget, onStaticField: (index: number, flags: number) => void): Generator<DexMethod, boolean> {
    const { count, at } = this.dex.classes;
    for (let index = 0; index < count; index++) {
      const data = this.dex.reader.u32(at + index * CLASS_BYTES + CLASS_DATA_AT);
      if (--budget.members < 0) return false;
      if (data !== 0) yield* this.ofClass(data, budget, onStaticField);
      if (budget.members < 0) return false;
    }
    return true;
  }

  /** Fields come first; each index is the difference from the one before. */
  private *ofClass(data: number, budget: CodeBudget, onStaticField: (index: number, flags: number) => void): Generator<DexMethod> {
    const cursor = { at: data };
    const next = (): number => this.dex.uleb(cursor);
    const [statics, instances, direct, virtual] = [next(), next(), next(), next()];
    for (let field = 0, index = 0; field < statics + instances; field++) {
      if (--budget.members < 0) return;
      index += next();
      const flags = next();
      if (field < statics) onStaticField(index, flags);
    }
    for (const count of [direct, virtual]) {
      for (let method = 0, index = 0; method < count; method++) {
        if (--budget.members < 0) return;
        index += next();
        next();
        const code = next();
        if (code !== 0) yield { index, code };
      }
    }
  }

  /** @throws MalformedError when the code does not lie within the file */
  codeOf({ code }: DexMethod): MethodCode {
    const length = this.dex.reader.u32(code + UNITS_AT);
    this.dex.reader.check(code + CODE_AT, length * 2);
    return new MethodCode(this.dex.reader.bytes, code + CODE_AT, length);
  }

  /**
   * Start of each exception handler, in units from the first instruction.
   * @throws MalformedError
   */
  *handlersOf({ code }: DexMethod): Generator<number> {
    const catches = this.dex.reader.u16(code + CATCHES_AT);
    if (catches === 0) return;
    const length = this.dex.reader.u32(code + UNITS_AT);
    const cursor = { at: code + CODE_AT + (length + (length & 1)) * 2 + catches * CATCH_BYTES };
    const next = (): number => this.dex.uleb(cursor);
    for (let lists = next(); lists > 0; lists--) {
      const types = this.signed(cursor);
      for (let type = 0; type < Math.abs(types); type++) {
        next();
        yield next();
      }
      // There is also a handler for all other exceptions.
      if (types <= 0) yield next();
    }
  }

  private signed(cursor: { at: number }): number {
    const start = cursor.at;
    const value = this.dex.uleb(cursor);
    const isNegative = (this.dex.reader.u8(cursor.at - 1) & 0x40) !== 0;
    return isNegative ? value - 2 ** (7 * (cursor.at - start)) : value;
  }
}
