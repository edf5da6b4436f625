import { type OpenedProduct } from '../../../reference/live-routes';
import { planName } from '../../../reference/plan-name';
import { type Product, type Subscription, type Terms } from '../../../contract/plans';
import { formatCount, formatPrice } from '../../parts/format/numbers';

/** One offer of a product: the base limits, or a plan. */
export interface Offer {
  /** Null: base limits. */
  readonly plan: string | null;
  readonly daily: number;
  readonly monthly: number;
  /** How fast requests may come; absent: no limit. */
  readonly rate?: Terms['rate'];
  /** What is sold above the limits; absent: nothing. */
  readonly overage?: Terms['overage'];
  /** A month; null: free. */
  readonly price: { readonly price: string; readonly currency: string } | null;
  /** The customer requests it, and the seller decides. */
  readonly needsApproval: boolean;
  /** Begins when it is paid. */
  readonly isPaidFirst: boolean;
  /** What it costs until the end of this month, if it is taken now; null: nothing, or it is paid in advance. */
  readonly restOfMonth: { readonly days: number; readonly amount: string } | null;
}

/** The base limits first, when there are any. */
export function offersOf({ base, subscribable, plans }: Product): Offer[] {
  if (!subscribable) return [];
  const free: Offer[] =
    base === null ? [] : [{ plan: null, ...base, price: null, needsApproval: false, isPaidFirst: false, restOfMonth: null }];
  const paid = plans.map(({ name, daily, monthly, rate, overage, price, currency, approval, isPaidFirst, restOfMonth }) => ({
    plan: name,
    daily,
    monthly,
    rate,
    overage,
    price: { price, currency },
    needsApproval: approval === 'request',
    isPaidFirst,
    restOfMonth,
  }));
  return [...free, ...paid];
}

export const isSubscribed = ({ subscription }: Product): boolean => subscription !== null && subscription.state !== 'cancelled';

/**
 * The first plan of the catalogue with more a day and a month than the subscription has. Undefined if none is sold, or there is no
 * subscription.
 */
export function nextLarger(product: Product): Offer | undefined {
  const { subscription } = product;
  if (subscription === null || !isSubscribed(product)) return undefined;
  const { daily, monthly } = subscription;
  return offersOf(product).find((offer) => {
    const { cap = offer } = offer.overage ?? {};
    return offer.plan !== subscription.plan && cap.daily > daily.limit && cap.monthly > monthly.limit;
  });
}

/** The offer that the page's address names: `?product=ID` is the next larger plan, `&plan=NAME` that plan. */
export interface WantedOffer {
  readonly product?: string | undefined;
  readonly plan?: string | undefined;
}

/** Undefined if the customer has it already, or it is not sold. */
export function wantedOffer(product: Product, wanted: WantedOffer): Offer | undefined {
  if (wanted.product !== product.id) return undefined;
  if (wanted.plan === undefined) return nextLarger(product);
  const offer = offersOf(product).find(({ plan }) => planName(plan) === wanted.plan);
  return offer && isSubscribed(product) && product.subscription?.plan === offer.plan ? undefined : offer;
}

/** The present plan's price; the seller's own price replaces the plan's. Undefined for a plan that is no longer offered. */
export function priceNow({ plans, subscription }: Product): Offer['price'] | undefined {
  if (subscription === null || subscription.plan === null) return null;
  return subscription.ownPrice ?? plans.find(({ name }) => name === subscription.plan);
}

/** The unit of a product's limits. */
export const countedBy = ({ countsUnits }: Pick<Product, 'countsUnits'>): 'units' | 'requests' => (countsUnits ? 'units' : 'requests');

/** What is known of a product's live keys; undefined if nothing is known, as with an API of the seller's own. */
export function openedOf({ liveSource, liveRoutes }: Product): OpenedProduct | undefined {
  return liveSource === null ? undefined : { isThere: liveSource.isThere, routes: liveRoutes };
}

/** The text to be confirmed before an offer is taken; null if it is free, or opens something. */
export const toUnderstand = ({ opensNothing }: Product, { price }: Offer): string | null =>
  price === null || /^[0.]+$/.test(price.price) ? null : opensNothing;

/** `₹233.10 for the 7 days left of this month`; undefined if it costs nothing, or is paid in advance. */
export function restText({ price, restOfMonth }: Offer): string | undefined {
  if (price === null || restOfMonth === null) return undefined;
  const { days, amount } = restOfMonth;
  if (days === 0) return 'Nothing more this month';
  return `${formatPrice({ price: amount, currency: price.currency })} for the ${days === 1 ? 'day' : `${days} days`} left of this month`;
}

interface AboveLimits {
  readonly price: { readonly currency: string } | null;
  readonly overage?: { readonly per: number; readonly price: string } | undefined;
}

/** `₹20.00 for 1,000 more`; undefined if nothing is sold above the limits. */
export function aboveText({ price, overage }: AboveLimits): string | undefined {
  if (!overage || price === null) return undefined;
  return `${formatPrice({ price: overage.price, currency: price.currency })} for ${formatCount(overage.per)} more`;
}

/** The same for a plan of the catalogue, after its price: `, then ₹20.00 for 1,000 more`; empty if nothing is sold. */
export function thenText({ currency, overage }: { readonly currency: string; readonly overage?: AboveLimits['overage'] | null }): string {
  const above = aboveText({ price: { currency }, overage: overage ?? undefined });
  return above === undefined ? '' : `, then ${above}`;
}

/** `50,000 a day, 1,000,000 a month` */
export const limitsText = ({ daily, monthly }: { readonly daily: number; readonly monthly: number }): string =>
  `${formatCount(daily)} a day, ${formatCount(monthly)} a month`;

/** `10 requests a second, bursts of 20` */
export function rateText({ limit, windowSeconds, burst }: NonNullable<Terms['rate']>): string {
  const requests = `${formatCount(limit)} ${limit === 1 ? 'request' : 'requests'}`;
  return `${requests} a ${windowSeconds === 1 ? 'second' : 'minute'}, bursts of ${formatCount(burst)}`;
}

/** When an offer begins to count if it is taken now. */
export function whenText({ needsApproval, isPaidFirst }: Offer): string {
  if (isPaidFirst) return 'From the moment it is paid';
  return needsApproval ? 'From the moment the seller approves it' : 'From the next request';
}

/** Without a rate, requests may come at any speed. */
export type LimitsOfOffer = Pick<Offer, 'daily' | 'monthly' | 'rate'>;

/**
 * The limits after a change: an operator's limits override the offer's on the plan they were set for; the customer's own cap stays on every
 * plan.
 */
export function limitsUnder(offer: Offer, subscription: Subscription | null): LimitsOfOffer {
  const own = subscription?.plan === offer.plan ? subscription.ownLimits : undefined;
  const { daily: refusedAt, monthly } = offer.overage?.cap ?? offer;
  const daily = Math.min(own?.daily ?? refusedAt, subscription?.dailyCap ?? Infinity);
  return { daily, monthly: own?.monthly ?? monthly, rate: own?.rate ?? offer.rate };
}

/** The terms that a customer who takes the offer agrees to. */
export function termsOf({ daily, monthly, rate, price, overage }: Offer): Terms {
  return {
    daily,
    monthly,
    ...(rate && { rate }),
    price: price?.price ?? null,
    currency: price?.currency ?? null,
    ...(overage && { overage }),
  };
}
