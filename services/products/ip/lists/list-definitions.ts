/** What a list says about its addresses. All but `anycast` are reasons for suspicion. */
export type ListedAs = 'hosting' | 'proxy_or_vpn' | 'tor_exit' | 'relay' | 'anycast';

export interface ListDefinition {
  /** File name inside the folder of lists, and the source's name in responses. */
  readonly id: string;
  readonly says: ListedAs;
  /** The files that make up the list, for example one for each IP version. */
  readonly urls: readonly string[];
  /** The form of networks in a file: one a line, in the first column of a CSV, or as members of the objects in a JSON list. */
  readonly format: 'lines' | 'csv' | 'json';
  readonly licence: string;
  /** Far fewer networks than the list has ever had: with fewer, the file is something else. */
  readonly least: number;
  /** A complete list also shows that an address is not on it, for this many days after the list's date. */
  readonly completeForDays?: number;
}

const X4B = 'https://raw.githubusercontent.com/X4BNet/lists_vpn/main/output';
const BGP_TOOLS = 'https://raw.githubusercontent.com/bgptools/anycast-prefixes/master';

/**
 * Lists that `npx tollgate data update` fetches. None of them is shipped. Licences are as their makers state them. A maker who publishes a
 * list for this use and says nothing about rights has `none stated`, which the seller must judge.
 */
export const LIST_DEFINITIONS: readonly ListDefinition[] = [
  {
    id: 'tor_exits',
    says: 'tor_exit',
    urls: ['https://check.torproject.org/torbulkexitlist'],
    format: 'lines',
    licence: 'none stated (The Tor Project)',
    least: 200,
    completeForDays: 2,
  },
  {
    id: 'x4b_vpn',
    says: 'proxy_or_vpn',
    urls: [`${X4B}/vpn/ipv4.txt`, `${X4B}/vpn/ipv6.txt`],
    format: 'lines',
    licence: 'MIT (X4B)',
    least: 500,
  },
  {
    id: 'x4b_data_centres',
    says: 'hosting',
    urls: [`${X4B}/datacenter/ipv4.txt`, `${X4B}/datacenter/ipv6.txt`],
    format: 'lines',
    licence: 'MIT (X4B)',
    least: 1_000,
  },
  {
    id: 'aws',
    says: 'hosting',
    urls: ['https://ip-ranges.amazonaws.com/ip-ranges.json'],
    format: 'json',
    licence: 'none stated (Amazon)',
    least: 1_000,
  },
  {
    id: 'google_cloud',
    says: 'hosting',
    urls: ['https://www.gstatic.com/ipranges/cloud.json'],
    format: 'json',
    licence: 'none stated (Google)',
    least: 100,
  },
  {
    id: 'anycast',
    says: 'anycast',
    urls: [`${BGP_TOOLS}/anycatch-v4-prefixes.txt`, `${BGP_TOOLS}/anycatch-v6-prefixes.txt`],
    format: 'lines',
    licence: 'none stated (bgp.tools)',
    least: 1_000,
    // The makers measure every announced network again each day. A network that is not on the list responded from a single place.
    completeForDays: 30,
  },
  {
    id: 'icloud_relay',
    says: 'relay',
    urls: ['https://mask-api.icloud.com/egress-ip-ranges.csv'],
    format: 'csv',
    licence: 'none stated (Apple)',
    least: 10_000,
  },
];
