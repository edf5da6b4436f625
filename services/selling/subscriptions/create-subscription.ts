import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { requireCustomer } from '../customers/find-customer';
import { subscribe } from './subscribe';
import { type SubscriptionTerms } from './subscription-terms';
import { lockSubscription, type SubscriptionView } from './subscription-view';
import { type Consent } from './require-consent';
import { type Actor } from '../customers/write-audit';

export interface CreateSubscriptionOptions extends SubscriptionTerms {
  /** Email address or id. */
  readonly customer: string;
  readonly product: string;
  /** See `SubscribeOptions`. */
  readonly keepsLimits?: boolean;
  readonly paymentGoesOn?: boolean;
  readonly consent?: Consent;
  readonly actor: Actor;
}

/**
 * Subscribes a customer to a product; a cancelled subscription is reactivated on the new terms.
 * @throws OperationRefused `customer_unknown`, `product_unknown`, `product_without_limits`, `product_not_offered`, `plan_unknown`, `subscription_exists`,
 * `limit_malformed`
 */
export function createSubscription(db: Database, options: CreateSubscriptionOptions): Promise<SubscriptionView> {
  return inTransaction(db, async (client) => {
    const { id: customerId } = await requireCustomer(client, options.customer);
    const id = await subscribe(client, { ...options, customerId, whenSubscribed: 'refuse' });
    return lockSubscription(client, { id });
  });
}
