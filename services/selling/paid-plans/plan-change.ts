import { type PaymentState } from './payment-state';

/** A plan that a payment provider charges in advance, in its present state. Amounts are in the currency's smallest unit. */
export type HeldPlan = Pick<
  PaymentState,
  'status' | 'plan' | 'price' | 'currency' | 'periodEnd' | 'cancelsAt' | 'next' | 'discount' | 'isPaused'
>;

export interface PricedPlan {
  /** Null: the base limits, which cost nothing. */
  readonly plan: string | null;
  /** Monthly. */
  readonly price: number;
  /** Null for the base limits. */
  readonly currency: string | null;
  /** True if the seller gives it on request. */
  readonly isOnRequest: boolean;
}

/**
 * How a plan with a price is charged. `statement`: by the days of the past month, by an invoice or by another system. `advance`: a payment
 * provider charges each period before it begins, and the extra cost of a more expensive plan at once. `advance_by_period`: it cannot charge
 * such a sum, and changes plans only between two periods.
 */
export type Charging = 'statement' | 'advance' | 'advance_by_period';

export interface PlanChangeFacts {
  readonly wanted: PricedPlan;
  /** The plan that is paid in advance and has not ended; undefined if there is none. */
  readonly held: HeldPlan | undefined;
  /** A plan at an agreed price of the customer's own; undefined if there is none. */
  readonly agreed?: string | undefined;
  /** The seller has suspended the subscription. Absent: it has not. */
  readonly isSuspended?: boolean;
  readonly charging: Charging;
  /** The customer chooses; the seller gives, and says what happens to a payment that goes on. */
  readonly by: 'customer' | 'seller';
}

/**
 * `now`: with the next request, after `charge` is taken. `pay`: once the customer has paid for a first period. `next_period`: when the paid
 * period is over; until then the customer keeps what was paid for. `keep`: takes back a change that waits.
 */
export type PlanChange =
  | { readonly kind: 'now'; readonly charge: number }
  | { readonly kind: 'pay'; readonly charge: number }
  | { readonly kind: 'next_period'; readonly at: number }
  | { readonly kind: 'keep' }
  | { readonly kind: 'refused'; readonly why: ChangeRefusal };

/**
 * `paid`: it is paid in advance, and that must end first. `current`: it is the present plan. `waiting`: another plan begins with the next
 * period. `owed`: the last charge failed. `ending`: it was cancelled, and ends with its period. `paused`: nothing is charged. `suspended`:
 * it could not be used.
 */
export type ChangeRefusal = 'on_request' | 'paid' | 'current' | 'currency' | 'waiting' | 'owed' | 'ending' | 'paused' | 'suspended';

const refused = (why: ChangeRefusal): PlanChange => ({ kind: 'refused', why });

/**
 * What a change of plan does, when, and what it costs, for every provider and every caller. One rule covers all changes: a period costs the
 * most expensive plan that was held in it. So a more expensive plan costs the whole difference, whenever it begins, and a cheaper one
 * begins with the next period. Nobody can take a plan, use it, and give it back; nothing depends on the time of a request.
 */
export function decidePlanChange({ wanted, held, agreed, isSuspended = false, charging, by }: PlanChangeFacts): PlanChange {
  if (by === 'seller') return held && wanted.plan !== held.plan ? refused('paid') : { kind: 'now', charge: 0 };
  if (wanted.isOnRequest) return refused('on_request');
  const isPaidFirst = charging !== 'statement' && wanted.price > 0;
  if (isSuspended && isPaidFirst && wanted.price > (held?.price ?? 0)) return refused('suspended');
  if (!held) {
    if (!isPaidFirst) return { kind: 'now', charge: 0 };
    return wanted.plan === agreed ? refused('current') : { kind: 'pay', charge: wanted.price };
  }
  if (wanted.plan === null || wanted.price === 0) return refused('paid');
  return changeHeld({ ...wanted, plan: wanted.plan }, held, charging);
}

function changeHeld(wanted: PricedPlan & { readonly plan: string }, held: HeldPlan, charging: Charging): PlanChange {
  if (held.isPaused) return refused('paused');
  if (wanted.currency !== held.currency) return refused('currency');
  if (wanted.plan === held.plan) return held.next ? { kind: 'keep' } : refused('current');
  if (held.next) return refused(wanted.plan === held.next.plan ? 'current' : 'waiting');
  if (held.status === 'failing') return refused('owed');
  // Nothing is paid yet, and there is only one trial, whatever plan it began with.
  if (held.status === 'trial') return { kind: 'now', charge: 0 };
  // A provider takes an amount off each sum that it charges, so it is off a period once only if the period is charged once.
  const takesAmountOff = (held.discount?.amount ?? null) !== null;
  if (wanted.price > held.price && charging === 'advance' && !takesAmountOff) return { kind: 'now', charge: wanted.price - held.price };
  return held.cancelsAt === null ? { kind: 'next_period', at: held.periodEnd } : refused('ending');
}
