import { isDeepStrictEqual } from 'node:util';
import { type Catalogue, type CataloguePlan } from '../../../../plugins/core/catalogue/catalogue';
import { type Terms } from '../../contract/plans';
import { toMinor, toSafeNumber } from '../../../../plugins/core/catalogue/money';
import { type Database } from '../../../../plugins/stores/postgres/database';
import { findPaid, heldPlan } from '../../../selling/paid-plans/paid-subscriptions';
import {
  type ChangeRefusal,
  decidePlanChange,
  type HeldPlan,
  type PlanChange,
  type PricedPlan as PolicyPlan,
} from '../../../selling/paid-plans/plan-change';
import { viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { chargingOf } from '../../../selling/billing/payments-of';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';

export interface WantedPlan {
  readonly product: string;
  /** Case does not matter; null: the base limits. */
  readonly plan: string | null;
}

export function findPlan(catalogue: Catalogue, { product, plan }: WantedPlan): CataloguePlan | undefined {
  return catalogue.find(product)?.plans.find(({ name }) => name.toLowerCase() === plan?.toLowerCase());
}

/** The terms offered now; undefined if the plan is not offered. */
function offeredTerms(catalogue: Catalogue, wanted: WantedPlan): Terms | undefined {
  if (wanted.plan === null) {
    const base = catalogue.find(wanted.product)?.base;
    return base ? { ...base, price: null, currency: null } : undefined;
  }
  const plan = findPlan(catalogue, wanted);
  if (!plan) return undefined;
  const { daily, monthly, rate, price, currency, overage } = plan;
  return { daily, monthly, price, currency, ...(rate && { rate }), ...(overage && { overage }) };
}

/**
 * A customer agrees to what they read: a page older than the catalogue must ask again.
 * @throws Refusal 409 `terms_changed`
 */
export async function refuseOtherTerms(wanted: WantedPlan & { readonly terms?: Terms | undefined }, deps: DashboardDeps): Promise<void> {
  if (!wanted.terms) return;
  const offered = offeredTerms(await deps.catalogue(), wanted);
  // A plan that is not offered at all has a refusal of its own.
  if (!offered || isDeepStrictEqual({ ...wanted.terms }, offered)) return;
  throw new Refusal('terms_changed');
}

const day = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);

/** The refusal of a change of plan, as a customer reads it. */
function refusalFor(why: ChangeRefusal, held: HeldPlan | undefined): Refusal {
  const [end, next] = [day(held?.cancelsAt ?? held?.periodEnd ?? 0), held?.next?.plan ?? ''];
  const isEnding = held !== undefined && held.cancelsAt !== null;
  const ends = `You have cancelled ${held?.plan ?? 'the plan'}, which ends on ${end}. Keep it under Billing, or choose again after that day.`;
  switch (why) {
    case 'on_request':
      return new Refusal('plan_needs_approval');
    case 'paid':
      return new Refusal('plan_paid', { detail: isEnding ? ends : 'This plan is paid in advance. End the payment under Billing first.' });
    case 'current':
      return new Refusal('plan_current', { detail: 'You have this plan, and it is paid.' });
    case 'currency':
      return new Refusal('currency_differs');
    case 'waiting':
      return new Refusal('change_refused', { detail: `${next} begins on ${end}. Take the change back under Billing first.` });
    case 'owed':
      return new Refusal('change_refused', { detail: 'The last payment failed. Make it good under Billing first.' });
    case 'paused':
      return new Refusal('change_refused', { detail: 'The seller has paused the payment for this plan. Contact the seller.' });
    case 'suspended':
      return new Refusal('change_refused', { detail: 'The seller has suspended this product. Contact the seller before you pay for it.' });
    case 'ending':
      return new Refusal('change_refused', { detail: ends });
  }
}

/** The plan as the policy judges it; undefined if it is not offered. */
function wantedOf(catalogue: Catalogue, wanted: WantedPlan): PolicyPlan | undefined {
  if (wanted.plan === null) return { plan: null, price: 0, currency: null, isOnRequest: false };
  const found = findPlan(catalogue, wanted);
  if (!found) return undefined;
  const { name: plan, currency, approval } = found;
  return { plan, price: toSafeNumber(toMinor(found.price, currency)), currency, isOnRequest: approval === 'request' };
}

interface ChangeWish extends WantedPlan {
  readonly customerId: string;
}

/** A change that the customer may make. */
export type AllowedChange = Exclude<PlanChange, { readonly kind: 'refused' }>;

/**
 * Decides what a change of plan does, when, and at what price, by the one policy for all changes. A plan that is not offered is refused
 * elsewhere, by a refusal of its own.
 * @throws Refusal
 */
export async function decideFor(db: Database, wish: ChangeWish, { catalogue, payments }: DashboardDeps): Promise<AllowedChange> {
  const sold = await catalogue();
  const wanted = wantedOf(sold, wish);
  if (!wanted) return { kind: 'now', charge: 0 };
  const paid = await findPaid(db, wish.customerId, wish.product);
  const held = paid && heldPlan(paid);
  const own = (await viewSubscriptions(db, wish.customerId)).find(({ product }) => product === wish.product);
  const agreed = own?.state !== 'cancelled' && own?.priceOverride != null ? (own.plan ?? undefined) : undefined;
  const isSuspended = own !== undefined && own.suspended !== null;
  const charging = chargingOf(sold, payments, paid?.provider);
  const change = decidePlanChange({ wanted, held, agreed, isSuspended, charging, by: 'customer' });
  if (change.kind === 'refused') throw refusalFor(change.why, held);
  return change;
}

/**
 * For changes that begin with the next request and are paid afterwards, or not at all.
 * @throws Refusal `payment_needed`, `plan_paid` and others
 */
export async function requireFreeNow(db: Database, wish: ChangeWish, deps: DashboardDeps): Promise<void> {
  const { kind } = await decideFor(db, wish, deps);
  if (kind === 'pay') throw new Refusal('payment_needed');
  if (await findPaid(db, wish.customerId, wish.product)) throw new Refusal('plan_paid');
}

/**
 * A paid plan goes on until its period is over, and would be charged again.
 * @throws Refusal `plan_paid`
 */
export async function refusePaid(db: Database, { customerId, product }: { customerId: string; product: string }): Promise<void> {
  const paid = await findPaid(db, customerId, product);
  if (paid) throw refusalFor('paid', heldPlan(paid));
}
