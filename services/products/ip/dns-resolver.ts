import { promises as dns } from 'node:dns';
import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { codeOf } from '../../kit/error-code';

/** The part of DNS that look-ups need. Resolvers of `node:dns` have this shape. */
export interface DnsResolver {
  /**
   * PTR names, asked for by name: Node's `reverse` would read the hosts file too, and report a time-out as a missing record.
   * @throws with `code` ENOTFOUND or ENODATA when there are none, as the other two do
   */
  resolvePtr(name: string): Promise<string[]>;
  resolve4(host: string): Promise<string[]>;
  resolve6(host: string): Promise<string[]>;
}

/** Milliseconds for one query. Two tries fit into the second that a look-up may take. */
const QUERY_TIMEOUT_MS = 450;

/**
 * @param servers `address` or `address:port`; the system's servers when empty
 * @throws TypeError when a server is not an address
 */
export function createDnsResolver(servers: readonly string[]): DnsResolver {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

/**
 * The resolver of the sandbox, which serves DNS on the UDP port with the number of its HTTP port, so that test keys never query a real name
 * server. The host of the URL is looked up once, at the first query.
 */
export function createSandboxResolver(sandboxUrl: string): DnsResolver {
  const { hostname, port, protocol } = new URL(sandboxUrl);
  let pending: Promise<DnsResolver> | undefined;
  const resolver = (): Promise<DnsResolver> => {
    pending ??= dns
      .lookup(hostname.replace(/^\[|\]$/g, ''))
      .then(({ address, family }) =>
        createDnsResolver([`${family === 6 ? `[${address}]` : address}:${port || (protocol === 'https:' ? '443' : '80')}`]),
      );
    // A sandbox that is not up yet must still be found later.
    pending.catch(() => (pending = undefined));
    return pending;
  };
  return {
    resolvePtr: async (name) => (await resolver()).resolvePtr(name),
    resolve4: async (host) => (await resolver()).resolve4(host),
    resolve6: async (host) => (await resolver()).resolve6(host),
  };
}

/** The octets (v4) or nibbles (v6) in reverse, which begin the DNS names about an address. */
export function reversedLabels(address: IpAddress): string {
  const labels = address.version === 4 ? address.text.split('.') : [...address.value.toString(16).padStart(32, '0')];
  return labels.reverse().join('.');
}

/** True if the name server says that there is no such record, which is a result and not a failure. */
export function isNoRecord(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOTFOUND' || code === 'ENODATA';
}
