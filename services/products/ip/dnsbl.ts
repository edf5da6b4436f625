import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { type DnsResolver, isNoRecord, reversedLabels } from './dns-resolver';
import { type RiskSignal } from './scores';

export type DnsblListing = Extract<RiskSignal['id'], `dnsbl_${string}`>;

/**
 * Return codes of Spamhaus ZEN, product contract of api-ip. 127.255.255.252, .254 and .255 report errors of the query and are not listings.
 */
const LISTINGS: Readonly<Record<string, DnsblListing>> = {
  '127.0.0.2': 'dnsbl_sbl',
  '127.0.0.3': 'dnsbl_css',
  '127.0.0.4': 'dnsbl_xbl',
  '127.0.0.9': 'dnsbl_drop',
  '127.0.0.10': 'dnsbl_pbl',
  '127.0.0.11': 'dnsbl_pbl',
};

const QUERY_ERROR = /^127\.255\.255\./;

/** The list refused the query (wrong zone, public resolver, too many queries). */
export class DnsblRefused extends Error {
  override readonly name = 'DnsblRefused';
}

/** The name at which a block list has its entry for an address. */
export function dnsblName(address: IpAddress, zone: string): string {
  return `${reversedLabels(address)}.${zone}`;
}

/** The listings among the addresses that a block list returned. Codes that the contract does not name are ignored. */
export function readListings(answers: readonly string[]): DnsblListing[] {
  return [...new Set(answers.flatMap((answer) => LISTINGS[answer] ?? []))];
}

/**
 * @param zone for example `zen.spamhaus.org`, or `<key>.zen.dq.spamhaus.net` for holders of a data query key
 * @throws DnsblRefused, or the resolver's error
 */
export async function findListings(address: IpAddress, zone: string, resolver: DnsResolver): Promise<DnsblListing[]> {
  let answers: string[];
  try {
    answers = await resolver.resolve4(dnsblName(address, zone));
  } catch (error) {
    if (isNoRecord(error)) return [];
    throw error;
  }
  const listings = readListings(answers);
  if (listings.length === 0 && answers.some((answer) => QUERY_ERROR.test(answer)))
    throw new DnsblRefused('the block list refused the query');
  return listings;
}
