import { requireCustomer } from '../customers/find-customer';
import { type Database } from '../../../plugins/stores/postgres/database';
import { type SubscriptionView, viewSubscriptions } from '../subscriptions/subscription-view';
import { type KeyRef, type KeyView, viewKey, viewKeys } from './key-view';

/**
 * A customer's keys in any state, newest first.
 * @param options.customer email address or id
 * @throws OperationRefused `customer_unknown`
 */
export async function listKeys(db: Database, { customer }: { customer: string }): Promise<KeyView[]> {
  const { id } = await requireCustomer(db, customer);
  return viewKeys(db, id);
}

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
