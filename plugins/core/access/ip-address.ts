import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address as a number of `bits` bits. A v4-mapped v6 address is its v4 address. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly bits: 32 | 128;
  readonly value: bigint;
  /** Canonical text (RFC 5952 for v6). */
  readonly text: string;
}

export interface IpNetwork {
  readonly address: IpAddress;
  /** 0 to `address.bits`. */
  readonly prefixLength: number;
}

/** Bytes before the v4 address in `::ffff:a.b.c.d`. */
const MAPPED_PREFIX_BITS = 96;

/** Converted through text: adding byte by byte would create 32 intermediate numbers. */
function valueOf(bytes: readonly number[]): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** ipaddr.js reads this spelling of the deprecated v4-compatible block as a v4-mapped address; written out, it does not. */
const V4_COMPATIBLE = /^::(?=\d+\.)/;

/** Parses strictly: no octal or short v4 forms, no zone id, no port. Undefined when the text is not an address. */
export function parseIpAddress(text: string): IpAddress | undefined {
  // node:net decides what is an address: ipaddr.js alone also accepts `127.1` and `0x7f.1`.
  if (isIP(text) === 0 || text.includes('%')) return undefined;
  const parsed = ipaddr.process(text.replace(V4_COMPATIBLE, '0:0:0:0:0:0:'));
  return parsed.kind() === 'ipv4'
    ? { version: 4, bits: 32, value: valueOf(parsed.toByteArray()), text: parsed.toString() }
    : { version: 6, bits: 128, value: valueOf(parsed.toByteArray()), text: formatV6(parsed as ipaddr.IPv6) };
}

function formatV6(address: ipaddr.IPv6): string {
  return address.toRFC5952String();
}

/** The address that has this value, as canonical text. */
export function formatIpAddress(value: bigint, bits: 32 | 128): string {
  const bytes = Array.from({ length: bits / 8 }, (_, index) => Number((value >> BigInt(bits - 8 * (index + 1))) & 0xffn));
  const address = ipaddr.fromByteArray(bytes);
  return address.kind() === 'ipv4' ? address.toString() : formatV6(address as ipaddr.IPv6);
}

/** The network's address with every host bit cleared. */
export function networkValue(address: IpAddress, prefixLength: number): bigint {
  const hostBits = BigInt(address.bits - prefixLength);
  return (address.value >> hostBits) << hostBits;
}

/** Parses `address` or `address/prefix`. A v4-mapped network of /96 or longer is the v4 network. Undefined when malformed. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/');
  const address = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  if (!address) return undefined;
  if (slash < 0) return { address, prefixLength: address.bits };
  const digits = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const mapped = address.version === 4 && text.includes(':');
  const prefixLength = Number(digits) - (mapped ? MAPPED_PREFIX_BITS : 0);
  return prefixLength >= 0 && prefixLength <= address.bits ? { address, prefixLength } : undefined;
}
