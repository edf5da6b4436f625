import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { VersionConflict, versionOf } from '../operations/version';
import { lockSubscription, type SubscriptionRef, type SubscriptionView } from './subscription-view';

/** Changes with everything that a person can change on a subscription, but not with its use. */
export function subscriptionVersion(view: SubscriptionView): string {
  const { plan, state, dailyOverride, monthlyOverride, rateOverride, priceOverride, dailyCap } = view;
  return versionOf([plan, state, dailyOverride, monthlyOverride, rateOverride, priceOverride, dailyCap]);
}

export class SubscriptionChanged extends VersionConflict {
  /** @param current the subscription as it is now */
  constructor(readonly current: SubscriptionView) {
    super();
  }
}

/**
 * Runs a change of a subscription only when it is still as the caller saw it. It stays locked until the change has committed.
 * @throws SubscriptionChanged; OperationRefused `subscription_unknown`; what `work` throws
 */
export function changeSubscriptionOptimistically<T>(
  db: Database,
  subscription: SubscriptionRef & { readonly version: string },
  work: (client: PoolClient, before: SubscriptionView) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, subscription);
    if (subscriptionVersion(before) !== subscription.version) throw new SubscriptionChanged(before);
    return work(client, before);
  });
}
