import { type DexCode } from './dex-code';
import { type CodeBudget, type DexMethod, type DexMethods } from './dex-methods';
import { INSTRUCTIONS, isCall, type MethodCode } from './instructions';
import { type ValueSign } from './known-methods';
import { isConstantBytes, joinedOf, loosen, type Value } from './values';

/** Ends the work on a method when its budget is spent. */
export class BudgetSpent extends Error {}

/** Receives a sign and a description of it. */
export type Saw = (sign: ValueSign, what: string) => void;

interface FollowedCall {
  readonly args: readonly (Value | undefined)[];
  readonly saw: Saw;
}

/** Facts of the file that the follower needs. */
export interface FollowedFile {
  readonly dex: DexCode;
  readonly methods: DexMethods;
  /** The effect of a call, by the method's index. Undefined for code that may do anything. */
  readonly callOf: (method: number) => ((call: FollowedCall) => Value | undefined) | undefined;
  /** True for a method with a name whose result may be shown without harm. */
  readonly isHarmless: (method: number) => boolean;
  readonly builders: ReadonlySet<number | undefined>;
  readonly byteArrays: number | undefined;
  readonly fields: StaticFields;
}

/** The values of static fields. */
interface StaticFields {
  get(field: number): Value | undefined;
  /** Called when a class's initialiser sets a field. */
  set(field: number, value: Value | undefined): void;
}

const ACC_FINAL = 0x0010;
/** Indexes of fields in instructions have 16 bits. */
const MAX_FIELDS = 65_536;

/** Units of work for each jump target, and for each call, because the names in a text are compared. */
const COST = { jump: 1, call: 20 } as const;

/**
 * Follows constants through one method, in the order of its instructions. At a jump target nothing is known of any register, so every known
 * value is the one that the register really has.
 */
export class ValueFollower {
  private readonly registers = new Map<number, Value>();
  private readonly code: MethodCode;
  /** Result of the last call. */
  private result: Value | undefined;

  /** @throws MalformedError */
  constructor(
    private readonly file: FollowedFile,
    private readonly method: DexMethod,
    private readonly budget: CodeBudget,
    private readonly saw: Saw,
  ) {
    this.code = file.methods.codeOf(method);
  }

  /** @throws MalformedError, BudgetSpent */
  run(): void {
    const joins = this.findJoins();
    for (let at = 0; at < this.code.length; at += this.code.unitsAt(at)) {
      if (joins[at] === 1) this.registers.clear();
      const opcode = this.code.opcode(at);
      if (isCall(opcode)) this.call(at);
      else this.step(at, opcode);
    }
  }

  /** Instructions that are reached by more than the instruction before. */
  private findJoins(): Uint8Array {
    this.spend(this.code.length);
    const joins = new Uint8Array(this.code.length);
    for (let at = 0; at < this.code.length; at += this.code.unitsAt(at)) {
      for (const jump of this.code.jumpsOf(at)) {
        this.spend(COST.jump);
        joins[at + jump] = 1;
      }
    }
    for (const handler of this.file.methods.handlersOf(this.method)) {
      this.spend(COST.jump);
      joins[handler] = 1;
    }
    return joins;
  }

  private spend(units: number): void {
    this.budget.followed -= units;
    if (this.budget.followed < 0) throw new BudgetSpent();
  }

  private step(at: number, opcode: number): void {
    const value = this.valueAt(at, opcode);
    this.result = undefined;
    this.write(at, INSTRUCTIONS[opcode]?.writes ?? '', value);
    this.change(at, opcode);
  }

  /** The value that an instruction writes into its register, as far as it is known. */
  private valueAt(at: number, opcode: number): Value | undefined {
    const { code, registers } = this;
    switch (opcode) {
      case 0x01: // move, move-object
      case 0x07:
        return registers.get(code.unit(at) >> 12);
      case 0x02:
      case 0x08:
        return registers.get(code.unit(at + 1));
      case 0x03:
      case 0x09:
        return registers.get(code.unit(at + 2));
      case 0x0c: // move-result-object
        return this.result;
      case 0x0d: // move-exception
        return { kind: 'harmless' };
      case 0x12: // const/4
        return { kind: 'number', number: (code.unit(at) << 16) >> 28 };
      case 0x13: // const/16
        return { kind: 'number', number: (code.unit(at + 1) << 16) >> 16 };
      case 0x14: // const
        return { kind: 'number', number: code.int(at + 1) };
      case 0x1a: // const-string
        return { kind: 'text', text: this.file.dex.text(code.unit(at + 1)) };
      case 0x1b: // const-string/jumbo
        return { kind: 'text', text: this.file.dex.text(code.int(at + 1) >>> 0) };
      case 0x22: // new-instance
        return this.file.builders.has(code.unit(at + 1)) ? joinedOf('', true) : undefined;
      case 0x23: // new-array
        return code.unit(at + 1) === this.file.byteArrays ? { kind: 'bytes', isConstant: true, isFilled: false } : undefined;
      case 0x62: // sget-object
        return this.file.fields.get(code.unit(at + 1));
      default:
        return undefined;
    }
  }

  private write(at: number, where: string, value: Value | undefined): void {
    if (where === '') return;
    const place = where.toLowerCase();
    const first = this.code.unit(at);
    const register = place === 'n' ? (first >> 8) & 0xf : place === 'b' ? first >> 8 : this.code.unit(at + 1);
    if (value) this.registers.set(register, value);
    else this.registers.delete(register);
    if (place !== where) this.registers.delete(register + 1);
  }

  /** Effects of an instruction besides writing a register. */
  private change(at: number, opcode: number): void {
    const { code, registers } = this;
    const upper = registers.get(code.unit(at) >> 8);
    switch (opcode) {
      case 0x26: // fill-array-data
        if (upper?.kind === 'bytes') upper.isFilled = true;
        return;
      case 0x4f: // aput-byte
        return this.putByte(registers.get(code.unit(at + 1) & 0xff), upper);
      case 0x4d: // aput-object
        return loosen(upper);
      case 0x5b: // iput-object
        return loosen(registers.get((code.unit(at) >> 8) & 0xf));
      case 0x69: // sput-object
        return this.file.fields.set(code.unit(at + 1), upper);
      case 0x24: // filled-new-array
      case 0x25:
        return this.argumentsOf(at, opcode === 0x25).forEach(loosen);
      case 0xfa: // invoke-polymorphic, invoke-custom
      case 0xfb:
      case 0xfc:
      case 0xfd:
        return this.forget();
      default:
        // return, throw, goto: the next instruction is reached from elsewhere.
        if ((opcode >= 0x0e && opcode <= 0x11) || (opcode >= 0x27 && opcode <= 0x2a)) registers.clear();
    }
  }

  private putByte(array: Value | undefined, byte: Value | undefined): void {
    if (array?.kind !== 'bytes') return;
    array.isFilled = true;
    if (byte?.kind !== 'number') array.isConstant = false;
  }

  private forget(): void {
    for (const value of this.registers.values()) loosen(value);
    this.registers.clear();
  }

  private call(at: number): void {
    this.spend(COST.call);
    const method = this.code.unit(at + 1);
    const args = this.argumentsOf(at, this.code.opcode(at) >= 0x74);
    const known = this.file.callOf(method);
    if (known) this.result = known({ args, saw: this.saw });
    else {
      args.forEach(loosen);
      this.result = this.file.isHarmless(method) ? { kind: 'harmless' } : undefined;
    }
  }

  private argumentsOf(at: number, isRange: boolean): (Value | undefined)[] {
    const first = this.code.unit(at);
    const third = this.code.unit(at + 2);
    if (isRange) return Array.from({ length: first >> 8 }, (_each, index) => this.registers.get(third + index));
    const named = [third & 0xf, (third >> 4) & 0xf, (third >> 8) & 0xf, third >> 12, (first >> 8) & 0xf];
    return named.slice(0, first >> 12).map((register) => this.registers.get(register));
  }
}

/** The constant arrays in a file's static final fields, as far as the code followed so far has shown them. */
export class ConstantFields implements StaticFields {
  private readonly finals = new Uint8Array(MAX_FIELDS);
  private readonly values = new Map<number, Value>();

  /** @param console fields that hold the standard output */
  constructor(console: readonly (number | undefined)[]) {
    for (const field of console) if (field !== undefined) this.values.set(field, { kind: 'console' });
  }

  declare(field: number, flags: number): void {
    if ((flags & ACC_FINAL) !== 0) this.finals[field] = 1;
  }

  get(field: number): Value | undefined {
    const value = this.values.get(field);
    return value && { ...value };
  }

  /** An array of zeros is usually filled later, by another method. */
  set(field: number, value: Value | undefined): void {
    if (this.finals[field] === 1 && value?.kind === 'bytes' && value.isFilled && isConstantBytes(value))
      this.values.set(field, { ...value });
    else loosen(value);
  }
}
