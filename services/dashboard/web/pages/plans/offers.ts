import { type Product, type Subscription, type Terms } from '../../../contract/plans';

/** What can be had of a product: the base limits, or a plan. */
export interface Offer {
  /** Null: base limits. */
  readonly plan: string | null;
  readonly daily: number;
  readonly monthly: number;
  /** A month; null: free. */
  readonly price: { readonly price: string; readonly currency: string } | null;
  /** The customer asks for it, and the seller answers. */
  readonly needsApproval: boolean;
  /** Begins when it is paid. */
  readonly isPaidFirst: boolean;
}

/** The base limits first, when there are any. */
export function offersOf({ base, subscribable, plans }: Product): Offer[] {
  if (!subscribable) return [];
  const free: Offer[] = base === null ? [] : [{ plan: null, ...base, price: null, needsApproval: false, isPaidFirst: false }];
  const paid = plans.map(({ name, daily, monthly, price, currency, approval, isPaidFirst }) => ({
    plan: name,
    daily,
    monthly,
    price: { price, currency },
    needsApproval: approval === 'request',
    isPaidFirst,
  }));
  return [...free, ...paid];
}

/** Limits that would hold: those that an operator set for the subscription alone outrank the offer's, and the customer's own cap stays. */
export function limitsUnder(offer: Offer, subscription: Subscription | null): { daily: number; monthly: number } {
  const own = subscription?.ownLimits;
  const daily = Math.min(own?.daily ?? offer.daily, subscription?.dailyCap ?? Infinity);
  return { daily, monthly: own?.monthly ?? offer.monthly };
}

/** What somebody who takes the offer agrees to. */
export function termsOf({ daily, monthly, price }: Offer): Terms {
  return { daily, monthly, price: price?.price ?? null, currency: price?.currency ?? null };
}
