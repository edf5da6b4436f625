import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { VersionConflict, versionOf } from '../operations/version';
import { type KeyRef, type KeyView, lockKey } from './key-view';

/** Changes with everything that a person can change on a key, but not with its use. */
export function keyVersion({ name, state, expiresAt, products, tags, rules }: KeyView): string {
  return versionOf([name, state, expiresAt, products, tags, rules]);
}

export class KeyChanged extends VersionConflict {
  /** @param current the key as it is now */
  constructor(readonly current: KeyView) {
    super();
  }
}

/**
 * Runs a change of a key only when the key is still as the caller saw it. The key stays locked until the change has committed: of two
 * people who saw the same version, one gets a conflict.
 * @param work other operations on the given client, which is in the transaction
 * @throws KeyChanged; OperationRefused `key_unknown`; what `work` throws
 */
export function changeKeyOptimistically<T>(
  db: Database,
  key: KeyRef & { readonly version: string },
  work: (client: PoolClient, before: KeyView) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, key);
    if (keyVersion(before) !== key.version) throw new KeyChanged(before);
    return work(client, before);
  });
}
