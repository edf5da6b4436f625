import { formatIpAddress, networkValue, parseIpNetwork } from '../../../../plugins/core/access/ip-address';
import { type ListDefinition } from './list-definitions';

/** A wider network is never a single provider's: a list with one would flag a large part of the internet. */
const MIN_PREFIX = { 4: 8, 6: 16 } as const;

/** The fetched text is not the list. The message names a line or a member, never its content. */
export class BadList extends Error {
  override readonly name = 'BadList';
}

/** A network as `address/prefix` with its host bits cleared. @throws BadList */
function readNetwork(text: string, place: string): string {
  const network = parseIpNetwork(text.trim());
  if (!network) throw new BadList(`${place} is not an address or network`);
  const { address, prefixLength } = network;
  if (prefixLength < MIN_PREFIX[address.version]) throw new BadList(`${place} is a network too wide to belong to a list`);
  return `${formatIpAddress(networkValue(address, prefixLength), address.bits)}/${prefixLength}`;
}

function fromLines(text: string, column: (line: string) => string): string[] {
  const networks: string[] = [];
  text.split('\n').forEach((line, index) => {
    const plain = line.trim();
    if (plain !== '' && !plain.startsWith('#')) networks.push(readNetwork(column(plain), `line ${index + 1}`));
  });
  return networks;
}

/** Names used by Amazon and Google. */
const NETWORK_MEMBERS = ['ip_prefix', 'ipv6_prefix', 'ipv4Prefix', 'ipv6Prefix'];
const LIST_MEMBERS = ['prefixes', 'ipv6_prefixes'];

function fromJson(text: string): string[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw new BadList('it is not JSON', { cause });
  }
  if (typeof document !== 'object' || document === null) throw new BadList('it is not a JSON object');
  return LIST_MEMBERS.flatMap((member) => {
    const entries: unknown = Reflect.get(document, member);
    return Array.isArray(entries) ? entries.map((entry, index) => networkOf(entry, `${member}[${index}]`)) : [];
  });
}

function networkOf(entry: unknown, place: string): string {
  const values = typeof entry === 'object' && entry !== null ? NETWORK_MEMBERS.map((name): unknown => Reflect.get(entry, name)) : [];
  const network = values.find((value) => typeof value === 'string');
  if (network === undefined) throw new BadList(`${place} names no network`);
  return readNetwork(network, place);
}

/** The networks of one fetched file. @throws BadList unless everything in it is a list of this format */
export function readNetworks(text: string, format: ListDefinition['format']): string[] {
  switch (format) {
    case 'lines':
      return fromLines(text, (line) => line);
    case 'csv':
      return fromLines(text, (line) => line.split(',', 1)[0] ?? '');
    case 'json':
      return fromJson(text);
  }
}
