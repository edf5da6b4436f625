import { type IpAddress, type IpNetwork, parseIpNetwork } from '../../../../plugins/core/access/ip-address';
import { type AddressRanges, findRange } from '../asn-table';

/** Networks between two pauses: some milliseconds of work, so that the service stays responsive. */
const SLICE = 1_000;

/** Finds out whether an address is in any of many networks. */
export interface NetworkSet {
  has(address: IpAddress): boolean;
}

/** Pauses after every `every` calls. */
function createPauses(every: number): () => Promise<void> | undefined {
  let calls = 0;
  return () => (++calls % every === 0 ? nextTurn() : undefined);
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** @param networks `address/prefix` each, in any order; they may overlap */
export async function createNetworkSet(networks: readonly string[]): Promise<NetworkSet> {
  const pause = createPauses(SLICE);
  const unsorted = { 4: new Ranges(1, networks.length), 6: new Ranges(4, networks.length) };
  for (const [index, text] of networks.entries()) {
    const network = parseIpNetwork(text);
    if (!network) throw new Error(`network ${index + 1} cannot be read`);
    unsorted[network.address.version].add(network);
    await pause();
  }
  const [v4, v6] = [await packed(unsorted[4]), await packed(unsorted[6])];
  return { has: (address) => findRange(address.version === 4 ? v4 : v6, address) !== undefined };
}

/**
 * The first and last address of each network as 32-bit words. As objects, a long list would be garbage whose collection holds the process
 * up.
 */
class Ranges {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  count = 0;

  constructor(
    readonly words: 1 | 4,
    most: number,
  ) {
    this.starts = new Uint32Array(most * words);
    this.ends = new Uint32Array(most * words);
  }

  add({ address: { value, bits }, prefixLength }: IpNetwork): void {
    const end = value + (1n << BigInt(bits - prefixLength)) - 1n;
    for (let word = 0; word < this.words; word++) {
      const shift = BigInt(32 * (this.words - 1 - word));
      this.starts[this.count * this.words + word] = Number((value >> shift) & 0xffffffffn);
      this.ends[this.count * this.words + word] = Number((end >> shift) & 0xffffffffn);
    }
    this.count += 1;
  }
}

type CompareRows = (one: Uint32Array, a: number, other: Uint32Array, b: number) => number;

/** Negative if row `a` of the first is smaller than row `b` of the second. */
function comparisonOf(words: number): CompareRows {
  return (one, a, other, b) => {
    for (let word = 0; word < words; word++) {
      const difference = (one[a * words + word] ?? 0) - (other[b * words + word] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

/** The rows ordered by their start, by merging runs in pairs: sorting them all at once would hold everything else up. */
async function sortedRows({ starts, words, count }: Ranges): Promise<Uint32Array> {
  const pause = createPauses(10 * SLICE);
  const compareRows = comparisonOf(words);
  const compare = (a: number, b: number): number => compareRows(starts, a, starts, b);
  let from = new Uint32Array(count);
  for (let row = 0; row < count; row++) from[row] = row;
  for (let start = 0; start < count; start += SLICE) {
    from.subarray(start, start + SLICE).sort(compare);
    await nextTurn();
  }
  let into = new Uint32Array(count);
  for (let run = SLICE; run < count; run *= 2) {
    for (let place = 0; place < count; place += 2 * run) {
      const [middle, end] = [Math.min(place + run, count), Math.min(place + 2 * run, count)];
      let [left, right] = [place, middle];
      for (let out = place; out < end; out++) {
        const isLeft = left < middle && (right >= end || compare(from[left] ?? 0, from[right] ?? 0) <= 0);
        into[out] = from[isLeft ? left++ : right++] ?? 0;
        const turn = pause();
        if (turn) await turn;
      }
    }
    [from, into] = [into, from];
  }
  return from;
}

/** The ranges sorted, with overlapping ones merged. */
async function packed(ranges: Ranges): Promise<AddressRanges> {
  const { words } = ranges;
  const compareRows = comparisonOf(words);
  const pause = createPauses(10 * SLICE);
  const rows = await sortedRows(ranges);
  const starts = new Uint32Array(rows.length * words);
  const ends = new Uint32Array(rows.length * words);
  let count = 0;
  for (const row of rows) {
    const isOver = count > 0 && compareRows(ranges.starts, row, ends, count - 1) <= 0;
    if (!isOver) starts.set(ranges.starts.subarray(row * words, (row + 1) * words), count++ * words);
    const isLonger = !isOver || compareRows(ranges.ends, row, ends, count - 1) > 0;
    if (isLonger) ends.set(ranges.ends.subarray(row * words, (row + 1) * words), (count - 1) * words);
    await pause();
  }
  return { words, count, starts: starts.slice(0, count * words), ends: ends.slice(0, count * words) };
}
