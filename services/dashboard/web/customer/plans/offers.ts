import { type OpenedProduct } from '../../../reference/live-routes';
import { planName } from '../../../reference/plan-name';
import { type Product, type Subscription, type Terms } from '../../../contract/plans';
import { formatCount, formatPrice } from '../../parts/format/numbers';

/** What can be had of a product: the base limits, or a plan. */
export interface Offer {
  /** Null: base limits. */
  readonly plan: string | null;
  readonly daily: number;
  readonly monthly: number;
  /** How fast requests may come; absent: as fast as they like. */
  readonly rate?: Terms['rate'];
  /** What is sold above the limits; absent: nothing. */
  readonly overage?: Terms['overage'];
  /** A month; null: free. */
  readonly price: { readonly price: string; readonly currency: string } | null;
  /** The customer asks for it, and the seller answers. */
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

/** The first plan of the catalogue with more a day and a month than a subscription has. Undefined where none is sold, or nothing is subscribed to. */
export function nextLarger(product: Product): Offer | undefined {
  const { subscription } = product;
  if (subscription === null || !isSubscribed(product)) return undefined;
  const { daily, monthly } = subscription;
  return offersOf(product).find((offer) => {
    const { cap = offer } = offer.overage ?? {};
    return offer.plan !== subscription.plan && cap.daily > daily.limit && cap.monthly > monthly.limit;
  });
}

/** What an address of the page asks for: `?product=ID` leads to the next larger plan, `&plan=NAME` to that one. */
export interface WantedOffer {
  readonly product?: string | undefined;
  readonly plan?: string | undefined;
}

/** Undefined where it is what the customer has, or nobody sells it. */
export function wantedOffer(product: Product, wanted: WantedOffer): Offer | undefined {
  if (wanted.product !== product.id) return undefined;
  if (wanted.plan === undefined) return nextLarger(product);
  const offer = offersOf(product).find(({ plan }) => planName(plan) === wanted.plan);
  return offer && isSubscribed(product) && product.subscription?.plan === offer.plan ? undefined : offer;
}

/** What the present plan costs; the seller's own price in place of the plan's. Undefined: a plan that is no longer offered. */
export function priceNow({ plans, subscription }: Product): Offer['price'] | undefined {
  if (subscription === null || subscription.plan === null) return null;
  return subscription.ownPrice ?? plans.find(({ name }) => name === subscription.plan);
}

/** What the limits of a product count. */
export const countedBy = ({ countsUnits }: Pick<Product, 'countsUnits'>): 'units' | 'requests' => (countsUnits ? 'units' : 'requests');

/** What is known of a product's live keys; undefined where it is not known, as of an API of the seller's own. */
export function openedOf({ liveSource, liveRoutes }: Product): OpenedProduct | undefined {
  return liveSource === null ? undefined : { isThere: liveSource.isThere, routes: liveRoutes };
}

/** The text that must be understood before an offer is taken; null: it is free, or opens something. */
export const toUnderstand = ({ opensNothing }: Product, { price }: Offer): string | null =>
  price === null || /^[0.]+$/.test(price.price) ? null : opensNothing;

/** `₹233.10 for the 7 days left of this month`; undefined where it costs nothing, or is paid in advance. */
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

/** `₹20.00 for 1,000 more`; undefined where nothing is sold above the limits. */
export function aboveText({ price, overage }: AboveLimits): string | undefined {
  if (!overage || price === null) return undefined;
  return `${formatPrice({ price: overage.price, currency: price.currency })} for ${formatCount(overage.per)} more`;
}

/** The same of a plan of the catalogue, after its price: `, then ₹20.00 for 1,000 more`; nothing where nothing is sold. */
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

/** From when an offer counts that is taken now. */
export function whenText({ needsApproval, isPaidFirst }: Offer): string {
  if (isPaidFirst) return 'From the moment it is paid';
  return needsApproval ? 'From the moment the seller approves it' : 'From the next request';
}

/** Without a rate requests may come as fast as they like. */
export type LimitsOfOffer = Pick<Offer, 'daily' | 'monthly' | 'rate'>;

/** Limits that would hold: on the plan that they were set for, an operator's outrank the offer's; the customer's own cap stays on every plan. */
export function limitsUnder(offer: Offer, subscription: Subscription | null): LimitsOfOffer {
  const own = subscription?.plan === offer.plan ? subscription.ownLimits : undefined;
  const { daily: refusedAt, monthly } = offer.overage?.cap ?? offer;
  const daily = Math.min(own?.daily ?? refusedAt, subscription?.dailyCap ?? Infinity);
  return { daily, monthly: own?.monthly ?? monthly, rate: own?.rate ?? offer.rate };
}

/** What somebody who takes the offer agrees to. */
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
