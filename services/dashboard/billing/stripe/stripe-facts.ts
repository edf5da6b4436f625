import type Stripe from 'stripe';
import { type ChargeFact, type Discount, type PaymentFact, type SubscriptionFact } from '../../../selling/paid-plans/payment-state';
import { type GivenFact } from '../../../selling/billing/payment-facts';
import { type ProviderNews } from '../../../selling/billing/payment-port';
import { fromStripeAmount } from './stripe-amounts';

/** Metadata that we write to subscriptions at Stripe, so that each says whose it is. */
export const METADATA = {
  customer: 'tollgate_customer',
  product: 'tollgate_product',
  plan: 'tollgate_plan',
  use: 'tollgate_use',
  refund: 'tollgate_refund',
  // The plan that begins with the next period. Its line at Stripe already has the new price; the other keys say what was paid.
  next: 'tollgate_next_plan',
  paidPrice: 'tollgate_paid_price',
  paidUntil: 'tollgate_paid_until',
  // A discount, which events name by an id alone: `20%` or `5000`, and when the last lower charge is.
  discount: 'tollgate_discount',
  discountUntil: 'tollgate_discount_until',
} as const;

/** https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses; statuses that Stripe adds later count as not paid. */
const STATUSES: Readonly<Record<string, SubscriptionFact['status']>> = {
  incomplete: 'waiting',
  trialing: 'trial',
  active: 'active',
  past_due: 'failing',
  unpaid: 'failing',
  paused: 'failing',
  canceled: 'ended',
  incomplete_expired: 'ended',
};

export const idOf = (value: string | { readonly id: string } | null | undefined): string | undefined =>
  typeof value === 'string' ? value : value?.id;

type Plans = Pick<SubscriptionFact, 'plan' | 'price' | 'next'>;

/**
 * The plan that a subscription's period is paid for, and the plan of the next one.
 * @param line its price and the end of its period
 */
function plansOf({ metadata }: Stripe.Subscription, plan: string, line: { price: number; periodEnd: number }): Plans {
  const { price, periodEnd } = line;
  const { [METADATA.next]: next, [METADATA.paidPrice]: paid, [METADATA.paidUntil]: until } = metadata;
  if (next === undefined || until === undefined) return { plan, price, next: null };
  return periodEnd > Number(until) ? { plan: next, price, next: null } : { plan, price: Number(paid), next: { plan: next, price } };
}

/** The discount; none if Stripe no longer has one, whatever the metadata says. */
function discountOf({ discounts, metadata }: Stripe.Subscription): Discount | null {
  const { [METADATA.discount]: given, [METADATA.discountUntil]: until } = metadata;
  if (discounts.length === 0 || given === undefined) return null;
  const isShare = given.endsWith('%');
  const value = Number(isShare ? given.slice(0, -1) : given);
  return { percent: isShare ? value : null, amount: isShare ? null : value, until: until === undefined ? null : Number(until) };
}

/** A subscription of ours has one line, with its price and period. Undefined for a subscription of another program. */
export function subscriptionFact(given: Stripe.Subscription, { id, at }: { id: string; at: number }): GivenFact | undefined {
  const { [METADATA.customer]: customerId, [METADATA.product]: product, [METADATA.plan]: plan } = given.metadata;
  const item = given.items.data[0];
  if (customerId === undefined || product === undefined || plan === undefined || !item) return undefined;
  const { amount: price, currency } = fromStripeAmount(item.price.unit_amount ?? 0, item.price.currency);
  const periodEnd = item.current_period_end;
  const fact: PaymentFact = {
    kind: 'subscription',
    status: STATUSES[given.status] ?? 'failing',
    ...plansOf(given, plan, { price, periodEnd }),
    currency,
    periodEnd,
    discount: discountOf(given),
    isPaused: given.pause_collection !== null,
    cancelsAt: given.cancel_at ?? (given.cancel_at_period_end ? item.current_period_end : null),
  };
  return { id, at, subscription: given.id, owner: { customerId, product }, fact };
}

/** Use above the limits on an invoice; Stripe copies what we wrote to an item to its line. */
function useOn({ lines }: Stripe.Invoice): Pick<ChargeFact, 'use'> {
  const use = lines.data.flatMap(({ metadata: { [METADATA.use]: id }, amount, currency }) =>
    id === undefined ? [] : [{ id, amount: fromStripeAmount(amount, currency).amount }],
  );
  return use.length > 0 ? { use } : {};
}

/** A charge that succeeded or failed; nothing for an invoice without a subscription. */
export function chargeFact(kind: 'paid' | 'failed', invoice: Stripe.Invoice, { id, at }: { id: string; at: number }): GivenFact[] {
  const subscription = idOf(invoice.parent?.subscription_details?.subscription);
  if (subscription === undefined || invoice.id === undefined) return [];
  const { amount, currency } = fromStripeAmount(kind === 'paid' ? invoice.amount_paid : invoice.amount_due, invoice.currency);
  const url = invoice.hosted_invoice_url ?? null;
  return [{ id, at, subscription, fact: { kind, invoice: invoice.id, amount, currency, url, ...useOn(invoice) } }];
}

/** The facts of a subscription's or checkout's event; other kinds of events have none. */
export function newsOf(event: Stripe.Event): ProviderNews {
  const dated = { id: event.id, at: event.created };
  switch (event.type) {
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted': {
      const fact = subscriptionFact(event.data.object, dated);
      return { facts: fact ? [fact] : [] };
    }
    case 'checkout.session.completed':
    case 'checkout.session.expired':
      return { facts: [], checkout: event.data.object.client_reference_id ?? undefined };
    default:
      return { facts: [] };
  }
}
