import { type Database } from '../database';
import { type KeyRef, type KeyView, viewKey } from './key-view';
import { type SubscriptionView, viewSubscriptions } from '../subscriptions/subscription-view';

export interface KeyDetails extends KeyView {
  /** The customer's subscriptions to the key's products. */
  readonly subscriptions: readonly SubscriptionView[];
}

/** @throws OperationRefused `key_unknown` */
export async function showKey(db: Database, key: KeyRef): Promise<KeyDetails> {
  const view = await viewKey(db, key);
  const subscriptions = await viewSubscriptions(db, view.customerId);
  return { ...view, subscriptions: subscriptions.filter(({ product }) => view.products.includes(product)) };
}
