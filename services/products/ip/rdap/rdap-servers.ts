import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { putFile } from '../../../kit/data-files/put-file';
import { type IpAddress, type IpNetwork, networkValue, parseIpNetwork } from '../../../../plugins/core/access/ip-address';

/** The name of these servers in `npx tollgate data update`. */
export const RDAP_SERVERS = 'rdap_servers';
/** IANA's bootstrap files (RFC 9224), which assign addresses to registries' servers. */
export const RDAP_BOOTSTRAP_URLS = ['https://data.iana.org/rdap/ipv4.json', 'https://data.iana.org/rdap/ipv6.json'];
/** The two files name over 200 networks together. With far fewer, they are something else. */
const MIN_NETWORKS = 50;

/** The text is not a bootstrap file. */
export class BadServers extends Error {
  override readonly name = 'BadServers';
}

const service = z.tuple([z.array(z.string()), z.array(z.url({ protocol: /^https?$/ }))]);
const bootstrapFile = z.object({ publication: z.iso.datetime({ offset: true }), services: z.array(service) });

/** A stored file has the same form: both of IANA's files in one, with the earlier date. */
export type Bootstrap = z.output<typeof bootstrapFile>;

/** @throws BadServers */
export function parseBootstrap(text: string): Bootstrap {
  try {
    return bootstrapFile.parse(JSON.parse(text));
  } catch (cause) {
    throw new BadServers('it is not a bootstrap file of IANA', { cause });
  }
}

export function countNetworks({ services }: Bootstrap): number {
  return services.reduce((sum, [networks]) => sum + networks.length, 0);
}

/** @throws BadServers when they name fewer networks than they have ever had */
export function mergeBootstraps(files: readonly Bootstrap[]): Bootstrap {
  const [publication = ''] = files.map((file) => file.publication).sort();
  const merged = { publication, services: files.flatMap(({ services }) => services) };
  if (countNetworks(merged) < MIN_NETWORKS) throw new BadServers(`it names only ${countNetworks(merged)} networks`);
  return merged;
}

export function rdapServersPath(folder: string): string {
  return join(folder, `${RDAP_SERVERS}.json`);
}

/** Replaces the file in one step. */
export function writeServers(folder: string, servers: Bootstrap): Promise<void> {
  return putFile(rdapServersPath(folder), JSON.stringify(servers));
}

type Row = readonly [network: IpNetwork, server: string];

function rowsOf({ services }: Bootstrap): Row[] {
  return services.flatMap(([networks, urls]) => {
    const server = urls.find((url) => url.startsWith('https:')) ?? urls[0];
    return server === undefined ? [] : networks.flatMap((text): Row[] => {
      const network = parseIpNetwork(text);
      return network ? [[network, server]] : [];
    });
  }); // prettier-ignore
}

function contains({ address: own, prefixLength }: IpNetwork, address: IpAddress): boolean {
  return own.version === address.version && networkValue(own, prefixLength) === networkValue(address, prefixLength);
}

/**
 * Base URL of the server that is responsible for an address: that of the longest matching network (RFC 9224, 5.2); undefined if none
 * matches.
 */
export type FindServer = (address: IpAddress) => string | undefined;

export function createFindServer(bootstrap: Bootstrap): FindServer {
  const rows = rowsOf(bootstrap).sort(([one], [other]) => other.prefixLength - one.prefixLength);
  return (address) => rows.find(([network]) => contains(network, address))?.[1];
}

export interface RdapServers {
  /** Undefined for every address as long as there is no file. */
  readonly find: FindServer;
  close(): void;
}

export interface RdapServersOptions {
  readonly folder: string;
  /** Milliseconds between two looks at the file; 0 never looks again. */
  readonly pollMs: number;
  /** Called when the file cannot be used. The version in memory stays in use. */
  readonly onError: (path: string, cause: unknown) => void;
}

/** Reads the stored servers, and looks for a newer file from time to time. */
export async function openRdapServers({ folder, pollMs, onError }: RdapServersOptions): Promise<RdapServers> {
  const path = rdapServersPath(folder);
  let find: FindServer = () => undefined;
  let readMs: number | undefined;
  const look = async (): Promise<void> => {
    try {
      const { mtimeMs } = await stat(path);
      if (mtimeMs === readMs) return;
      find = createFindServer(parseBootstrap(await readFile(path, 'utf8')));
      readMs = mtimeMs;
    } catch (cause) {
      onError(path, cause);
    }
  };
  await look();
  const timer = pollMs > 0 ? setInterval(() => void look(), pollMs).unref() : undefined;
  return { find: (address) => find(address), close: () => clearInterval(timer) };
}
