import type Stripe from 'stripe';
import { answerClock, digest, lookedUp } from '../answer-clock';
import {
  type CheckoutWish,
  type DiscountWish,
  EVENT_AGE_SECONDS,
  EventRefused,
  type PaymentPort,
  ProviderRefused,
  type SubscriptionChange,
} from '../../../selling/billing/payment-port';
import { toStripeAmount } from './stripe-amounts';
import { chargeAgain, chargesSince, chargeUse, findPayment, refund, refundFacts, wholeInvoice } from './stripe-charges';
import { asked, connect, lacks, pagesOf, type StripeOptions } from './stripe-client';
import { chargeFact, METADATA, newsOf, subscriptionFact } from './stripe-facts';
import { lineOf, previewSwitch, stayOnPlan, switchPlan } from './stripe-switch';

const SCOPE = { expand: ['subscription'] };

function sessionWish(wish: CheckoutWish, account: string) {
  const { id, customerId, product, title, plan, price, currency, trialDays, takesCodes, returnUrl, cancelUrl } = wish;
  return {
    mode: 'subscription',
    customer: account,
    client_reference_id: id,
    success_url: returnUrl,
    cancel_url: cancelUrl,
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: currency.toLowerCase(),
          unit_amount: toStripeAmount(price, currency),
          recurring: { interval: 'month' },
          product_data: { name: `${title}: ${plan}` },
        },
      },
    ],
    ...(takesCodes && { allow_promotion_codes: true }),
    subscription_data: {
      metadata: { [METADATA.customer]: customerId, [METADATA.product]: product, [METADATA.plan]: plan },
      ...(trialDays > 0 && { trial_period_days: trialDays }),
    },
  } satisfies Stripe.Checkout.SessionCreateParams;
}

function verified(read: () => Stripe.Event): Stripe.Event {
  try {
    return read();
  } catch (cause) {
    throw new EventRefused('the signature of the event is not right, or it is too old', { cause });
  }
}

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
async function giveDiscount(stripe: Stripe, subscription: string, discount: DiscountWish | null): Promise<void> {
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

async function carryOut(stripe: Stripe, subscription: string, change: SubscriptionChange): Promise<void> {
  const update = async (wish: Stripe.SubscriptionUpdateParams): Promise<void> =>
    void (await asked(stripe.subscriptions.update(subscription, wish)));
  switch (change.kind) {
    case 'switch':
      return switchPlan(stripe, subscription, change);
    case 'stay':
      return stayOnPlan(stripe, subscription);
    case 'discount':
      return giveDiscount(stripe, subscription, change.discount);
    case 'end':
      return void (await asked(stripe.subscriptions.cancel(subscription)));
    case 'cancel':
    case 'keep':
      return update({ cancel_at_period_end: change.kind === 'cancel' });
    case 'pause':
      return update({ pause_collection: { behavior: 'void' } });
    case 'resume':
      return update({ pause_collection: '' });
  }
}

/** An invoice waits for this call. */
const SOON = { timeout: 2_000, maxNetworkRetries: 0 };
const STATES = { open: 'open', complete: 'paid', expired: 'closed' } as const;

/** Takes payments by Stripe: hosted checkout and portal, its official SDK, and signed webhooks. */
export function createStripePort(options: StripeOptions): PaymentPort {
  const stripe = connect(options);
  const timeOf = answerClock();
  const dateOf = ({ lastResponse }: Stripe.Response<object>): number => timeOf(lastResponse.headers['date']);
  /** The subscription at the time that the response states. */
  const factOf = (given: Stripe.Response<Stripe.Subscription>, at = dateOf(given)) => {
    const fact = subscriptionFact(given, { id: '', at });
    return fact ? [lookedUp(fact)] : [];
  };
  const askAgain = async (id: string) => factOf(await asked(stripe.subscriptions.retrieve(id)));
  const accountOf = async ({ customerId, email, account = '' }: CheckoutWish): Promise<string> => {
    const customer = { email, metadata: { [METADATA.customer]: customerId } };
    // The key includes the address. The same key with another address would be refused for a day, and lead back to a customer deleted
    // since.
    const idempotencyKey = `tollgate-customer-${customerId}-${digest(`${email}${account}`).slice(0, 8)}`;
    return (await asked(stripe.customers.create(customer, { idempotencyKey }))).id;
  };
  const sessionFor = async (wish: CheckoutWish, account: string) => {
    const idempotencyKey = `tollgate-checkout-${wish.id}-${digest(account).slice(0, 8)}`;
    const session = await asked(stripe.checkout.sessions.create(sessionWish(wish, account), { idempotencyKey }));
    if (session.url === null) throw new ProviderRefused('Stripe gave no page for a checkout');
    return { account, session: session.id, url: session.url };
  };
  return {
    name: options.name,
    leadsBack: true,
    isCancelFinal: false,
    chargesAtOnce: true,
    takesDiscounts: true,

    async openCheckout(wish) {
      const account = wish.account ?? (await accountOf(wish));
      try {
        return await sessionFor(wish, account);
      } catch (error) {
        // Somebody deleted the customer at Stripe.
        if (!lacks(error, 'customer')) throw error;
        return sessionFor(wish, await accountOf({ ...wish, account }));
      }
    },

    async settleCheckout(session, act) {
      if (act === 'close') await stripe.checkout.sessions.expire(session).catch(() => undefined);
      const found = await asked(stripe.checkout.sessions.retrieve(session, SCOPE));
      const state = STATES[found.status as keyof typeof STATES] ?? 'open';
      const { subscription } = found;
      if (subscription === null || typeof subscription === 'string') return { state, facts: [] };
      return { state, facts: factOf(subscription as Stripe.Response<Stripe.Subscription>, dateOf(found)) };
    },

    async *listFacts(of) {
      if (typeof of === 'string') return yield* await askAgain(of);
      for await (const page of pagesOf((where) => stripe.subscriptions.list({ status: 'all', ...where }))) {
        const at = dateOf(page);
        for (const each of page.data) yield* factOf(each as Stripe.Response<Stripe.Subscription>, at);
      }
      yield* chargesSince(stripe, of.since);
    },

    async changeSubscription(subscription, change) {
      await carryOut(stripe, subscription, change);
      return askAgain(subscription);
    },

    previewChange: (subscription, wish) => previewSwitch(stripe, subscription, wish),

    chargeAgain: (invoice, nowMs) => chargeAgain(stripe, invoice, nowMs),
    refund: (invoice, wish) => refund(stripe, invoice, wish),
    findPayment: (invoice) => findPayment(stripe, invoice, SOON),
    chargeUse: (subscription, use) => chargeUse(stripe, subscription, use),

    async openPortal(account, returnUrl) {
      const { url } = await asked(stripe.billingPortal.sessions.create({ customer: account, return_url: returnUrl }));
      return { url };
    },

    async readEvent(body, headers, nowMs) {
      const signature = headers['stripe-signature'];
      if (typeof signature !== 'string') throw new EventRefused('the event is not signed');
      const event = verified(() =>
        stripe.webhooks.constructEvent(body, signature, options.webhookSecret, EVENT_AGE_SECONDS, undefined, nowMs),
      );
      const dated = { id: event.id, at: event.created };
      switch (event.type) {
        case 'charge.refunded':
          return { facts: await refundFacts(stripe, event.data.object, dated) };
        case 'invoice.paid':
          return { facts: chargeFact('paid', await wholeInvoice(stripe, event.data.object), dated) };
        case 'invoice.payment_failed':
          return { facts: chargeFact('failed', await wholeInvoice(stripe, event.data.object), dated) };
        default:
          return newsOf(event);
      }
    },
  };
}
