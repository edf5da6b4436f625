import { formatIpAddress, type IpAddress } from '../../../plugins/core/access/ip-address';

/** The autonomous system that announces an address. */
export interface AsnFacts {
  readonly number: number;
  /** Organisation name; empty if the source has none. */
  readonly organisation: string;
  /** The largest CIDR block around the address that the source assigns to this network as a whole. */
  readonly network: string;
}

/** Finds the autonomous system of an address. */
export interface AsnTable {
  /** Undefined when no network announces the address. */
  find(address: IpAddress): AsnFacts | undefined;
}

/**
 * Sorted address ranges of one IP version, with one 32-bit word (v4) or four (v6) for each address. Typed arrays hold the 515,000 shipped
 * ranges in 10 MB; an object for each range would take ten times as much.
 */
export interface AddressRanges {
  readonly words: 1 | 4;
  readonly count: number;
  readonly starts: Uint32Array;
  /** Inclusive. */
  readonly ends: Uint32Array;
}

/** Ranges with their autonomous systems. */
export interface AsnRanges extends AddressRanges {
  readonly numbers: Uint32Array;
}

/** The address as big-endian 32-bit words. */
function wordsOf(address: IpAddress): Uint32Array {
  const count = address.bits / 32;
  const words = new Uint32Array(count);
  for (let index = 0; index < count; index++) words[index] = Number((address.value >> BigInt(32 * (count - 1 - index))) & 0xffffffffn);
  return words;
}

/** Negative if the range bound at `row` is below the address, zero if equal. */
function compareBound(bounds: Uint32Array, row: number, words: Uint32Array): number {
  const from = row * words.length;
  for (let index = 0; index < words.length; index++) {
    const difference = (bounds[from + index] ?? 0) - (words[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The row of the range that contains the address. */
export function findRange(ranges: AddressRanges, address: IpAddress): number | undefined {
  const words = wordsOf(address);
  let low = 0;
  let high = ranges.count;
  // Invariant: every range before `low` starts at or below the address, every range from `high` on starts above it.
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBound(ranges.starts, middle, words) <= 0) low = middle + 1;
    else high = middle;
  }
  const row = low - 1;
  return row < 0 || compareBound(ranges.ends, row, words) < 0 ? undefined : row;
}

function boundAt({ words }: AddressRanges, bounds: Uint32Array, row: number): bigint {
  return bounds.subarray(row * words, (row + 1) * words).reduce((value, word) => (value << 32n) | BigInt(word), 0n);
}

/** The block around the address inside its range. A range need not be a block: neighbouring blocks of one network are one range. */
function blockOf(ranges: AddressRanges, row: number, { value, bits }: IpAddress): string {
  const start = boundAt(ranges, ranges.starts, row);
  const end = boundAt(ranges, ranges.ends, row);
  const baseOf = (hostBits: number): bigint => (value >> BigInt(hostBits)) << BigInt(hostBits);
  const fits = (hostBits: number): boolean => baseOf(hostBits) >= start && baseOf(hostBits) + (1n << BigInt(hostBits)) - 1n <= end;
  // Invariant: a block of `least` host bits fits, and one of `most` does not.
  let least = 0;
  let most = bits + 1;
  while (most - least > 1) {
    const middle = (least + most) >>> 1;
    if (fits(middle)) least = middle;
    else most = middle;
  }
  return `${formatIpAddress(baseOf(least), bits)}/${bits - least}`;
}

/** A table over sorted, non-overlapping ranges; `names` maps an AS number to its organisation. */
export function createAsnTable(v4: AsnRanges, v6: AsnRanges, names: ReadonlyMap<number, string>): AsnTable {
  return {
    find(address) {
      const ranges = address.version === 4 ? v4 : v6;
      const row = findRange(ranges, address);
      const number = row === undefined ? undefined : ranges.numbers[row];
      if (row === undefined || number === undefined) return undefined;
      return { number, organisation: names.get(number) ?? '', network: blockOf(ranges, row, address) };
    },
  };
}
