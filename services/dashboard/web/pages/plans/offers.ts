import { type Product } from '../../../contract/plans';

/** What can be had of a product: the base limits, or a plan. */
export interface Offer {
  /** Null: base limits. */
  readonly plan: string | null;
  readonly daily: number;
  readonly monthly: number;
  readonly priceInr: string | null;
}

/** The base limits first, when there are any. */
export function offersOf({ base, plans }: Product): Offer[] {
  const all: Offer[] = base === null ? [] : [{ plan: null, ...base, priceInr: null }];
  return [...all, ...plans.map(({ name, daily, monthly, priceInr }) => ({ plan: name, daily, monthly, priceInr }))];
}
