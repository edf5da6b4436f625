import { formatIpAddress, parseIpAddress, parseIpNetwork, type IpAddress } from '../../../plugins/core/access/ip-address';

/** `global` rows are exceptions inside a reserved block. `embedded` rows carry a v4 address in their last 32 bits. */
type Kind = 'reserved' | 'private' | 'loopback' | 'linkLocal' | 'multicast' | 'unspecified' | 'global' | 'embedded';

/**
 * The IANA special-purpose address registries (RFC 6890 and successors), with the multicast blocks and the deprecated site-local one.
 * The most specific row wins. An address in no row is globally reachable.
 */
const ROWS: readonly (readonly [network: string, kind: Kind, name: string])[] = [
  ['0.0.0.0/8', 'reserved', 'this network'],
  ['0.0.0.0/32', 'unspecified', 'unspecified'],
  ['10.0.0.0/8', 'private', 'private use'],
  ['100.64.0.0/10', 'reserved', 'shared address space'],
  ['127.0.0.0/8', 'loopback', 'loopback'],
  ['169.254.0.0/16', 'linkLocal', 'link local'],
  ['172.16.0.0/12', 'private', 'private use'],
  ['192.0.0.0/24', 'reserved', 'IETF protocol assignments'],
  ['192.0.0.9/32', 'global', 'port control protocol anycast'],
  ['192.0.0.10/32', 'global', 'TURN anycast'],
  ['192.0.2.0/24', 'reserved', 'documentation'],
  ['192.31.196.0/24', 'global', 'AS112-v4'],
  ['192.52.193.0/24', 'global', 'AMT'],
  ['192.88.99.0/24', 'reserved', 'deprecated 6to4 relay anycast'],
  ['192.168.0.0/16', 'private', 'private use'],
  ['192.175.48.0/24', 'global', 'direct delegation AS112 service'],
  ['198.18.0.0/15', 'reserved', 'benchmarking'],
  ['198.51.100.0/24', 'reserved', 'documentation'],
  ['203.0.113.0/24', 'reserved', 'documentation'],
  ['224.0.0.0/4', 'multicast', 'multicast'],
  ['240.0.0.0/4', 'reserved', 'reserved'],
  ['255.255.255.255/32', 'reserved', 'limited broadcast'],
  ['::/128', 'unspecified', 'unspecified'],
  ['::1/128', 'loopback', 'loopback'],
  // No longer in a registry. A translator of RFC 2765 would take it for the v4 address inside.
  ['::ffff:0:0:0/96', 'reserved', 'deprecated IPv4-translated'],
  ['64:ff9b::/96', 'embedded', 'IPv4-IPv6 translation'],
  ['64:ff9b:1::/48', 'reserved', 'local-use IPv4-IPv6 translation'],
  ['100::/64', 'reserved', 'discard only'],
  ['100:0:0:1::/64', 'reserved', 'dummy prefix'],
  ['2001::/23', 'reserved', 'IETF protocol assignments'],
  ['2001:1::1/128', 'global', 'port control protocol anycast'],
  ['2001:1::2/128', 'global', 'TURN anycast'],
  ['2001:1::3/128', 'global', 'DNS-SD service registration anycast'],
  ['2001:3::/32', 'global', 'AMT'],
  ['2001:4:112::/48', 'global', 'AS112-v6'],
  ['2001:20::/28', 'global', 'ORCHIDv2'],
  ['2001:30::/28', 'global', 'drone remote ID'],
  ['2001:db8::/32', 'reserved', 'documentation'],
  ['2002::/16', 'reserved', '6to4'],
  ['2620:4f:8000::/48', 'global', 'direct delegation AS112 service'],
  ['3fff::/20', 'reserved', 'documentation'],
  ['5f00::/16', 'reserved', 'segment routing SIDs'],
  ['fc00::/7', 'private', 'unique local'],
  ['fe80::/10', 'linkLocal', 'link local'],
  ['fec0::/10', 'reserved', 'deprecated site local'],
  ['ff00::/8', 'multicast', 'multicast'],
];

interface Row {
  readonly shift: bigint;
  readonly leading: bigint;
  readonly kind: Kind;
  readonly name: string;
}

function compile(version: 4 | 6): readonly Row[] {
  return ROWS.map(([text, kind, name]) => {
    const network = parseIpNetwork(text);
    if (!network) throw new Error(`the table of special addresses has a malformed row: ${text}`);
    const shift = BigInt(network.address.bits - network.prefixLength);
    return {
      version: network.address.version,
      prefixLength: network.prefixLength,
      shift,
      leading: network.address.value >> shift,
      kind,
      name,
    };
  })
    .filter((row) => row.version === version)
    .sort((a, b) => b.prefixLength - a.prefixLength);
}

const TABLE: Readonly<Record<4 | 6, readonly Row[]>> = { 4: compile(4), 6: compile(6) };

/** The entry of an address in the special-purpose registries. */
export interface AddressClass {
  /** Canonical text. A v4-mapped address is its v4 address. */
  readonly text: string;
  readonly version: 4 | 6;
  /** True when the address is not globally reachable. Private, loopback, link-local and multicast addresses are reserved too. */
  readonly isReserved: boolean;
  /** RFC 1918 and unique local addresses. */
  readonly isPrivate: boolean;
  readonly isLoopback: boolean;
  readonly isLinkLocal: boolean;
  readonly isMulticast: boolean;
  readonly isUnspecified: boolean;
  /** The registry's name of the block, or null for ordinary addresses. */
  readonly block: string | null;
}

const IPV4_MASK = 0xffff_ffffn;

function classify(address: IpAddress): Omit<AddressClass, 'text' | 'version'> {
  const row = TABLE[address.version].find(({ shift, leading }) => address.value >> shift === leading);
  if (row?.kind === 'embedded') {
    // Judged as the v4 address inside, because a translator would send the packet there.
    const value = address.value & IPV4_MASK;
    return classify({ version: 4, bits: 32, value, text: formatIpAddress(value, 32) });
  }
  const kind = row?.kind;
  return {
    isReserved: kind !== undefined && kind !== 'global',
    isPrivate: kind === 'private',
    isLoopback: kind === 'loopback',
    isLinkLocal: kind === 'linkLocal',
    isMulticast: kind === 'multicast',
    isUnspecified: kind === 'unspecified',
    block: row?.name ?? null,
  };
}

/** Undefined when the text is not an address in strict notation (no octal or short v4, no zone, no port). */
export function classifyAddress(text: string): AddressClass | undefined {
  const address = parseIpAddress(text);
  return address && { text: address.text, version: address.version, ...classify(address) };
}

/** Matches the canonical text of an address in ::/96. */
const V4_COMPATIBLE = /^::([0-9a-f]{1,4}:)?[0-9a-f]{1,4}$/;

/**
 * True when the address cannot be a host on the Internet: reserved addresses, and the v4-compatible ones (RFC 4291, deprecated), which no
 * registry lists and an old tunnel would unwrap.
 */
export function isUnsafeTarget({ isReserved, text }: AddressClass): boolean {
  return isReserved || V4_COMPATIBLE.test(text);
}
