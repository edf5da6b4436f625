import { BlockList } from 'node:net';
import {
  formatIpAddress,
  type IpAddress,
  type IpNetwork,
  parseIpAddress,
  parseIpNetwork,
} from '../../../../plugins/core/access/ip-address';
import { classifyAddress } from '../../../kit/upstream/reserved-addresses';
import { type IpAnswer } from '../ip-answer';
import { LIST_DEFINITIONS, type ListDefinition, type ListedAs } from './list-definitions';
import { type KeptList } from './list-file';

export interface FlagAccuracy {
  readonly list: string;
  readonly flag: ListDefinition['says'];
  /** Addresses of the list that were looked up: the first and last of up to `sample` of its networks. */
  readonly listed: number;
  /** Number of them that have the flag. */
  readonly flagged: number;
  /** Number of them that have the flag from shipped and configured sources other than lists. */
  readonly flagged_without_lists: number;
  /** Neighbours of those networks that no list with this flag names. */
  readonly unlisted: number;
  /** Number of them that a list flagged nevertheless. */
  readonly wrongly_flagged: number;
}

export interface MeasureOptions {
  readonly kept: ReadonlyMap<ListDefinition['id'], KeptList>;
  readonly lookUp: (address: IpAddress) => Promise<IpAnswer>;
  /** The same without lists. */
  readonly lookUpWithoutLists: (address: IpAddress) => Promise<IpAnswer>;
  /** Number of networks of each list, spread evenly over it. */
  readonly sample: number;
}

function networkOf(text: string): IpNetwork {
  const network = parseIpNetwork(text);
  if (!network) throw new Error('a stored list contains something other than networks');
  return network;
}

const familyOf = ({ version }: IpAddress): 'ipv4' | 'ipv6' => (version === 4 ? 'ipv4' : 'ipv6');

/** Node's own set of networks, which shares no code with ours. */
function oracleOf(says: ListDefinition['says'], kept: MeasureOptions['kept']): BlockList {
  const oracle = new BlockList();
  for (const { id } of LIST_DEFINITIONS.filter((each) => each.says === says)) {
    for (const text of kept.get(id)?.networks ?? []) {
      const { address, prefixLength } = networkOf(text);
      oracle.addSubnet(address.text, prefixLength, familyOf(address));
    }
  }
  return oracle;
}

/** Addresses at the edges of a network: its first and last address, and those next to it. */
function edgesOf({ address, prefixLength }: IpNetwork): { readonly inside: readonly IpAddress[]; readonly beside: readonly IpAddress[] } {
  const size = 1n << BigInt(address.bits - prefixLength);
  const at = (value: bigint): IpAddress[] => {
    if (value < 0n || value >> BigInt(address.bits) !== 0n) return [];
    const found = parseIpAddress(formatIpAddress(value, address.bits));
    return found && classifyAddress(found.text)?.isReserved === false ? [found] : [];
  };
  const [first, last] = [address.value, address.value + size - 1n];
  return { inside: first === last ? at(first) : [...at(first), ...at(last)], beside: [...at(first - 1n), ...at(last + 1n)] };
}

/** Whether a look-up says about the address what the list says. */
function isSaid({ flags, is_anycast }: IpAnswer, says: ListedAs): boolean {
  return (says === 'anycast' ? is_anycast : flags[says]) === true;
}

/** Whether a look-up says so because of a list. */
function isSaidByList(answer: IpAnswer, says: ListedAs, kept: ReadonlySet<string>): boolean {
  if (says === 'anycast') return isSaid(answer, says);
  return answer.risk_signals.some((signal) => signal.id === says && kept.has(signal.source));
}

async function measureList({ id, says }: ListDefinition, options: MeasureOptions): Promise<FlagAccuracy> {
  const { kept, lookUp, lookUpWithoutLists, sample } = options;
  const oracle = oracleOf(says, kept);
  const networks = kept.get(id)?.networks ?? [];
  const step = Math.max(1, networks.length / sample);
  const counts = { listed: 0, flagged: 0, flagged_without_lists: 0, unlisted: 0, wrongly_flagged: 0 };
  for (let place = 0; place < networks.length; place += step) {
    const { inside, beside } = edgesOf(networkOf(networks[Math.floor(place)] ?? ''));
    for (const address of inside) {
      counts.listed += 1;
      if (isSaid(await lookUp(address), says)) counts.flagged += 1;
      if (isSaid(await lookUpWithoutLists(address), says)) counts.flagged_without_lists += 1;
    }
    for (const address of beside.filter((each) => !oracle.check(each.text, familyOf(each)))) {
      counts.unlisted += 1;
      // The network may be a provider's nevertheless. Only a list's statement is wrong.
      if (isSaidByList(await lookUp(address), says, new Set(kept.keys()))) counts.wrongly_flagged += 1;
    }
  }
  return { list: id, flag: says, ...counts };
}

/** Compares the flags of look-ups with the lists that they are made from, list by list. */
export async function measureFlags(options: MeasureOptions): Promise<FlagAccuracy[]> {
  const measured: FlagAccuracy[] = [];
  for (const definition of LIST_DEFINITIONS) if (options.kept.has(definition.id)) measured.push(await measureList(definition, options));
  return measured;
}
