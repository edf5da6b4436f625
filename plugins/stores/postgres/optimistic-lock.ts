import { type PoolClient } from 'pg';
import { type Database, inTransaction } from './database';
import { type KeyRef, type KeyView, lockKey } from './keys/key-view';
import { lockSubscription, type SubscriptionRef, type SubscriptionView } from './subscriptions/subscription-view';
import { keyVersion, subscriptionVersion } from './version';
import { type WebhookView } from './webhooks/webhook-view';

/** Somebody changed the thing since the caller looked at it; nothing was changed. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';

  constructor(
    readonly current: { readonly key: KeyView } | { readonly subscription: SubscriptionView } | { readonly webhook: WebhookView },
  ) {
    super('what was to be changed has changed in between');
  }
}

/**
 * Runs a change of a key only when the key is still as the caller saw it. It stays locked until the change has committed, so that of
 * two people who saw the same version one is told.
 * @param work other operations on the given client, which is in the transaction
 * @throws VersionConflict; OperationRefused `key_unknown`; what `work` throws
 */
export function changeKeyOptimistically<T>(
  db: Database,
  key: KeyRef & { readonly version: string },
  work: (client: PoolClient, before: KeyView) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (client) => {
    const before = await lockKey(client, key);
    if (keyVersion(before) !== key.version) throw new VersionConflict({ key: before });
    return work(client, before);
  });
}

/**
 * The same for a subscription.
 * @throws VersionConflict; OperationRefused `subscription_unknown`; what `work` throws
 */
export function changeSubscriptionOptimistically<T>(
  db: Database,
  subscription: SubscriptionRef & { readonly version: string },
  work: (client: PoolClient, before: SubscriptionView) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, subscription);
    if (subscriptionVersion(before) !== subscription.version) throw new VersionConflict({ subscription: before });
    return work(client, before);
  });
}
