import { type AsnRanges } from './asn-table';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COMMA = 0x2c;
const DOT = 0x2e;
const COLON = 0x3a;
const QUOTE = 0x22;
const ZERO = 0x30;
const NINE = 0x39;

/** Rows between two pauses: about 10 ms of work, so that a process that loads the table stays responsive. */
const ROWS_A_SLICE = 20_000;

/**
 * Reads one CSV of `first,last,number,organisation` rows, sorted by address, in the form of @ip-location-db/asn. v4 addresses are decimal
 * numbers or dotted text, v6 addresses are text. Works on bytes, because half a million `split` calls take five times as long.
 * @param names receives the organisation of each AS number; the first row that has one wins
 * @throws Error naming the row when a row is malformed or out of order
 */
export async function parseAsnCsv(csv: Buffer, version: 4 | 6, names: Map<number, string>): Promise<AsnRanges> {
  const words = version === 4 ? 1 : 4;
  const rows = countRows(csv);
  const starts = new Uint32Array(rows * words);
  const ends = new Uint32Array(rows * words);
  const numbers = new Uint32Array(rows);
  const cursor = new CsvCursor(csv);
  const bounds = { starts, ends, words } as const;
  for (let row = 0; row < rows; row++) {
    if (row % ROWS_A_SLICE === ROWS_A_SLICE - 1) await new Promise(setImmediate);
    cursor.readAddress(starts, row * words, words);
    cursor.readAddress(ends, row * words, words);
    const number = cursor.readNumber();
    numbers[row] = number;
    const name = cursor.takeLine();
    if (!names.has(number) && name.length > 0) names.set(number, textOf(name));
    if (cursor.failed || !inOrder(bounds, row)) throw new Error(`row ${row + 1} of the ASN table is malformed or out of order`);
  }
  return { words, count: rows, starts, ends, numbers };
}

function countRows(csv: Buffer): number {
  let rows = 0;
  for (let at = csv.indexOf(NEWLINE); at >= 0; at = csv.indexOf(NEWLINE, at + 1)) rows++;
  return csv.length > 0 && csv[csv.length - 1] !== NEWLINE ? rows + 1 : rows;
}

/** The organisation column, without CSV quoting. */
function textOf(column: Buffer): string {
  if (column[0] !== QUOTE) return column.toString('utf8');
  return column.toString('utf8', 1, column.length - 1).replaceAll('""', '"');
}

/**
 * Each range must start at or before its end, and after the start of the previous range, or a binary search would fail. Two shipped ranges
 * overlap by a /16; the later one counts for the addresses that they share.
 */
function inOrder({ starts, ends, words }: Pick<AsnRanges, 'starts' | 'ends' | 'words'>, row: number): boolean {
  const from = row * words;
  for (let index = from; index < from + words; index++) {
    const difference = (starts[index] ?? 0) - (ends[index] ?? 0);
    if (difference > 0) return false;
    if (difference < 0) break;
  }
  for (let index = from; row > 0 && index < from + words; index++) {
    const difference = (starts[index] ?? 0) - (starts[index - words] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return row === 0;
}

/** The value of a hexadecimal digit, or -1. */
function hexValue(byte: number): number {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

class CsvCursor {
  private at = 0;
  failed = false;
  private readonly groups = new Uint16Array(8);

  constructor(private readonly csv: Buffer) {}

  private byte(): number {
    return this.csv[this.at] ?? NEWLINE;
  }

  private readDigits(): number {
    let value = 0;
    const from = this.at;
    for (let byte = this.byte(); byte >= ZERO && byte <= NINE; byte = this.byte()) {
      value = value * 10 + (byte - ZERO);
      this.at++;
    }
    if (this.at === from || value > 0xffffffff) this.failed = true;
    return value;
  }

  private expect(separator: number): void {
    if (this.byte() !== separator) this.failed = true;
    this.at++;
  }

  /** A number and the comma after it. */
  readNumber(): number {
    const value = this.readDigits();
    this.expect(COMMA);
    return value;
  }

  readAddress(target: Uint32Array, at: number, words: 1 | 4): void {
    if (words === 1) target[at] = this.readV4();
    else this.readV6(target, at);
  }

  /** Decimal, or dotted when a dot follows the first number. */
  private readV4(): number {
    let value = this.readDigits();
    for (let part = 1; part < 4 && this.byte() === DOT; part++) {
      this.at++;
      value = value * 256 + this.readDigits();
    }
    this.expect(COMMA);
    return value;
  }

  /** Groups before and after `::` are collected, then spread over the eight places. */
  private readV6(target: Uint32Array, at: number): void {
    const { groups } = this;
    let count = 0;
    let gap = -1;
    while (this.byte() !== COMMA && count <= 8 && !this.failed) {
      if (this.byte() === COLON) {
        this.at++;
        if (this.byte() === COLON) {
          gap = count;
          this.at++;
        }
        if (this.byte() === COMMA) break;
      }
      groups[count++] = this.readGroup();
    }
    this.at++;
    if (count > 8 || (gap < 0 && count !== 8)) this.failed = true;
    const missing = 8 - count;
    for (let place = 0; place < 8; place++) {
      const value = gap < 0 || place < gap ? groups[place] : place < gap + missing ? 0 : groups[place - missing];
      const word = at + (place >> 1);
      target[word] = place % 2 === 0 ? (value ?? 0) * 0x10000 : (target[word] ?? 0) + (value ?? 0);
    }
  }

  private readGroup(): number {
    let value = 0;
    const from = this.at;
    for (let digit = hexValue(this.byte()); digit >= 0; digit = hexValue(this.byte())) {
      value = value * 16 + digit;
      this.at++;
    }
    if (this.at === from || this.at - from > 4) this.failed = true;
    return value;
  }

  /** The rest of the line without its end. */
  takeLine(): Buffer {
    const end = this.csv.indexOf(NEWLINE, this.at);
    const stop = end < 0 ? this.csv.length : end;
    const line = this.csv.subarray(this.at, this.csv[stop - 1] === CARRIAGE_RETURN ? stop - 1 : stop);
    this.at = stop + 1;
    return line;
  }
}
