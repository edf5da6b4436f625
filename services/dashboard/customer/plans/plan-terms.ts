import { isDeepStrictEqual } from 'node:util';
import { type Catalogue, type CataloguePlan } from '../../../../plugins/core/catalogue/catalogue';
import { type Terms } from '../../contract/plans';
import { type PoolClient } from 'pg';
import { findPaid } from '../../../selling/billing/paid-subscriptions';
import { OperationRefused } from '../../../selling/operations/operation-refused';
import { viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { isCollecting, isPaidFirst } from '../../../selling/billing/payments-of';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';

export interface WantedPlan {
  readonly product: string;
  /** Upper and lower case are the same; null: the base limits. */
  readonly plan: string | null;
}

export function findPlan(catalogue: Catalogue, { product, plan }: WantedPlan): CataloguePlan | undefined {
  return catalogue.find(product)?.plans.find(({ name }) => name.toLowerCase() === plan?.toLowerCase());
}

/** What is offered now; undefined when it is not offered at all. */
function offeredTerms(catalogue: Catalogue, wanted: WantedPlan): Terms | undefined {
  if (wanted.plan === null) {
    const base = catalogue.find(wanted.product)?.base;
    return base ? { ...base, price: null, currency: null } : undefined;
  }
  const plan = findPlan(catalogue, wanted);
  if (!plan) return undefined;
  const { daily, monthly, price, currency, overage } = plan;
  return { daily, monthly, price, currency, ...(overage && { overage }) };
}

/**
 * A customer agrees to what it read: a page that is older than the catalogue asks again.
 * @throws Refusal 409 `terms_changed`
 */
export async function refuseOtherTerms(wanted: WantedPlan & { readonly terms?: Terms | undefined }, deps: DashboardDeps): Promise<void> {
  if (!wanted.terms) return;
  const offered = offeredTerms(await deps.catalogue(), wanted);
  // What is not offered at all is refused by its own name.
  if (!offered || isDeepStrictEqual({ ...wanted.terms }, offered)) return;
  throw new Refusal('terms_changed');
}

/** Customers choose; the seller decides. @throws Refusal 409 `plan_needs_approval` */
export async function refuseWithoutApproval(wanted: WantedPlan, deps: DashboardDeps): Promise<void> {
  const offered = findPlan(await deps.catalogue(), wanted);
  if (offered?.approval !== 'request') return;
  const detail = `The plan ${offered.name} is given on request: ask for it under Plans.`;
  throw new Refusal('plan_needs_approval', { detail });
}

/** Where payments are taken, a plan with a price begins when it is paid. @throws Refusal 409 `payment_needed` */
export async function refuseUnpaid(wanted: WantedPlan, { catalogue, payments }: DashboardDeps): Promise<void> {
  const sold = await catalogue();
  const offered = findPlan(sold, wanted);
  if (offered && isPaidFirst(offered) && isCollecting(sold, payments)) throw new Refusal('payment_needed');
}

/** A plan at a price of the customer's own is paid as it was agreed, and the payment provider knows the plan's price alone. @throws OperationRefused `plan_current` */
export async function refuseOwnPriced(
  db: PoolClient,
  { customerId, product, plan }: { customerId: string; product: string; plan: string },
) {
  const own = (await viewSubscriptions(db, customerId)).find((each) => each.product === product && each.state !== 'cancelled');
  if (!own || own.priceOverride === null || own.plan !== plan) return;
  throw new OperationRefused('plan_current', 'you have this plan at a price of your own, and pay it as you agreed with the seller');
}

/** What is paid goes on until its period is over, and would be charged again. @throws Refusal 409 `plan_paid` */
export async function refusePaid(db: PoolClient, { customerId, product }: { customerId: string; product: string }): Promise<void> {
  if (await findPaid(db, customerId, product)) throw new Refusal('plan_paid');
}
