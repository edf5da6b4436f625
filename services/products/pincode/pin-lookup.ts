import { LRUCache } from 'lru-cache';
import { type Clock, type KeyMode } from '../../../plugins/core/ports';
import { isTimeout, ServiceError } from '../../kit/errors';
import { type UpstreamClient } from '../../kit/upstream/upstream-client';
import { type PinQuery } from './parse-pin';
import { type FailureReason, type PinProvider } from './provider';

/** A provider and its connection. */
export interface PinUpstream {
  /** The source by mode: a seller's account is never sent to the sandbox. */
  readonly provider: Readonly<Record<KeyMode, PinProvider>>;
  /** Retries once when the provider cannot be reached or responds with 502, 503 or 504. */
  readonly client: Pick<UpstreamClient, 'request'>;
}

/** India has a provider of its own. */
export interface PinUpstreams {
  readonly india: PinUpstream;
  /**
   * The first is asked for other countries, each further one if those before it failed. They know Indian PINs too, but not post offices.
   */
  readonly world: readonly [PinUpstream, ...PinUpstream[]];
  /** Data on disk that replaces India's provider for live keys, in the provider's form; undefined for an unknown PIN. */
  readonly reserve?: ((pin: string) => { readonly provider: string; readonly body: Buffer } | undefined) | undefined;
}

export type PinAnswer =
  | { readonly ok: true; readonly provider: string; /** The provider's bytes, unchanged. */ readonly body: Buffer }
  | { readonly ok: false; readonly provider: string; readonly reason: FailureReason; readonly cause: unknown };

export interface PinLookupOptions {
  readonly mode: KeyMode;
  /** Whether another provider may be asked after the first failed. Its form and data differ. */
  readonly mayFallBack: boolean;
}

/** @throws ServiceError `upstream_not_configured` */
export type PinLookup = (query: PinQuery, options: PinLookupOptions) => Promise<PinAnswer>;

const HIT_FRESH_MS = 24 * 3_600_000;
const MISS_FRESH_MS = 3_600_000;
/** Bytes of all kept bodies. A response has 1 to 40 KB. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Charged for an entry besides its body. */
const ENTRY_BYTES = 512;

function createCache(clock: Clock): LRUCache<string, PinAnswer> {
  return new LRUCache<string, PinAnswer>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (answer) => ENTRY_BYTES + (answer.ok ? answer.body.length : 0),
    ttl: HIT_FRESH_MS,
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  });
}

function keyOf(query: PinQuery): string {
  return query.kind === 'code' ? `${query.country}/${query.text.toUpperCase()}` : `${query.kind}/${query.text.toLowerCase()}`;
}

/**
 * Asks a provider. Remembers records for a day and their absence for an hour, separately for live and test keys, because sandbox data must
 * not reach a live caller. Failures are not remembered. Callers with the same query at the same time share one exchange, which therefore
 * continues when one of them leaves; the client's time-out bounds it.
 */
export function createPinLookup(upstreams: PinUpstreams, clock: Clock): PinLookup {
  const caches: Readonly<Record<KeyMode, LRUCache<string, PinAnswer>>> = { live: createCache(clock), test: createCache(clock) };
  const asking = new Map<string, Promise<PinAnswer>>();

  const ask = async (query: PinQuery, mode: KeyMode, { upstream, key }: { upstream: PinUpstream; key: string }): Promise<PinAnswer> => {
    const answer = await askProvider(query, mode, upstream);
    if (answer.ok) caches[mode].set(key, answer);
    else if (answer.reason === 'no_records') caches[mode].set(key, answer, { ttl: MISS_FRESH_MS });
    return answer;
  };

  const askOnce = async (query: PinQuery, mode: KeyMode, upstream: PinUpstream): Promise<PinAnswer> => {
    const key = `${upstream.provider[mode].name}/${keyOf(query)}`;
    const known = caches[mode].get(key);
    if (known) return known;
    const question = `${mode}/${key}`;
    const pending = asking.get(question) ?? ask(query, mode, { upstream, key }).finally(() => asking.delete(question));
    asking.set(question, pending);
    return pending;
  };

  return async (query, { mode, mayFallBack }) => {
    const [first, ...others] = chainOf(query, upstreams);
    const answer = await askOnce(query, mode, first);
    // "No record" is a response too.
    if (answer.ok || answer.reason === 'no_records') return answer;
    const reserve = query.kind === 'pin' && mode === 'live' ? upstreams.reserve?.(query.text) : undefined;
    if (reserve) return { ok: true, ...reserve };
    if (!mayFallBack) return answer;
    for (const other of others) {
      const found = await askOnce(query, mode, other);
      if (found.ok) return found;
    }
    // Another provider without a record does not prove that there is none, so the first one's failure stands.
    return answer;
  };
}

function chainOf(query: PinQuery, { india, world }: PinUpstreams): readonly [PinUpstream, ...PinUpstream[]] {
  switch (query.kind) {
    case 'office':
      return [india];
    case 'pin':
      return [india, ...world];
    case 'code':
      return world;
  }
}

async function askProvider(query: PinQuery, mode: KeyMode, upstream: PinUpstream): Promise<PinAnswer> {
  const provider = upstream.provider[mode];
  const nobodyLeaves = new AbortController().signal;
  try {
    const { status, bytes } = await upstream.client.request({ mode, path: provider.pathOf(query), signal: nobodyLeaves });
    const verdict = provider.judge(status, bytes);
    if (verdict.usable) return { ok: true, provider: provider.name, body: bytes };
    return { ok: false, provider: provider.name, reason: verdict.reason, cause: new Error(`${provider.name} answered ${status}`) };
  } catch (cause) {
    if (cause instanceof ServiceError && cause.problem === 'upstream_not_configured') throw cause;
    return { ok: false, provider: provider.name, reason: isTimeout(cause) ? 'timeout' : 'unreachable', cause };
  }
}
