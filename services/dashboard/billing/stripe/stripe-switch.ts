import type Stripe from 'stripe';
import { ChangeRefused, type PlanSwitch, ProviderRefused, type SwitchCost } from '../../../selling/billing/payment-port';
import { fromStripeAmount, toStripeAmount } from './stripe-amounts';
import { asked } from './stripe-client';
import { METADATA } from './stripe-facts';

export async function lineOf(stripe: Stripe, subscription: string) {
  const found = await asked(stripe.subscriptions.retrieve(subscription));
  const [item] = found.items.data;
  if (!item) throw new ProviderRefused('the subscription has no line');
  return { item, metadata: found.metadata };
}
type Line = Awaited<ReturnType<typeof lineOf>>['item'];

const priceOf = ({ price }: Line): number => fromStripeAmount(price.unit_amount ?? 0, price.currency).amount;

/**
 * The line with another price; the product at Stripe stays.
 * @param price in Tollgate's minor units
 */
function priced({ id, price: { currency, product } }: Line, price: number) {
  const unitAmount = toStripeAmount(price, currency.toUpperCase());
  const recurring = { interval: 'month' as const };
  return [
    { id, price_data: { currency, product: typeof product === 'string' ? product : product.id, unit_amount: unitAmount, recurring } },
  ];
}

/**
 * Charges the whole difference, by having Stripe compute from the period's first second. A partial charge would let a customer have an
 * expensive plan for the price of a minute.
 */
const prorationOf = ({ current_period_start: start }: Line, { charge }: PlanSwitch) =>
  charge > 0
    ? { proration_behavior: 'always_invoice' as const, proration_date: start }
    : // Stripe neither charges nor credits anything, and the next invoice has the new price.
      { proration_behavior: 'none' as const };

/** Stripe removes a metadata key that is set to an empty text. */
const NOTHING_WAITS = { [METADATA.next]: '', [METADATA.paidPrice]: '', [METADATA.paidUntil]: '' };

/** Metadata that says which plan holds now and from the next period. */
function noted(line: Line, { plan, begins }: PlanSwitch): Record<string, string> {
  if (begins === 'now') return { [METADATA.plan]: plan, ...NOTHING_WAITS };
  return { [METADATA.next]: plan, [METADATA.paidPrice]: String(priceOf(line)), [METADATA.paidUntil]: String(line.current_period_end) };
}

/** The plan that the period is paid for, if another one has begun since. */
function presentPlan(metadata: Stripe.Metadata, { current_period_end: end }: Line): Record<string, string> {
  const { [METADATA.next]: next, [METADATA.paidUntil]: until } = metadata;
  return next !== undefined && until !== undefined && end > Number(until) ? { [METADATA.plan]: next } : {};
}

/** See PaymentPort: another plan, now or with the next period. */
export async function switchPlan(stripe: Stripe, subscription: string, wish: PlanSwitch): Promise<void> {
  const { item, metadata } = await lineOf(stripe, subscription);
  if (priceOf(item) !== wish.heldPrice) throw new ChangeRefused('the subscription was changed in the meantime');
  const change = {
    items: priced(item, wish.price),
    ...prorationOf(item, wish),
    metadata: { ...presentPlan(metadata, item), ...noted(item, wish) },
    payment_behavior: 'error_if_incomplete',
  } as const;
  await asked(stripe.subscriptions.update(subscription, change, { idempotencyKey: `tollgate-switch-${wish.id}` }));
}

/** See PaymentPort: takes back a plan that was to begin with the next period. */
export async function stayOnPlan(stripe: Stripe, subscription: string): Promise<void> {
  const { item, metadata } = await lineOf(stripe, subscription);
  const { [METADATA.paidPrice]: price, [METADATA.paidUntil]: until } = metadata;
  if (price === undefined || item.current_period_end > Number(until)) throw new ChangeRefused('no other plan waits');
  const change = { items: priced(item, Number(price)), proration_behavior: 'none', metadata: NOTHING_WAITS } as const;
  await asked(stripe.subscriptions.update(subscription, change));
}

/** See PaymentPort: what a switch costs now, with tax and discounts. */
export async function previewSwitch(stripe: Stripe, subscription: string, wish: PlanSwitch): Promise<SwitchCost> {
  const { item } = await lineOf(stripe, subscription);
  if (wish.charge === 0) return { amount: 0, currency: item.price.currency.toUpperCase() };
  const details = { items: priced(item, wish.price), ...prorationOf(item, wish) };
  const preview = await asked(stripe.invoices.createPreview({ subscription, subscription_details: details }));
  return fromStripeAmount(preview.total, preview.currency);
}
