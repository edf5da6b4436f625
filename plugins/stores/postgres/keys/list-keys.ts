import { type Database } from '../database';
import { requireCustomer } from '../customers/find-customer';
import { type KeyView, viewKeys } from './key-view';

/**
 * A customer's keys in any state, newest first.
 * @param options.customer e-mail address or id
 * @throws OperationRefused `customer_unknown`
 */
export async function listKeys(db: Database, { customer }: { customer: string }): Promise<KeyView[]> {
  const { id } = await requireCustomer(db, customer);
  return viewKeys(db, id);
}
