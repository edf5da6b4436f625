import { type IpAddress, parseIpNetwork } from '../../../plugins/core/ip-address';
import { type AddressRanges, findRange } from '../asn-table';

/** Networks between two pauses: some 10 ms of work, so that the service answers meanwhile. */
const SLICE = 2_000;

interface Range {
  readonly start: bigint;
  /** Inclusive. */
  readonly end: bigint;
}

/** Whether an address lies in any of many networks. */
export interface NetworkSet {
  has(address: IpAddress): boolean;
}

/** @param networks `address/prefix` each, in any order; they may overlap */
export async function createNetworkSet(networks: readonly string[]): Promise<NetworkSet> {
  const ranges: Record<4 | 6, Range[]> = { 4: [], 6: [] };
  for (const [index, text] of networks.entries()) {
    if (index % SLICE === SLICE - 1) await new Promise(setImmediate);
    const network = parseIpNetwork(text);
    if (!network) throw new Error(`network ${index + 1} cannot be read`);
    const { address, prefixLength } = network;
    const size = 1n << BigInt(address.bits - prefixLength);
    ranges[address.version].push({ start: address.value, end: address.value + size - 1n });
  }
  const [v4, v6] = [packed(ranges[4], 1), packed(ranges[6], 4)];
  return { has: (address) => findRange(address.version === 4 ? v4 : v6, address) !== undefined };
}

/** Sorted, with what overlaps or touches put together. */
function merged(ranges: readonly Range[]): Range[] {
  const sorted = [...ranges].sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  const out: Range[] = [];
  for (const range of sorted) {
    const last = out.at(-1);
    if (!last || range.start > last.end + 1n) out.push(range);
    else if (range.end > last.end) out[out.length - 1] = { start: last.start, end: range.end };
  }
  return out;
}

function packed(ranges: readonly Range[], words: 1 | 4): AddressRanges {
  const all = merged(ranges);
  const starts = new Uint32Array(all.length * words);
  const ends = new Uint32Array(all.length * words);
  all.forEach(({ start, end }, row) => {
    for (let word = 0; word < words; word++) {
      const shift = BigInt(32 * (words - 1 - word));
      starts[row * words + word] = Number((start >> shift) & 0xffffffffn);
      ends[row * words + word] = Number((end >> shift) & 0xffffffffn);
    }
  });
  return { words, count: all.length, starts, ends };
}
