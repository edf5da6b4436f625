import { type Database } from '../database';
import { requireCustomer } from '../customers/find-customer';
import { type SubscriptionView, viewSubscriptions } from './subscription-view';

/**
 * A customer's subscriptions in any state, by product.
 * @param options.customer e-mail address or id
 * @throws OperationRefused `customer_unknown`
 */
export async function listSubscriptions(db: Database, { customer }: { customer: string }): Promise<SubscriptionView[]> {
  const { id } = await requireCustomer(db, customer);
  return viewSubscriptions(db, id);
}
