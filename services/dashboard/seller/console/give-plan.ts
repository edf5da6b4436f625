import { type PoolClient } from 'pg';
import { requireCustomer } from '../../../selling/customers/find-customer';
import { type Actor } from '../../../selling/customers/write-audit';
import { inTransaction } from '../../../../plugins/stores/postgres/database';
import { changeSubscription } from '../../../selling/subscriptions/change-subscription';
import { createSubscription } from '../../../selling/subscriptions/create-subscription';
import { viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { findPaid } from '../../../selling/paid-plans/paid-subscriptions';
import { changePaid } from '../../billing/change-payment';
import { type GivenPayment } from '../../contract/operator-customers';
import { type DashboardDeps } from '../../http/dashboard-deps';

interface GivenPlan {
  readonly customer: string;
  readonly product: string;
  /** Null: the base limits. */
  readonly plan: string | null;
  /** What happens to a payment for another plan; undefined: then the plan is not given. */
  readonly payment: GivenPayment | undefined;
  readonly actor: Actor;
}

/**
 * Puts a customer on a plan, even one that is given on request, and subscribes the customer to the product if needed.
 * @throws OperationRefused `customer_unknown` and what the operations refuse, such as `plan_paid`; Refusal of the payment provider, after
 * the plan is given: it can be given again
 */
export async function givePlan(deps: DashboardDeps, given: GivenPlan): Promise<void> {
  const { customerId } = await give(deps, given);
  await settlePayment(deps, { ...given, customerId });
}

/** Settles the payment of a customer who was given another plan. */
export async function settlePayment(
  deps: DashboardDeps,
  { customerId, product, payment, actor }: Pick<GivenPlan, 'product' | 'payment' | 'actor'> & { readonly customerId: string },
): Promise<void> {
  if (payment === undefined || payment === 'goes_on') return;
  const paid = await findPaid(deps.db, customerId, product);
  if (!paid) return;
  const kind = payment === 'ends_now' ? 'end' : 'cancel';
  await changePaid(paid, { change: { kind }, actor, details: { plan: paid.plan } }, deps);
}

function give({ db }: DashboardDeps, { customer, product, plan, payment, actor }: GivenPlan): Promise<{ customerId: string }> {
  const paymentGoesOn = payment !== undefined;
  return inTransaction(db, async (client: PoolClient) => {
    const { id: customerId } = await requireCustomer(client, customer);
    // Operators who give plans at the same time take turns.
    await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
    const owned = await viewSubscriptions(client, customerId);
    const present = owned.find((each) => each.product === product && each.state !== 'cancelled');
    if (present) await changeSubscription(client, { id: present.id, customerId, plan, consent: false, paymentGoesOn, actor });
    else {
      const wanted = { customer: customerId, product, consent: false, keepsLimits: true, paymentGoesOn, actor };
      await createSubscription(client, plan === null ? wanted : { ...wanted, plan });
    }
    return { customerId };
  });
}
