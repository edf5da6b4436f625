import { LRUCache } from 'lru-cache';
import { type AccessRecord, type AccessRecords, type Clock, StoreUnavailable, systemClock } from '../../core/ports';
import { type AccessRecordCacheStats } from '../../core/store-stats';
import { withDeadline } from '../with-deadline';
import { type CachedRecord, createAccessRecordIndex } from './access-record-index';
import { type Change, type ChangeFeed } from './change-feed';
import { createCircuitBreaker } from './circuit-breaker';
import { createRecentChanges } from './recent-changes';

export interface AccessRecordCacheOptions {
  /** The store behind the cache. */
  readonly source: AccessRecords;
  readonly feed: ChangeFeed;
  readonly clock?: Clock;
  /** Most keys kept. Default 100,000 (about 100 MB when each has a handful of products and rules). */
  readonly maxKnown?: number;
  /** Most unknown hashes kept. Default 100,000. */
  readonly maxUnknown?: number;
  /** How long a record may be used after it was last known to be true, with the store unreachable. Default 60 s. */
  readonly staleLimitMs?: number;
  /** How long a request waits for a new read when it could use a record that was true half a second ago. Default 40 ms. */
  readonly rereadDeadlineMs?: number;
  /** How long a request waits when it has nothing else. Default 800 ms. */
  readonly coldDeadlineMs?: number;
  /** Pause after a failure in which the store is not asked. Default 250 ms. */
  readonly breakerPauseMs?: number;
}

export interface AccessRecordCache extends AccessRecords {
  stats(): AccessRecordCacheStats;
  /** Stops listening to the feed. */
  close(): void;
}

/** A read that hangs longer than this counts as a failure even before it ends. */
const HANGING_MS = 500;
/** Younger than this a record may be used rather than wait for a slow store: it is well within the second that a revocation may take. */
const YOUNG_MS = 500;
/** A later request joins a read in progress only while the read is this young: an old one may have seen the state before a change. */
const JOIN_WITHIN_MS = 100;

interface Flight {
  readonly startedAt: number;
  readonly result: Promise<AccessRecord | undefined>;
}

/**
 * Keeps access records in memory for as long as they are known to be true. While the feed is healthy, what it has not named is valid
 * and costs no query. While it is not, every request reads anew; only when the store does not answer either, a record may be used
 * for `staleLimitMs` from the last moment it was known to be true. That a key does not exist is never taken from memory then.
 */
export function createAccessRecordCache(options: AccessRecordCacheOptions): AccessRecordCache {
  const { source, feed, clock = systemClock, staleLimitMs = 60_000, rereadDeadlineMs = 40, coldDeadlineMs = 800 } = options;
  const known = createAccessRecordIndex(options.maxKnown ?? 100_000);
  /** Hashes that no key has. */
  const unknown = new LRUCache<string, Pick<CachedRecord, 'readAt' | 'generation'>>({ max: options.maxUnknown ?? 100_000 });
  const flights = new Map<string, Flight>();
  const breaker = createCircuitBreaker({ clock, pauseMs: options.breakerPauseMs ?? 250 });
  /** Generation → last moment its connection is known to have told everything. The current one asks the feed. */
  const watchedUntil = new Map<number, number>();
  let generation = 0;
  const changes = createRecentChanges();
  const counts = { hits: 0, reads: 0, staleUses: 0, failures: 0 };

  function startGeneration(): void {
    watchedUntil.set(generation, feed.lastHealthyAt());
    generation += 1;
    for (const [old, until] of watchedUntil) if (clock.monotonic() - until > staleLimitMs) watchedUntil.delete(old);
  }

  function apply(change: Change): void {
    changes.add(change);
    // Reads in progress may have seen the state before the change: nobody may join them any more.
    flights.clear();
    if (change.kind === 'gap') return startGeneration();
    if (change.kind === 'customer') return known.deleteCustomer(change.id);
    if (change.kind === 'credential') known.deleteCredential(change.id);
    else known.clear();
    // The credential may be new, and its hash one that was asked for before.
    unknown.clear();
  }

  /** @returns a record that was true less than `limitMs` ago */
  function recordWithin(hash: string, limitMs: number): CachedRecord | undefined {
    const cached = known.get(hash);
    if (!cached) return undefined;
    const watched = cached.generation === generation ? feed.lastHealthyAt() : (watchedUntil.get(cached.generation) ?? -Infinity);
    return clock.monotonic() - Math.max(cached.readAt, watched) < limitMs ? cached : undefined;
  }

  /** How long to wait for a new read: an older record takes the place of one only when the store is as good as gone. */
  function patienceMs(hash: string): number {
    if (recordWithin(hash, Math.min(YOUNG_MS, staleLimitMs))) return rereadDeadlineMs;
    return recordWithin(hash, staleLimitMs) ? HANGING_MS : coldDeadlineMs;
  }

  function keep(hash: string, record: AccessRecord | undefined, read: { startedAt: number; generation: number; changes: number }): void {
    // While the feed is down nothing else tells that a slow read saw less than one that began later and ended earlier.
    const newest = known.get(hash) ?? unknown.get(hash);
    if (newest && newest.readAt > read.startedAt) return;
    if (changes.concern(read.changes, record)) {
      // The read may have seen the state before that change: good for those who had asked by then, not for keeping.
      known.delete(hash);
    } else if (record) {
      unknown.delete(hash);
      known.set(hash, { record, readAt: read.startedAt, generation: read.generation });
    } else {
      known.delete(hash);
      unknown.set(hash, { readAt: read.startedAt, generation: read.generation });
    }
  }

  async function read(hash: string, startedAt: number): Promise<AccessRecord | undefined> {
    const begun = { startedAt, generation, changes: changes.count() };
    const hanging = setTimeout(() => breaker.failed(startedAt), HANGING_MS);
    hanging.unref();
    try {
      const record = await source.findAccessRecord(hash);
      breaker.succeeded();
      keep(hash, record, begun);
      return record;
    } catch (error) {
      counts.failures += 1;
      if (error instanceof StoreUnavailable) breaker.failed(startedAt);
      throw error;
    } finally {
      clearTimeout(hanging);
    }
  }

  function youngRead(hash: string): Promise<AccessRecord | undefined> | undefined {
    const running = flights.get(hash);
    return running && clock.monotonic() - running.startedAt < JOIN_WITHIN_MS ? running.result : undefined;
  }

  function startRead(hash: string): Promise<AccessRecord | undefined> {
    counts.reads += 1;
    const startedAt = clock.monotonic();
    const flight: Flight = { startedAt, result: read(hash, startedAt) };
    flights.set(hash, flight);
    const land = (): void => {
      if (flights.get(hash) === flight) flights.delete(hash);
    };
    flight.result.then(land, land);
    return flight.result;
  }

  function useStale(hash: string, cause?: unknown): AccessRecord {
    // Asked again: the record may have been changed, or have grown too old, while the read was waited for.
    const stale = recordWithin(hash, staleLimitMs);
    if (!stale) throw new StoreUnavailable('the key could not be looked up', { cause });
    counts.staleUses += 1;
    return stale.record;
  }

  async function readOrUseStale(hash: string): Promise<AccessRecord | undefined> {
    const running = youngRead(hash);
    if (!running && !breaker.mayTry()) return useStale(hash);
    try {
      return await withDeadline(running ?? startRead(hash), patienceMs(hash), tooLate);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return useStale(hash, error);
    }
  }

  const unsubscribe = feed.subscribe(apply);
  return {
    findAccessRecord(hash) {
      if (feed.isHealthy()) {
        const cached = known.get(hash);
        if (cached?.generation === generation) {
          counts.hits += 1;
          return Promise.resolve(cached.record);
        }
        if (unknown.get(hash)?.generation === generation) {
          counts.hits += 1;
          return Promise.resolve(undefined);
        }
      }
      return readOrUseStale(hash);
    },
    stats: () => ({ known: known.size(), unknown: unknown.size, isBreakerOpen: breaker.isOpen(), ...counts }),
    close: unsubscribe,
  };
}

function tooLate(): StoreUnavailable {
  return new StoreUnavailable('the key look-up took too long');
}
