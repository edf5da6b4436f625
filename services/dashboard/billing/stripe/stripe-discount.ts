import type Stripe from 'stripe';
import { type DiscountWish } from '../../../selling/billing/payment-port';
import { toStripeAmount } from './stripe-amounts';
import { asked } from './stripe-client';
import { METADATA } from './stripe-facts';
import { lineOf } from './stripe-switch';

/** Stripe's maximum for a name. */
const MAX_NAME = 40;

/** The same day of a later month, or that month's last day. */
function monthsAfter(seconds: number, months: number): number {
  const from = new Date(seconds * 1_000);
  const last = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months + 1, 0)).getUTCDate();
  const to = new Date(from);
  to.setUTCMonth(from.getUTCMonth() + months, Math.min(from.getUTCDate(), last));
  return to.getTime() / 1_000;
}

function couponWish({ percent, amount, currency, months, name }: DiscountWish): Stripe.CouponCreateParams {
  const duration = months === null ? ({ duration: 'forever' } as const) : ({ duration: 'repeating', duration_in_months: months } as const);
  const off =
    amount === null ? { percent_off: percent ?? 0 } : { amount_off: toStripeAmount(amount, currency), currency: currency.toLowerCase() };
  return { ...off, ...duration, name: name.slice(0, MAX_NAME), max_redemptions: 1 };
}

/** See SubscriptionChange: a new coupon replaces the earlier discount. Stripe removes a metadata key that is set to an empty text. */
export async function giveDiscount(stripe: Stripe, subscription: string, discount: DiscountWish | null): Promise<void> {
  if (!discount) {
    const metadata = { [METADATA.discount]: '', [METADATA.discountUntil]: '' };
    await asked(stripe.subscriptions.update(subscription, { discounts: '', metadata }));
    return;
  }
  const { id, percent, amount, months } = discount;
  const { item } = await lineOf(stripe, subscription);
  const coupon = await asked(stripe.coupons.create(couponWish(discount), { idempotencyKey: `tollgate-coupon-${id}` }));
  const until = months === null ? '' : String(monthsAfter(item.current_period_end, months - 1));
  const metadata = { [METADATA.discount]: amount === null ? `${percent ?? 0}%` : String(amount), [METADATA.discountUntil]: until };
  const change = { discounts: [{ coupon: coupon.id }], metadata };
  await asked(stripe.subscriptions.update(subscription, change, { idempotencyKey: `tollgate-discount-${id}` }));
}
