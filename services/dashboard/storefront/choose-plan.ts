import { type CataloguePlan, type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { fromMinor, toMinor } from '../../../plugins/core/catalogue/money';
import { enforcedLimits, overageAmount } from '../../selling/catalogue/overage';

/** The choices of requests a month on the page of prices. */
export const REQUEST_STEPS = [1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000] as const;
export const USUAL_STEP = 3;

/** A month has at most this many days. */
const DAYS = 30;

/** The offer for a number of requests a month: a plan, the base limits (without a plan), or nothing that is sold. */
export type Choice =
  | { readonly kind: 'plan'; readonly plan: CataloguePlan; readonly cost: string; readonly above: number }
  | { readonly kind: 'base' }
  | { readonly kind: 'none' };

/** The price including what is above the limits, in the currency's decimals. */
function costOf(plan: CataloguePlan, requests: number): { plan: CataloguePlan; cost: string; above: number } {
  const { price, currency, daily, monthly, overage } = plan;
  const above = Math.max(0, requests - Math.min(daily * DAYS, monthly));
  const extra = overage ? toMinor(overageAmount(above, overage, currency), currency) : 0n;
  return { plan, cost: fromMinor(toMinor(price, currency) + extra, currency), above };
}

/**
 * The cheapest offer with room for that many requests a month, spread evenly over its days.
 * @param requests a month
 */
export function choosePlan({ base, plans }: CatalogueProduct, requests: number): Choice {
  const hasRoom = ({ daily, monthly }: { daily: number; monthly: number }): boolean => monthly >= requests && daily * DAYS >= requests;
  if (base && hasRoom(base)) return { kind: 'base' };
  const offers = plans.filter((plan) => hasRoom(enforcedLimits(plan))).map((plan) => costOf(plan, requests));
  const [cheapest] = offers.sort((a, b) => Number(a.cost) - Number(b.cost));
  return cheapest ? { kind: 'plan', ...cheapest } : { kind: 'none' };
}

/** @returns the index in REQUEST_STEPS that a page's address names; the default for anything else */
export function stepOf(text: unknown): number {
  const step = typeof text === 'string' && /^\d$/.test(text) ? Number(text) : USUAL_STEP;
  return step < REQUEST_STEPS.length ? step : USUAL_STEP;
}
