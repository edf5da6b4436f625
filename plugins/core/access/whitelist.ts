import { domainToASCII } from 'node:url';
import { formatIpAddress, networkValue, parseIpAddress, parseIpNetwork, type IpNetwork } from './ip-address';

/** One rule in canonical text: an address, a network, a host or `*.host`. */
export interface WhitelistRule {
  readonly kind: 'ip' | 'domain';
  readonly text: string;
}

export type RuleParse = { ok: true; rule: WhitelistRule } | { ok: false; message: string };

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** RFC 1035. */
const MAX_HOST = 253;

/**
 * ASCII characters that are not in any host name. A URL parser would split the text there, and `example.com/admin` would admit all of
 * example.com.
 */
const NO_HOST_CHARACTER = /[^a-z0-9._\u0080-\u{10ffff}-]/iu;

/** Lower case, punycode, no trailing dot. Undefined when the text is not a host name. */
export function normaliseHost(text: string): string | undefined {
  const written = text.trim().replace(/\.$/, '');
  // The time that punycode takes grows with the square of the length.
  if (written.length > MAX_HOST || NO_HOST_CHARACTER.test(written)) return undefined;
  const host = domainToASCII(written).toLowerCase();
  if (host === '' || host.length > MAX_HOST) return undefined;
  return host.split('.').every((label) => LABEL.test(label)) ? host : undefined;
}

function isAddressText(text: string): boolean {
  return /^[\d.]+(\/\d*)?$/.test(text) || (text.includes(':') && !text.includes('//'));
}

/** @returns what is wrong if the text is not a network, or has host bits set */
function readNetwork(text: string): IpNetwork | string {
  const network = parseIpNetwork(text);
  if (!network) return `"${text}" is not an IP address or CIDR network`;
  const { address, prefixLength } = network;
  const start = networkValue(address, prefixLength);
  if (start === address.value) return network;
  return `"${text}" has host bits set; did you mean "${formatIpAddress(start, address.bits)}/${prefixLength}"?`;
}

function parseIpRule(text: string): RuleParse {
  const network = readNetwork(text);
  if (typeof network === 'string') return { ok: false, message: network };
  const { address, prefixLength } = network;
  return { ok: true, rule: { kind: 'ip', text: prefixLength === address.bits ? address.text : `${address.text}/${prefixLength}` } };
}

/** Longest text worth echoing in a message. */
const MAX_ECHO = 80;

/** Parses one rule as a customer writes it. The message names the rule and what is wrong with it. */
export function parseWhitelistRule(written: string): RuleParse {
  const text = written.trim();
  const shown = text.slice(0, MAX_ECHO);
  if (text === '') return { ok: false, message: 'a whitelist rule is empty' };
  if (isAddressText(text)) return parseIpRule(shown);
  const wildcard = text.startsWith('*.');
  const host = normaliseHost(wildcard ? text.slice(2) : text);
  // `0x7f.1` and full-width digits become an address, which the author of the rule cannot see.
  if (!host || parseIpAddress(host))
    return { ok: false, message: `"${shown}" is not an IP address, a CIDR network, a host name or "*." with a host name` };
  if (!host.includes('.') && wildcard) return { ok: false, message: `"${shown}" would admit a whole top-level domain` };
  return { ok: true, rule: { kind: 'domain', text: wildcard ? `*.${host}` : host } };
}

/** Networks by prefix length, longest first: their leading bits and the rule's text. */
type Networks = readonly { readonly shift: bigint; readonly rules: ReadonlyMap<string, string> }[];

/** Rules compiled so that a match costs the number of different prefix lengths, not the number of rules. */
export interface Whitelist {
  readonly size: number;
  readonly networks: Readonly<Record<4 | 6, Networks>>;
  readonly hosts: ReadonlySet<string>;
  /** The part after `*.`. */
  readonly parents: ReadonlySet<string>;
}

/** Text, because a Map hashes a bigint by its low 64 bits alone, which all addresses that end in `::1` share. */
function leadingBits(value: bigint, shift: bigint): string {
  return (value >> shift).toString(36);
}

type NetworksByLength = Map<number, Map<string, string>>;

/**
 * @param texts rules as stored
 * @throws Error when a rule is malformed, because a broken whitelist must not admit anyone
 */
export function compileWhitelist(texts: readonly string[]): Whitelist {
  const networks: Record<4 | 6, NetworksByLength> = { 4: new Map(), 6: new Map() };
  const hosts = new Set<string>();
  const parents = new Set<string>();
  for (const text of texts) {
    // Each rule is parsed once, because parsing takes most of the time.
    const network = isAddressText(text) ? readNetwork(text) : undefined;
    if (typeof network === 'object') addNetwork(networks[network.address.version], network, text);
    else addHost({ hosts, parents }, text);
  }
  return { size: texts.length, networks: { 4: byLength(networks[4], 32), 6: byLength(networks[6], 128) }, hosts, parents };
}

function addNetwork(networks: NetworksByLength, { address, prefixLength }: IpNetwork, text: string): void {
  let rules = networks.get(prefixLength);
  if (!rules) networks.set(prefixLength, (rules = new Map<string, string>()));
  rules.set(leadingBits(address.value, BigInt(address.bits - prefixLength)), text);
}

function addHost({ hosts, parents }: { hosts: Set<string>; parents: Set<string> }, text: string): void {
  const parsed = parseWhitelistRule(text);
  if (!parsed.ok) throw new Error(`stored whitelist rule cannot be read: ${parsed.message}`);
  const host = parsed.rule.text;
  if (host.startsWith('*.')) parents.add(host.slice(2));
  else hosts.add(host);
}

function byLength(networks: NetworksByLength, bits: number): Networks {
  return [...networks].sort(([a], [b]) => b - a).map(([length, rules]) => ({ shift: BigInt(bits - length), rules }));
}

/** The caller, as whitelist rules see it. */
export interface Caller {
  /** From Kong's trusted-proxy logic. */
  readonly address: string;
  readonly originHost: string | undefined;
}

export type WhitelistVerdict = { admitted: true; rule: string | undefined } | { admitted: false };

/** No rules admit everyone; otherwise the caller must match at least one. */
export function checkWhitelist(whitelist: Whitelist, caller: Caller): WhitelistVerdict {
  if (whitelist.size === 0) return { admitted: true, rule: undefined };
  const rule = matchAddress(whitelist, caller.address) ?? matchHost(whitelist, caller.originHost);
  return rule === undefined ? { admitted: false } : { admitted: true, rule };
}

function matchAddress(whitelist: Whitelist, text: string): string | undefined {
  if (whitelist.networks[4].length + whitelist.networks[6].length === 0) return undefined;
  const address = parseIpAddress(text);
  if (!address) return undefined;
  for (const { shift, rules } of whitelist.networks[address.version]) {
    const rule = rules.get(leadingBits(address.value, shift));
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** Whether any rule depends on the origin of a page. */
export function hasHostRules({ hosts, parents }: Whitelist): boolean {
  return hosts.size > 0 || parents.size > 0;
}

/** The domain rule that names a host. */
export function matchHost(whitelist: Whitelist, host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  if (whitelist.hosts.has(host)) return host;
  if (whitelist.parents.size === 0) return undefined;
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const parent = host.slice(dot + 1);
    if (whitelist.parents.has(parent)) return `*.${parent}`;
  }
  return undefined;
}

/** A host, a trailing dot and a port. */
const MAX_AUTHORITY = MAX_HOST + '.:65535'.length;

/**
 * The host that domain rules are compared to: Origin's, else Referer's. A present Origin decides alone, so `null` never matches. An empty
 * header counts as absent, because nginx's variables do not distinguish the two.
 * @param origin the header's value, undefined when absent, an array when repeated
 */
export function originHostOf(
  origin: string | readonly string[] | undefined,
  referer: string | readonly string[] | undefined,
): string | undefined {
  const source = origin === undefined || origin === '' ? referer : origin;
  if (typeof source !== 'string') return undefined;
  // Cut out first, because this runs for every request, and the URL parser takes 20 ms for a long host.
  const authority = /^https?:\/\/([^/?#\\]*)/i.exec(source)?.[1];
  if (authority === undefined || authority.length > MAX_AUTHORITY) return undefined;
  try {
    return normaliseHost(new URL(`https://${authority}`).hostname);
  } catch {
    return undefined;
  }
}
