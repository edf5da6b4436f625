/**
 * Dalvik's opcodes in order (source.android.com/docs/core/runtime/dalvik-bytecode). `5x2b` stands for five opcodes that take two units of
 * 16 bits and write a register, whose number is in the upper byte of the first unit (`b`), in its bits 8 to 11 (`n`), or in the second unit
 * (`u`). With a capital letter, the next register is written too. Unused opcodes take one unit.
 */
const OPCODES = [
  // 00: nop, moves, results, returns
  '1x1 1x1n 1x2b 1x3u 1x1N 1x2B 1x3U 1x1n 1x2b 1x3u 1x1b 1x1B 2x1b 4x1',
  // 12: constants
  '1x1n 1x2b 1x3b 1x2b 1x2B 1x3B 1x5B 1x2B 1x2b 1x3b 1x2b',
  // 1d: monitors, casts, new objects and arrays
  '2x1 1x2 1x2n 1x1n 1x2b 1x2n 3x3',
  // 27: throw, jumps, switches, comparisons, tests, unused
  '2x1 1x2 3x3 5x2b 12x2 6x1',
  // 44: elements of arrays, fields of objects, static fields; for each, seven that read and seven that write
  '1x2b 1x2B 5x2b 7x2 1x2n 1x2N 5x2n 7x2 1x2b 1x2B 5x2b 7x2',
  // 6e: calls
  '5x3 1x1 5x3 2x1',
  // 7b: arithmetic with one operand
  '2x1n 2x1N 1x1n 2x1N 1x1n 1x1N 2x1n 1x1N 1x1n 2x1N 1x1n 1x1N 4x1n',
  // 90: arithmetic with two operands, in place, with a number
  '11x2b 11x2B 5x2b 5x2B 11x1n 11x1N 5x1n 5x1N 8x2n 11x2b',
  // e3: unused, calls through handles, handles
  '23x1 2x4 2x3 2x2b',
];

interface Instruction {
  readonly units: number;
  /** The place of the number of the register that it writes; empty when it writes none. */
  readonly writes: string;
}

/** The size of each opcode, and the register that it writes. */
export const INSTRUCTIONS: readonly Instruction[] = OPCODES.join(' ')
  .split(' ')
  .flatMap((run) => {
    const [, count, units, writes = ''] = /^(\d+)x(\d)(\w?)$/.exec(run) ?? [];
    return Array.from({ length: Number(count) }, () => ({ units: Number(units), writes }));
  });

const UNITS = Uint8Array.from(INSTRUCTIONS, ({ units }) => units);

/** The first units of the tables between instructions. */
const TABLES = { packedSwitch: 0x0100, sparseSwitch: 0x0200, arrayData: 0x0300 } as const;

/** True for a call that names its method; the method's index is the second unit. */
export const isCall = (opcode: number): boolean => opcode >= 0x6e && opcode <= 0x78 && opcode !== 0x73;

/** The instructions of one method. Numbers in them may be wrong: anything outside the file reads as zero. */
export class MethodCode {
  /**
   * @param start offset of the first instruction; nothing is copied and no view is made, because an app has 100,000 methods
   * @param length in units of 16 bits
   */
  constructor(
    private readonly bytes: Buffer,
    private readonly start: number,
    readonly length: number,
  ) {}

  unit(at: number): number {
    const byte = this.start + at * 2;
    return (this.bytes[byte] ?? 0) | ((this.bytes[byte + 1] ?? 0) << 8);
  }

  opcode(at: number): number {
    return this.bytes[this.start + at * 2] ?? 0;
  }

  /** A signed number of 32 bits. */
  int(at: number): number {
    return this.unit(at) | (this.unit(at + 1) << 16);
  }

  /** Units from one instruction, or table, to the next; at least one. */
  unitsAt(at: number): number {
    const opcode = this.opcode(at);
    return opcode === 0 ? this.unitsOfTable(at) : (UNITS[opcode] ?? 1);
  }

  private unitsOfTable(at: number): number {
    const first = this.unit(at);
    if (first === TABLES.packedSwitch) return this.unit(at + 1) * 2 + 4;
    if (first === TABLES.sparseSwitch) return this.unit(at + 1) * 4 + 2;
    if (first === TABLES.arrayData) return Math.ceil(((this.int(at + 2) >>> 0) * this.unit(at + 1)) / 2) + 4;
    return 1;
  }

  /** The highest mark of the methods that it calls, by their index; zero when it calls no marked method. */
  highestMark(marks: Uint8Array): number {
    let highest = 0;
    for (let at = 0; at < this.length; at += this.unitsAt(at)) {
      if (isCall(this.opcode(at))) highest = Math.max(highest, marks[this.unit(at + 1)] ?? 0);
    }
    return highest;
  }

  /** Indexes of the texts in it. */
  *texts(): Generator<number> {
    for (let at = 0; at < this.length; at += this.unitsAt(at)) {
      const opcode = this.opcode(at);
      if (opcode === 0x1a) yield this.unit(at + 1);
      else if (opcode === 0x1b) yield this.int(at + 1) >>> 0;
    }
  }

  /** Targets of the jump at this instruction, relative to it. */
  *jumpsOf(at: number): Generator<number> {
    const opcode = this.opcode(at);
    if (opcode === 0x28) yield (this.unit(at) << 16) >> 24;
    else if (opcode === 0x29 || (opcode >= 0x38 && opcode <= 0x3d)) yield this.short(at + 1);
    else if (opcode >= 0x32 && opcode <= 0x37) yield this.short(at + 1);
    else if (opcode === 0x2a) yield this.int(at + 1);
    else if (opcode === 0x2b || opcode === 0x2c) yield* this.targetsOf(at + this.int(at + 1));
  }

  private short(at: number): number {
    return (this.unit(at) << 16) >> 16;
  }

  private *targetsOf(table: number): Generator<number> {
    const count = this.unit(table + 1);
    const first = table + (this.unit(table) === TABLES.packedSwitch ? 4 : 2 + count * 2);
    for (let index = 0; index < count; index++) yield this.int(first + index * 2);
  }
}
