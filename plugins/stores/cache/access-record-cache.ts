import pLimit, { type LimitFunction } from 'p-limit';
import { type AccessRecord, type AccessRecords, type Clock, StoreUnavailable, systemClock } from '../../core/ports';
import { type AccessRecordCacheStats } from '../../core/store-stats';
import { withDeadline } from '../with-deadline';
import { type ChangeFeed } from './change-feed';
import { type KnownHashes } from './known-hashes';
import { KnownRecords } from './known-records';

export interface AccessRecordCacheOptions {
  /** The store behind the cache. */
  readonly source: AccessRecords;
  readonly feed: ChangeFeed;
  /** Knows which keys exist. Without it, every unknown key is read from the store. */
  readonly hashes?: KnownHashes | undefined;
  /** Maximum reads at a time for keys that are not known to exist. Default 4: half of the plugin server's connections for keys. */
  readonly maxDoubtful?: number;
  readonly clock?: Clock;
  /** Maximum keys kept. Default 100,000 (about 100 MB when each has a handful of products and rules). */
  readonly maxKnown?: number;
  /** Maximum unknown hashes kept. Default 10,000. */
  readonly maxUnknown?: number;
  /**
   * Milliseconds for which a record may be used after the last time it was known to be true, while the store is unreachable. Default 60 s.
   */
  readonly staleLimitMs?: number;
  /** Milliseconds that a request waits for a new read when it could use a record that was true half a second ago. Default 40 ms. */
  readonly rereadDeadlineMs?: number;
  /** Milliseconds that a request waits when there is nothing else to use. Default 800 ms. */
  readonly coldDeadlineMs?: number;
  /** Milliseconds after a failure in which the store is not queried. Default 250 ms. */
  readonly breakerPauseMs?: number;
}

/** A read that hangs longer than this counts as a failure even before it ends. */
const HANGING_MS = 500;
/** A record younger than this may be used instead of waiting for a slow store: it is well within the second that a revocation may take. */
const YOUNG_MS = 500;
/** Takes some hundred milliseconds to read on `maxDoubtful` connections. */
const MAX_DOUBTFUL_WAITING = 500;
/** A later request joins a read in progress only while the read is this young: an old one may have seen the state before a change. */
const JOIN_WITHIN_MS = 100;

interface Flight {
  readonly startedAt: number;
  readonly result: Promise<AccessRecord | undefined>;
}

/**
 * Keeps access records in memory for as long as they are known to be true. While the feed is healthy, a record that no change has named is
 * valid and costs no query. While it is not, every request reads the store again. Only if the store does not respond either may a record be
 * used, for `staleLimitMs` after the last time it was known to be true. In that state, memory never proves that a key does not exist.
 */
export class AccessRecordCache implements AccessRecords {
  private readonly source: AccessRecords;
  private readonly feed: ChangeFeed;
  private readonly clock: Clock;
  private readonly staleLimitMs: number;
  private readonly records: KnownRecords;
  private readonly breaker: CircuitBreaker;
  private readonly doubtful: DoubtfulReads;
  private readonly flights = new Map<string, Flight>();
  private readonly counts = { hits: 0, reads: 0, absences: 0, staleUses: 0, failures: 0 };
  private readonly unsubscribe: () => void;

  constructor(private readonly options: AccessRecordCacheOptions) {
    const { source, feed, clock = systemClock, staleLimitMs = 60_000 } = options;
    this.source = source;
    this.feed = feed;
    this.clock = clock;
    this.staleLimitMs = staleLimitMs;
    const { maxKnown = 100_000, maxUnknown = 10_000, breakerPauseMs = 250, maxDoubtful = 4, coldDeadlineMs = 800 } = options;
    this.records = new KnownRecords({ feed, clock, maxKnown, maxUnknown, staleLimitMs });
    this.breaker = new CircuitBreaker({ clock, pauseMs: breakerPauseMs });
    this.doubtful = new DoubtfulReads({ clock, most: maxDoubtful, mostWaiting: MAX_DOUBTFUL_WAITING, patienceMs: coldDeadlineMs });
    this.unsubscribe = feed.subscribe((change) => {
      // Reads in progress may have seen the state before the change, so no request may join them any more.
      this.flights.clear();
      this.records.apply(change);
    });
  }

  findAccessRecord(hash: string): Promise<AccessRecord | undefined> {
    if (!this.feed.isHealthy()) return this.readOrUseStale(hash);
    const cached = this.records.findWatched(hash);
    if (!cached)
      return this.options.hashes?.judge(hash) === 'absent' ? this.proveAbsent(hash, this.options.hashes) : this.readOrUseStale(hash);
    this.counts.hits += 1;
    return Promise.resolve(cached.record);
  }

  stats(): AccessRecordCacheStats {
    const hashes = this.options.hashes?.stats();
    return {
      ...this.records.sizes(),
      isBreakerOpen: this.breaker.isOpen(),
      ...this.counts,
      doubtfulRefused: this.doubtful.refused,
      knownHashes: hashes?.isComplete ? hashes.keys : undefined,
    };
  }

  /** Stops listening to the feed. */
  close(): void {
    this.unsubscribe();
  }

  /** Asks the feed instead of the store. Requests that ask at the same time share one check. */
  private async proveAbsent(hash: string, hashes: KnownHashes): Promise<AccessRecord | undefined> {
    const start = this.records.startRead(this.clock.monotonic());
    if (!(await hashes.isAbsent(hash))) return this.readOrUseStale(hash);
    this.counts.absences += 1;
    this.records.keep(hash, undefined, start);
    return undefined;
  }

  private async readOrUseStale(hash: string): Promise<AccessRecord | undefined> {
    const running = this.youngRead(hash);
    if (!running && this.isDoubtful(hash) && !this.doubtful.hasRoom) throw this.doubtful.refusal();
    if (!running && !this.breaker.mayTry()) return this.useStale(hash);
    try {
      return await withDeadline(running ?? this.startRead(hash), this.patienceMs(hash), tooLate);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return this.useStale(hash, error);
    }
  }

  private youngRead(hash: string): Promise<AccessRecord | undefined> | undefined {
    const running = this.flights.get(hash);
    return running && this.clock.monotonic() - running.startedAt < JOIN_WITHIN_MS ? running.result : undefined;
  }

  private startRead(hash: string): Promise<AccessRecord | undefined> {
    const startedAt = this.clock.monotonic();
    const flight: Flight = { startedAt, result: this.read(hash, startedAt) };
    this.flights.set(hash, flight);
    const land = (): void => {
      if (this.flights.get(hash) === flight) this.flights.delete(hash);
    };
    flight.result.then(land, land);
    return flight.result;
  }

  /** True for a key that is not known to exist, either by its hash or by a record that was read recently. */
  private isDoubtful(hash: string): boolean {
    const { hashes } = this.options;
    return hashes !== undefined && hashes.judge(hash) !== 'possible' && !this.records.findWithin(hash, this.staleLimitMs);
  }

  private read(hash: string, startedAt: number): Promise<AccessRecord | undefined> {
    if (!this.isDoubtful(hash)) return this.readNow(hash, startedAt);
    return this.doubtful.run(() => this.readNow(hash, this.clock.monotonic()));
  }

  private async readNow(hash: string, startedAt: number): Promise<AccessRecord | undefined> {
    this.counts.reads += 1;
    const start = this.records.startRead(startedAt);
    const hanging = setTimeout(() => this.breaker.failed(startedAt), HANGING_MS);
    hanging.unref();
    try {
      const record = await this.source.findAccessRecord(hash, () => {
        clearTimeout(hanging);
        this.breaker.succeeded();
      });
      this.breaker.succeeded();
      this.records.keep(hash, record, start);
      return record;
    } catch (error) {
      this.counts.failures += 1;
      if (error instanceof StoreUnavailable) this.breaker.failed(startedAt);
      throw error;
    } finally {
      clearTimeout(hanging);
    }
  }

  /** How long to wait for a new read. An older record replaces it only when the store is as good as gone. */
  private patienceMs(hash: string): number {
    const { rereadDeadlineMs = 40, coldDeadlineMs = 800 } = this.options;
    if (this.records.findWithin(hash, Math.min(YOUNG_MS, this.staleLimitMs))) return rereadDeadlineMs;
    return this.records.findWithin(hash, this.staleLimitMs) ? HANGING_MS : coldDeadlineMs;
  }

  private useStale(hash: string, cause?: unknown): AccessRecord {
    // Checked again: during the read, the record may have been changed or have grown too old.
    const stale = this.records.findWithin(hash, this.staleLimitMs);
    if (!stale) throw new StoreUnavailable('the key could not be looked up', { cause });
    this.counts.staleUses += 1;
    return stale;
  }
}

function tooLate(): StoreUnavailable {
  return new StoreUnavailable('the key look-up took too long');
}

/** Keeps callers away from a store that has just failed. After the pause one caller may try; the others wait for its success. */
class CircuitBreaker {
  private openUntil: number | undefined;
  private lastSuccessAt = -Infinity;

  constructor(private readonly options: { readonly clock: Clock; readonly pauseMs: number }) {}

  /** True when the caller may try. Calling it takes the one trial after a pause. */
  mayTry(): boolean {
    if (this.openUntil === undefined) return true;
    const now = this.options.clock.monotonic();
    if (now < this.openUntil) return false;
    this.openUntil = now + this.options.pauseMs;
    return true;
  }

  /** True from a failure to the next success. Calling it takes no trial. */
  isOpen(): boolean {
    return this.openUntil !== undefined;
  }

  succeeded(): void {
    this.openUntil = undefined;
    this.lastSuccessAt = this.options.clock.monotonic();
  }

  /** @param startedAt monotonic milliseconds; an attempt from before the last success says nothing about the store now */
  failed(startedAt: number): void {
    if (startedAt >= this.lastSuccessAt) this.openUntil = this.options.clock.monotonic() + this.options.pauseMs;
  }
}

interface DoubtfulReadsOptions {
  readonly clock: Clock;
  /** Maximum concurrent reads. */
  readonly most: number;
  /** Maximum waiting reads. */
  readonly mostWaiting: number;
  /** A request that has waited this long is refused without a read. */
  readonly patienceMs: number;
}

/** Limits reads of keys that may not exist to a share of the store's connections. Reads run in order of arrival. */
class DoubtfulReads {
  private readonly limit: LimitFunction;
  /** Number of refused reads. */
  refused = 0;

  constructor(private readonly options: DoubtfulReadsOptions) {
    this.limit = pLimit(options.most);
  }

  get hasRoom(): boolean {
    const { most, mostWaiting } = this.options;
    return this.limit.activeCount + this.limit.pendingCount < most + mostWaiting;
  }

  /** @throws StoreUnavailable when the read's turn does not come in time; otherwise what the work throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { clock, patienceMs } = this.options;
    const cameAt = clock.monotonic();
    return this.limit(() => {
      if (clock.monotonic() - cameAt >= patienceMs) throw this.refusal();
      return work();
    });
  }

  refusal(): StoreUnavailable {
    this.refused += 1;
    return new StoreUnavailable('too many look-ups of keys that may not exist');
  }
}
