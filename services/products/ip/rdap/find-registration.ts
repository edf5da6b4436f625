import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type IpAddress } from '../../../../plugins/core/access/ip-address';
import { type Clock } from '../../../../plugins/core/ports';
import { type GuardedFetch } from '../../../kit/upstream/guarded-fetch';
import { type FindServer } from './rdap-servers';
import { readRegistration, type Registration } from './registration';

/** Registrations change within weeks, and registries ask to be asked little. */
const FRESH_MS = 24 * 3_600_000;
const KEPT = 20_000;
/** Exchanges under way at once; what waits is asked in its turn, up to so many. */
const AT_ONCE = 8;
const MAX_WAITING = 100;
const MEDIA_TYPES = ['application/rdap+json', 'application/json'];

/**
 * Limits of one exchange: longer than an answer waits, since what a slow registry says serves the requests after. Registries send one
 * on to another, whose address is judged again.
 */
export const RDAP_LIMITS = { timeoutMs: 5_000, maxBytes: 262_144, maxRedirects: 3 } as const;

export interface FindRegistrationOptions {
  readonly fetch: Pick<GuardedFetch, 'fetch'>;
  readonly findServer: FindServer;
  readonly clock: Clock;
}

/** Undefined where no server knows of the address, or the server does not. Rejects when it could not be asked; the message never holds the address. */
export type FindRegistration = (address: IpAddress) => Promise<Registration | undefined>;

/** Asks the registry of an address by RDAP (RFC 9082), once a day at most for each address. */
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
    if (status !== 200) throw new Error(`the registry answered ${status}`);
    try {
      return readRegistration(JSON.parse(bytes.toString('utf8')));
    } catch {
      throw new Error('the registry answered with something else than a registration');
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
    // Another request tries again; who waits hears of the failure.
    asked.catch(() => kept.get(address.text) === asked && kept.delete(address.text));
    return asked;
  };
}
