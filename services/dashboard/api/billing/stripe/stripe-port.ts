import { createHash } from 'node:crypto';
import Stripe from 'stripe';
import {
  type CheckoutWish,
  EVENT_AGE_SECONDS,
  EventRefused,
  PaymentFailed,
  type PaymentPort,
  type PlanSwitch,
  ProviderAway,
  ProviderRefused,
  type SubscriptionChange,
} from '../payment-port';
import { fromStripeAmount, toStripeAmount } from './stripe-amounts';
import { METADATA, newsOf, subscriptionFact } from './stripe-facts';

export interface StripeOptions {
  /** `sandbox` speaks to the stand-in of `npm start`. */
  readonly name: 'stripe' | 'sandbox';
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** In place of https://api.stripe.com, for a stand-in. */
  readonly url?: string | undefined;
}

/** A person waits. Stripe's own default is 80 s. */
const TIMEOUT_MS = 10_000;
/** Each with the same idempotency key. */
const RETRIES = 1;

function connect({ secretKey, url }: StripeOptions): Stripe {
  const place = url === undefined ? undefined : new URL(url);
  return new Stripe(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(place && { host: place.hostname, port: place.port, protocol: place.protocol === 'http:' ? 'http' : 'https' }),
  });
}

/** Whether asking again later may help. */
function isAway(error: unknown): boolean {
  const { errors } = Stripe;
  return (
    error instanceof errors.StripeConnectionError || error instanceof errors.StripeAPIError || error instanceof errors.StripeRateLimitError
  );
}

async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Stripe.errors.StripeCardError) throw new PaymentFailed(cause.message, { cause });
    if (isAway(cause)) throw new ProviderAway('Stripe cannot be reached', { cause });
    throw new ProviderRefused(cause instanceof Error ? cause.message : 'Stripe refused', { cause });
  }
}

/** Stripe's most. */
const PAGE = 100;

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

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const STATES = { open: 'open', complete: 'paid', expired: 'closed' } as const;

/** Takes payments by Stripe: hosted checkout and portal, its official SDK, and signed webhooks. */
export function createStripePort(options: StripeOptions): PaymentPort {
  const stripe = connect(options);
  const dateOf = answerClock();
  /** How it is now, at the time that the answer itself states. */
  const factOf = (given: Stripe.Response<Stripe.Subscription>, at = dateOf(given)) => {
    const fact = subscriptionFact(given, { id: '', at });
    return fact ? [{ ...fact, id: `look ${digest(JSON.stringify(fact)).slice(0, 32)}` }] : [];
  };
  /** The line with its new price; the product at Stripe stays. */
  const switchOf = async (subscription: string, { price, at }: PlanSwitch) => {
    const [item] = (await asked(stripe.subscriptions.retrieve(subscription))).items.data;
    if (!item) throw new ProviderRefused('the subscription has no line');
    const { currency, product } = item.price;
    const unitAmount = toStripeAmount(price, currency.toUpperCase());
    const id = typeof product === 'string' ? product : product.id;
    const recurring = { interval: 'month' as const };
    return {
      items: [{ id: item.id, price_data: { currency, product: id, unit_amount: unitAmount, recurring } }],
      proration: { proration_behavior: 'always_invoice' as const, proration_date: at },
    };
  };
  const switchPlan = async (subscription: string, wish: PlanSwitch) => {
    const { items, proration } = await switchOf(subscription, wish);
    const change = { items, ...proration, metadata: { [METADATA.plan]: wish.plan }, payment_behavior: 'error_if_incomplete' } as const;
    const idempotencyKey = `tollgate-switch-${subscription}-${wish.plan}-${wish.price}-${wish.at}`;
    return factOf(await asked(stripe.subscriptions.update(subscription, change, { idempotencyKey })));
  };
  const accountOf = async ({ customerId, email }: CheckoutWish): Promise<string> => {
    const customer = { email, metadata: { [METADATA.customer]: customerId } };
    // The same key with another member's address would be refused for a day.
    const idempotencyKey = `tollgate-customer-${customerId}-${digest(email).slice(0, 8)}`;
    return (await asked(stripe.customers.create(customer, { idempotencyKey }))).id;
  };
  return {
    name: options.name,

    async openCheckout(wish) {
      const account = wish.account ?? (await accountOf(wish));
      const idempotencyKey = `tollgate-checkout-${wish.id}`;
      const session = await asked(stripe.checkout.sessions.create(sessionWish(wish, account), { idempotencyKey }));
      if (session.url === null) throw new ProviderRefused('Stripe gave no page for a checkout');
      return { account, session: session.id, url: session.url };
    },

    async settleCheckout(session, act) {
      if (act === 'close') await stripe.checkout.sessions.expire(session).catch(() => undefined);
      const found = await asked(stripe.checkout.sessions.retrieve(session, SCOPE));
      const state = STATES[found.status as keyof typeof STATES] ?? 'open';
      const { subscription } = found;
      if (subscription === null || typeof subscription === 'string') return { state, facts: [] };
      return { state, facts: factOf(subscription as Stripe.Response<Stripe.Subscription>, dateOf(found)) };
    },

    async *listSubscriptions(id) {
      if (id !== undefined) return yield* factOf(await asked(stripe.subscriptions.retrieve(id)));
      let after: string | undefined;
      for (;;) {
        const page = await asked(
          stripe.subscriptions.list({ status: 'all', limit: PAGE, ...(after !== undefined && { starting_after: after }) }),
        );
        const at = dateOf(page);
        for (const each of page.data) yield* factOf(each as Stripe.Response<Stripe.Subscription>, at);
        after = page.data.at(-1)?.id;
        if (!page.has_more || after === undefined) return;
      }
    },

    async changeSubscription(subscription, change: SubscriptionChange) {
      if (change.kind === 'switch') return switchPlan(subscription, change);
      if (change.kind === 'end') return factOf(await asked(stripe.subscriptions.cancel(subscription)));
      return factOf(await asked(stripe.subscriptions.update(subscription, { cancel_at_period_end: change.kind === 'cancel' })));
    },

    async previewChange(subscription, wish) {
      const { items, proration } = await switchOf(subscription, wish);
      const preview = await asked(stripe.invoices.createPreview({ subscription, subscription_details: { items, ...proration } }));
      return fromStripeAmount(preview.total, preview.currency);
    },

    async openPortal(account, returnUrl) {
      const { url } = await asked(stripe.billingPortal.sessions.create({ customer: account, return_url: returnUrl }));
      return { url };
    },

    readEvent(body, headers, nowMs) {
      const signature = headers['stripe-signature'];
      if (typeof signature !== 'string') throw new EventRefused('the event is not signed');
      try {
        const event = stripe.webhooks.constructEvent(body, signature, options.webhookSecret, EVENT_AGE_SECONDS, undefined, nowMs);
        return Promise.resolve(newsOf(event));
      } catch (cause) {
        throw new EventRefused('the signature of the event is not right, or it is too old', { cause });
      }
    },
  };
}

/**
 * When an answer was given, by its own header: no clock of ours is compared with Stripe's. The header has no parts of a second. Halves put
 * what was asked after the events of that second, and thousandths in the order in which it was answered.
 */
function answerClock(): (answer: Stripe.Response<object>) => number {
  let last = 0;
  return ({ lastResponse }) => {
    const at = Date.parse(lastResponse.headers['date'] ?? '') / 1_000;
    last = Math.max((Number.isNaN(at) ? Math.floor(Date.now() / 1_000) : at) + 0.5, last + 0.001);
    return last;
  };
}
