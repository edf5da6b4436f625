import { LRUCache } from 'lru-cache';
import { type AccessRecord, type Clock } from '../../core/ports';
import { AccessRecordIndex, type CachedRecord } from './access-record-index';
import { type Change, type ChangeFeed } from './change-feed';
import { RecentChanges } from './recent-changes';

export interface KnownRecordsOptions {
  readonly feed: ChangeFeed;
  readonly clock: Clock;
  /** Maximum keys kept. */
  readonly maxKnown: number;
  /** Maximum unknown hashes kept. */
  readonly maxUnknown: number;
  /** Milliseconds for which a record of an earlier connection of the feed may be used. */
  readonly staleLimitMs: number;
}

/** The state of this node's knowledge when a read of the store began. */
export interface ReadStart {
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly generation: number;
  /** Number of changes reported before the read. */
  readonly changes: number;
}

/** A node's knowledge of keys, and the time until which each record is known to be true. */
export class KnownRecords {
  private readonly known: AccessRecordIndex;
  /** Hashes without a key. */
  private readonly unknown: LRUCache<string, Omit<CachedRecord, 'record'> & { readonly record: undefined }>;
  private readonly changes = new RecentChanges();
  /** Generation → last time at which its connection is known to have reported everything. For the current generation, the feed is asked. */
  private readonly watchedUntil = new Map<number, number>();
  private generation = 0;

  constructor(private readonly options: KnownRecordsOptions) {
    this.known = new AccessRecordIndex(options.maxKnown);
    this.unknown = new LRUCache({ max: options.maxUnknown });
  }

  /** A record that the current connection of the feed has watched from the start; undefined when there is none. */
  findWatched(hash: string): { readonly record: AccessRecord | undefined } | undefined {
    const cached = this.known.get(hash);
    if (cached?.generation === this.generation) return cached;
    const missing = this.unknown.get(hash);
    return missing?.generation === this.generation ? missing : undefined;
  }

  /** A record that was true less than `limitMs` ago. */
  findWithin(hash: string, limitMs: number): AccessRecord | undefined {
    const cached = this.known.get(hash);
    if (!cached) return undefined;
    const { feed, clock } = this.options;
    const isCurrent = cached.generation === this.generation;
    const watched = isCurrent ? feed.lastHealthyAt() : (this.watchedUntil.get(cached.generation) ?? -Infinity);
    return clock.monotonic() - Math.max(cached.readAt, watched) < limitMs ? cached.record : undefined;
  }

  startRead(startedAt: number): ReadStart {
    return { startedAt, generation: this.generation, changes: this.changes.count };
  }

  /** @param record undefined when the store has no such key */
  keep(hash: string, record: AccessRecord | undefined, { startedAt: readAt, generation, changes }: ReadStart): void {
    // While the feed is down, nothing else shows that a slow read saw less than a read that began later and ended earlier.
    const newest = this.known.get(hash) ?? this.unknown.get(hash);
    if (newest && newest.readAt > readAt) return;
    if (this.changes.concern(changes, record)) {
      // The read may have seen the state before that change. Its result serves requests from before the change and is not kept.
      this.known.delete(hash);
    } else if (record) {
      this.unknown.delete(hash);
      this.known.set(hash, { record, readAt, generation });
    } else {
      this.known.delete(hash);
      this.unknown.set(hash, { record, readAt, generation });
    }
  }

  /** Drops records that a change may have made untrue. */
  apply(change: Change): void {
    this.changes.add(change);
    if (change.kind === 'gap') return this.startGeneration();
    if (change.kind === 'customer') return this.known.deleteCustomer(change.id);
    if (change.kind === 'credential') this.known.deleteCredential(change.id);
    else this.known.clear();
    // The credential may be new, and its hash may have been looked up before.
    this.unknown.clear();
  }

  sizes(): { readonly known: number; readonly unknown: number } {
    return { known: this.known.size, unknown: this.unknown.size };
  }

  private startGeneration(): void {
    const { feed, clock, staleLimitMs } = this.options;
    this.watchedUntil.set(this.generation, feed.lastHealthyAt());
    this.generation += 1;
    for (const [old, until] of this.watchedUntil) if (clock.monotonic() - until > staleLimitMs) this.watchedUntil.delete(old);
  }
}
