import { type AccessRecord } from '../../core/ports';
import { type Change } from './change-feed';

/** More changes than a read of some milliseconds can overlap. Beyond this number the result is "yes". */
const KEPT = 1_000;

/** Decides whether a read may have missed a change that was reported while it ran. */
export class RecentChanges {
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
