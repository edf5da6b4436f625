import { formatIpAddress, type IpAddress } from '../../../plugins/core/access/ip-address';

/** An IPv4 address inside an IPv6 address. */
export interface EmbeddedAddress {
  readonly address: IpAddress;
  /** `nat64`: 64:ff9b::/96 (RFC 6052), the last 32 bits. `6to4`: 2002::/16 (RFC 3056), the 32 bits after the prefix. */
  readonly by: 'nat64' | '6to4';
}

const NAT64_PREFIX = 0x0064_ff9bn << 64n;
const SIX_TO_FOUR_PREFIX = 0x2002n;
const IPV4_MASK = 0xffff_ffffn;

function ipv4Of(value: bigint): IpAddress {
  return { version: 4, bits: 32, value, text: formatIpAddress(value, 32) };
}

/** Undefined for an address without one. */
export function embeddedAddress({ version, value }: IpAddress): EmbeddedAddress | undefined {
  if (version === 4) return undefined;
  if (value >> 32n === NAT64_PREFIX) return { address: ipv4Of(value & IPV4_MASK), by: 'nat64' };
  if (value >> 112n === SIX_TO_FOUR_PREFIX) return { address: ipv4Of((value >> 80n) & IPV4_MASK), by: '6to4' };
  return undefined;
}
