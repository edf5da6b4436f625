import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type IpAddress } from '../../../../plugins/core/access/ip-address';
import { type Clock } from '../../../../plugins/core/ports';
import { type GuardedFetch } from '../../../kit/upstream/guarded-fetch';
import { type FindServer } from './rdap-servers';
import { readRegistration, type Registration } from './registration';

/** Registrations change within weeks, and registries want few requests. */
const FRESH_MS = 24 * 3_600_000;
const KEPT = 20_000;
/** Exchanges that run at once. Further ones wait for their turn. */
const AT_ONCE = 8;
const MAX_WAITING = 100;
const MEDIA_TYPES = ['application/rdap+json', 'application/json'];

/**
 * Limits of one exchange. It may outlast the response that waits for it, because a slow result serves later requests. Registries redirect
 * to each other, and each redirect's address is judged again.
 */
export const RDAP_LIMITS = { timeoutMs: 5_000, maxBytes: 262_144, maxRedirects: 3 } as const;

export interface FindRegistrationOptions {
  readonly fetch: Pick<GuardedFetch, 'fetch'>;
  readonly findServer: FindServer;
  readonly clock: Clock;
}

/**
 * Undefined if no server is responsible for the address, or the server does not know it. Rejects if the registry could not be asked; the
 * message never contains the address.
 */
export type FindRegistration = (address: IpAddress) => Promise<Registration | undefined>;

/** Asks the registry of an address over RDAP (RFC 9082), at most once a day for each address. */
export function createFindRegistration({ fetch, findServer, clock }: FindRegistrationOptions): FindRegistration {
  const slots = pLimit(AT_ONCE);
  const kept = new LRUCache<string, Promise<Registration | undefined>>({
    max: KEPT,
    ttl: FRESH_MS,
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  });

  async function ask(server: string, address: IpAddress): Promise<Registration | undefined> {
    const url = `${server.replace(/\/*$/, '/')}ip/${address.text}`;
    const headers = { accept: MEDIA_TYPES.join(', ') };
    const { status, bytes } = await fetch.fetch(url, { headers });
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`the registry responded with ${status}`);
    try {
      return readRegistration(JSON.parse(bytes.toString('utf8')));
    } catch {
      throw new Error('the registry sent something other than a registration');
    }
  }

  return (address) => {
    const known = kept.get(address.text);
    if (known) return known;
    const server = findServer(address);
    if (server === undefined) return Promise.resolve(undefined);
    if (slots.pendingCount >= MAX_WAITING) return Promise.reject(new Error('too many registries are being asked'));
    const asked = slots(() => ask(server, address));
    kept.set(address.text, asked);
    // The next request tries again. Waiting callers get the failure.
    asked.catch(() => kept.get(address.text) === asked && kept.delete(address.text));
    return asked;
  };
}
