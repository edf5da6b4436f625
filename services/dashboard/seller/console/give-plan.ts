import { type PoolClient } from 'pg';
import { requireCustomer } from '../../../selling/customers/find-customer';
import { type Actor } from '../../../selling/customers/write-audit';
import { inTransaction } from '../../../../plugins/stores/postgres/database';
import { changeSubscription } from '../../../selling/subscriptions/change-subscription';
import { createSubscription } from '../../../selling/subscriptions/create-subscription';
import { viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { type DashboardDeps } from '../../http/dashboard-deps';

interface GivenPlan {
  readonly customer: string;
  readonly product: string;
  /** Null: the base limits. */
  readonly plan: string | null;
  readonly actor: Actor;
}

/**
 * Puts a customer on a plan, also on one that is given on request; subscribes it to the product where need be.
 * @throws OperationRefused `customer_unknown` and what the operations refuse
 */
export function givePlan({ db }: DashboardDeps, { customer, product, plan, actor }: GivenPlan): Promise<void> {
  return inTransaction(db, async (client: PoolClient) => {
    const { id: customerId } = await requireCustomer(client, customer);
    // Two who give a plan at once do so one after the other.
    await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
    const owned = await viewSubscriptions(client, customerId);
    const present = owned.find((each) => each.product === product && each.state !== 'cancelled');
    if (present) await changeSubscription(client, { id: present.id, customerId, plan, consent: false, actor });
    else {
      const wanted = { customer: customerId, product, consent: false, keepsLimits: true, actor };
      await createSubscription(client, plan === null ? wanted : { ...wanted, plan });
    }
  });
}
