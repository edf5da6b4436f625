import { type AccessRecord } from '../../core/ports';
import { type Change } from './change-feed';

/** More than a read of some milliseconds can overlap; when it is exceeded the answer is "yes". */
const KEPT = 1_000;

/** Answers whether a read may have missed a change that was told while it ran. */
export interface RecentChanges {
  add(change: Change): void;
  /** Changes told so far; note it when a read begins. */
  count(): number;
  /**
   * @param since the count when the read began
   * @param record what the read found, undefined when it found no such key
   */
  concern(since: number, record: AccessRecord | undefined): boolean;
}

function concerns(change: Change, record: AccessRecord | undefined): boolean {
  if (change.kind === 'gap' || change.kind === 'everything') return true;
  if (change.kind === 'customer') return record?.customerId === change.id;
  // Any credential may be the one that was not there yet.
  return record === undefined || record.credentialId === change.id;
}

export function createRecentChanges(): RecentChanges {
  const kept: Change[] = [];
  let count = 0;
  return {
    add(change) {
      kept[count % KEPT] = change;
      count += 1;
    },
    count: () => count,
    concern(since, record) {
      if (count - since > KEPT) return true;
      for (let index = since; index < count; index++) {
        const change = kept[index % KEPT];
        if (!change || concerns(change, record)) return true;
      }
      return false;
    },
  };
}
