import { LRUCache } from 'lru-cache';
import { type AccessRecord } from '../../core/ports';

export interface CachedRecord {
  readonly record: AccessRecord;
  /** Monotonic milliseconds at which the read began: the record was true then. */
  readonly readAt: number;
  /** Which connection of the change feed watched over it. */
  readonly generation: number;
}

/**
 * Whitelist rules of all records together, about 200 MB: a customer may have thousands of keys with thousands of rules each, and a node
 * out of memory refuses everybody.
 */
const MOST_RULES = 1_000_000;

/** Records by hash, found again by credential and by customer. Bounded: the least recently used go first. */
export interface AccessRecordIndex {
  get(hash: string): CachedRecord | undefined;
  set(hash: string, cached: CachedRecord): void;
  delete(hash: string): void;
  deleteCredential(credentialId: string): void;
  deleteCustomer(customerId: string): void;
  clear(): void;
  size(): number;
}

export function createAccessRecordIndex(max: number): AccessRecordIndex {
  const byCredential = new Map<string, string>();
  const byCustomer = new Map<string, Set<string>>();
  const forget = ({ record }: CachedRecord, hash: string): void => {
    byCredential.delete(record.credentialId);
    const hashes = byCustomer.get(record.customerId);
    hashes?.delete(hash);
    if (hashes?.size === 0) byCustomer.delete(record.customerId);
  };
  const records = new LRUCache<string, CachedRecord>({
    max,
    maxSize: max + MOST_RULES,
    sizeCalculation: ({ record }) => 1 + record.whitelist.size,
    dispose: forget,
  });
  return {
    get: (hash) => records.get(hash),
    set(hash, cached) {
      // The record that this one replaces is forgotten by then, so that the new entries stay.
      records.set(hash, cached);
      byCredential.set(cached.record.credentialId, hash);
      const hashes = byCustomer.get(cached.record.customerId);
      if (hashes) hashes.add(hash);
      else byCustomer.set(cached.record.customerId, new Set([hash]));
    },
    delete: (hash) => void records.delete(hash),
    deleteCredential(credentialId) {
      const hash = byCredential.get(credentialId);
      if (hash !== undefined) records.delete(hash);
    },
    deleteCustomer(customerId) {
      for (const hash of [...(byCustomer.get(customerId) ?? [])]) records.delete(hash);
    },
    clear: () => records.clear(),
    size: () => records.size,
  };
}
