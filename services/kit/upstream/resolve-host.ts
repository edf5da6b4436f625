import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { codeOf } from '../error-code';

/**
 * Finds all addresses of a host name, as text; none when the name does not exist.
 * @throws HostUnresolved when the name servers do not say
 */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The name servers failed or stayed silent, so nobody knows whether the host exists. */
export class HostUnresolved extends Error {
  override readonly name = 'HostUnresolved';

  constructor(
    readonly isTimeout: boolean,
    cause: unknown,
  ) {
    super('a host name could not be looked up', { cause });
  }
}

export interface HostResolverOptions {
  /** `address` or `address:port` of each server. Default: the system's servers (resolv.conf). */
  readonly servers?: readonly string[];
  /** Milliseconds for one look-up, retries and both address families included; 3,000 unless given. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 3_000;
const TRIES = 2;
/** The name has no such record, or cannot have one. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
const TOO_LATE = new Set(['ETIMEOUT', 'ECANCELLED']);

/** Alternates v4 and v6, so that the first two attempts cover both families. */
function inTurn(one: readonly string[], other: readonly string[]): string[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((address) => address !== undefined);
}

/**
 * Looks names up over its own sockets. `getaddrinfo` runs on at most two of the process's pool threads, cannot be cancelled, and waits ten
 * seconds and more for a silent name server, with every other look-up behind it. The hosts file and the search list of the system do not
 * count, because callers name public hosts.
 */
export function createHostResolver({ servers = [], timeoutMs = TIMEOUT_MS }: HostResolverOptions = {}): Resolve {
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    // One resolver for each look-up, so that cancelling affects no other.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    clearTimeout(timer);
    const addresses = inTurn(v4.status === 'fulfilled' ? v4.value : [], v6.status === 'fulfilled' ? v6.value : []);
    if (addresses.length > 0) return addresses;
    const failure = [v4, v6].find((each) => each.status === 'rejected' && !NOTHING.has(codeOf(each.reason)));
    if (failure?.status !== 'rejected') return [];
    throw new HostUnresolved(TOO_LATE.has(codeOf(failure.reason)), failure.reason);
  };
}
