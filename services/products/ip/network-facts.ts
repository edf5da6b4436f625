import { LRUCache } from 'lru-cache';
import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { type Clock } from '../../../plugins/core/ports';
import { within } from '../../kit/deadline';
import { isTimeout } from '../../kit/errors';
import { type AbuseReport } from './abuse-ipdb';
import { type DnsResolver } from './dns-resolver';
import { type DnsblListing, findListings } from './dnsbl';
import { type Registration } from './rdap/registration';
import { findHostname } from './reverse-dns';
import { codeOf } from '../../kit/error-code';

/** A source that was asked about an address, or would have been. */
export interface SourceCheck {
  readonly source: string;
  /** The time of asking, or the date of the data (RFC 3339); null if the data has no date. */
  readonly as_of: string | null;
  readonly ok: boolean;
  /** Present if it did not respond. `paused`: left alone after consecutive failures. */
  readonly error?: 'timeout' | 'failed' | 'paused';
}

/** Third parties' findings about an address. A source that fails or is late contributes nothing, which `checked` shows. */
export interface NetworkFacts {
  readonly checked: readonly SourceCheck[];
  readonly hostname: string | null;
  readonly listings: readonly DnsblListing[];
  readonly abuse: AbuseReport | undefined;
  readonly registration?: Registration | undefined;
}

/** Third parties that may be asked. An absent one is switched off. */
export interface NetworkSources {
  /** For reverse DNS. */
  readonly resolver: DnsResolver | undefined;
  readonly blockList: { readonly zone: string; readonly resolver: DnsResolver } | undefined;
  readonly findAbuse: ((address: IpAddress) => Promise<AbuseReport>) | undefined;
  /** Returns undefined, instead of a function, if the registry of the address is not known. */
  readonly registrationOf?: ((address: IpAddress) => (() => Promise<Registration | undefined>) | undefined) | undefined;
}

export interface NetworkFactsOptions {
  readonly sources: NetworkSources;
  readonly clock: Clock;
  /**
   * Called with the source that failed, and with the reason in words that contain neither the address nor the zone, which may hold a key.
   */
  readonly onFailure: (source: string, reason: string) => void;
}

/** The caller may pass only public addresses, never a reserved one. */
export type FindNetworkFacts = (address: IpAddress) => Promise<NetworkFacts>;

/** Product contract of api-ip for reverse DNS. Nothing else may delay a response for longer either. */
export const SOURCE_DEADLINE_MS = 1_000;
const CACHE_ENTRIES = 20_000;
/** Names and listings may change within minutes. AbuseIPDB's free plan has 1,000 checks a day. */
const FACTS_FRESH_MS = 5 * 60_000;
/** A failed source is asked again soon, but not by every request for the same address. */
const FAILURE_FRESH_MS = 30_000;
/**
 * Consecutive failures after which a source is left alone for {@link FAILURE_FRESH_MS}: a dead name server must not cost every request a
 * second.
 */
const FAILURES_TO_PAUSE = 5;

/** Messages of DNS errors contain the host in question. Their codes do not. */
function describeFailure(cause: unknown): string {
  const code = codeOf(cause);
  if (code !== '') return code;
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : 'unknown';
}

/** The source ran out of time, by our clock or by the resolver's. */
function isLate(cause: unknown): boolean {
  return isTimeout(cause) || codeOf(cause) === 'ETIMEOUT';
}

/** One source with its deadline and its pause after repeated failures. */
function createSource(name: string, { clock, onFailure }: NetworkFactsOptions) {
  let failures = 0;
  let pausedUntil = -Infinity;
  const checkOf = (error?: SourceCheck['error']): SourceCheck => ({
    source: name,
    as_of: new Date(clock.now()).toISOString(),
    ok: error === undefined,
    ...(error !== undefined && { error }),
  });
  return async function ask<T>(work: (() => Promise<T>) | undefined, nothing: T): Promise<{ value: T; check: SourceCheck | undefined }> {
    if (!work) return { value: nothing, check: undefined };
    if (clock.monotonic() < pausedUntil) return { value: nothing, check: checkOf('paused') };
    try {
      const value = await within(SOURCE_DEADLINE_MS, work);
      failures = 0;
      return { value, check: checkOf() };
    } catch (cause) {
      failures++;
      if (failures >= FAILURES_TO_PAUSE) {
        failures = 0;
        pausedUntil = clock.monotonic() + FAILURE_FRESH_MS;
      }
      onFailure(name, describeFailure(cause));
      return { value: nothing, check: checkOf(isLate(cause) ? 'timeout' : 'failed') };
    }
  };
}

/** Asks all sources concurrently and caches their findings. Simultaneous requests for one address share the look-up. */
export function createNetworkFacts(options: NetworkFactsOptions): FindNetworkFacts {
  const { sources, clock } = options;
  const { resolver, blockList, findAbuse, registrationOf } = sources;
  const cache = new LRUCache<string, Promise<NetworkFacts>>({
    max: CACHE_ENTRIES,
    ttl: FACTS_FRESH_MS,
    // Otherwise the cache would reuse one reading of the clock for a millisecond of real time.
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  });
  const reverse = createSource('reverse_dns', options);
  const dnsbl = createSource('dnsbl', options);
  const abuseIpdb = createSource('abuseipdb', options);
  const rdap = createSource('rdap', options);

  const ask = async (address: IpAddress): Promise<NetworkFacts> => {
    const [hostname, listings, abuse, registration] = await Promise.all([
      reverse(resolver && (() => findHostname(address, resolver)), undefined),
      dnsbl(blockList && (() => findListings(address, blockList.zone, blockList.resolver)), []),
      abuseIpdb<AbuseReport | undefined>(findAbuse && (() => findAbuse(address)), undefined),
      rdap<Registration | undefined>(registrationOf?.(address), undefined),
    ]);
    const checked = [hostname.check, listings.check, abuse.check, registration.check].filter((check) => check !== undefined);
    const facts = {
      checked,
      hostname: hostname.value ?? null,
      listings: listings.value,
      abuse: abuse.value,
      registration: registration.value,
    };
    if (checked.some(({ ok }) => !ok)) cache.set(address.text, Promise.resolve(facts), { ttl: FAILURE_FRESH_MS });
    return facts;
  };

  return (address) => {
    const known = cache.get(address.text);
    if (known) return known;
    const asked = ask(address);
    cache.set(address.text, asked);
    return asked;
  };
}
