import { LRUCache } from 'lru-cache';
import { type AccessRecord } from '../../core/ports';

export interface CachedRecord {
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
export class AccessRecordIndex {
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
