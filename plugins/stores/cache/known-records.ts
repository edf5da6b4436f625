import { LRUCache } from 'lru-cache';
import { type AccessRecord, type Clock } from '../../core/ports';
import { type Change, type ChangeFeed } from './change-feed';

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

interface CachedRecord {
  readonly record: AccessRecord;
  /** Monotonic milliseconds at which the read began, when the record was true. */
  readonly readAt: number;
  /** The connection of the change feed that watched over it. */
  readonly generation: number;
}

/**
 * Maximum whitelist rules of all records together, about 200 MB. A customer may have thousands of keys with many rules each, and a node
 * that runs out of memory refuses everybody.
 */
const MAX_RULES = 1_000_000;

/** Records by hash, also found by credential and by customer. Bounded: the least recently used are dropped first. */
class AccessRecordIndex {
  private readonly byCredential = new Map<string, string>();
  private readonly byCustomer = new Map<string, Set<string>>();
  private readonly records: LRUCache<string, CachedRecord>;

  constructor(max: number) {
    this.records = new LRUCache({
      max,
      maxSize: max + MAX_RULES,
      sizeCalculation: ({ record }) => 1 + record.whitelist.size,
      dispose: (cached, hash) => this.forget(cached, hash),
    });
  }

  get size(): number {
    return this.records.size;
  }

  get(hash: string): CachedRecord | undefined {
    return this.records.get(hash);
  }

  set(hash: string, cached: CachedRecord): void {
    // By now the replaced record is forgotten, so the new entries stay.
    this.records.set(hash, cached);
    this.byCredential.set(cached.record.credentialId, hash);
    const hashes = this.byCustomer.get(cached.record.customerId);
    if (hashes) hashes.add(hash);
    else this.byCustomer.set(cached.record.customerId, new Set([hash]));
  }

  delete(hash: string): void {
    this.records.delete(hash);
  }

  deleteCredential(credentialId: string): void {
    const hash = this.byCredential.get(credentialId);
    if (hash !== undefined) this.records.delete(hash);
  }

  deleteCustomer(customerId: string): void {
    for (const hash of [...(this.byCustomer.get(customerId) ?? [])]) this.records.delete(hash);
  }

  clear(): void {
    this.records.clear();
  }

  private forget({ record }: CachedRecord, hash: string): void {
    this.byCredential.delete(record.credentialId);
    const hashes = this.byCustomer.get(record.customerId);
    hashes?.delete(hash);
    if (hashes?.size === 0) this.byCustomer.delete(record.customerId);
  }
}

/** More changes than a read of some milliseconds can overlap. Beyond this number the result is "yes". */
const KEPT = 1_000;

/** Decides whether a read may have missed a change that was reported while it ran. */
class RecentChanges {
  private readonly kept: Change[] = [];
  /** Number of changes reported so far. Note it when a read begins. */
  count = 0;

  add(change: Change): void {
    this.kept[this.count % KEPT] = change;
    this.count += 1;
  }

  /**
   * @param since the count when the read began
   * @param record the result of the read, undefined when there is no such key
   */
  concern(since: number, record: AccessRecord | undefined): boolean {
    if (this.count - since > KEPT) return true;
    for (let index = since; index < this.count; index++) {
      const change = this.kept[index % KEPT];
      if (!change || concerns(change, record)) return true;
    }
    return false;
  }
}

function concerns(change: Change, record: AccessRecord | undefined): boolean {
  if (change.kind === 'gap' || change.kind === 'everything') return true;
  if (change.kind === 'customer') return record?.customerId === change.id;
  // Any credential may be the missing key.
  return record === undefined || record.credentialId === change.id;
}
