import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { digest } from '../answer-clock';
import { type GivenFact } from '../../../selling/billing/payment-facts';
import { EventRefused, type ProviderNews } from '../../../selling/billing/payment-port';
import { type RazorpayClient } from './razorpay-client';
import { refundFacts } from './razorpay-charges';
import { invoiceEntity, noteOf, type PaymentEntity, paymentEntity, subscriptionEntity, subscriptionFact, useOn } from './razorpay-facts';
import { type RazorpayPlans } from './razorpay-plans';

const inside = <S extends z.ZodType>(entity: S) => z.object({ entity }).optional();

/** https://razorpay.com/docs/webhooks/subscriptions and /refunds */
const event = z.object({
  event: z.string(),
  created_at: z.number(),
  payload: z.object({ subscription: inside(subscriptionEntity), payment: inside(paymentEntity) }),
});

/**
 * HMAC-SHA256 of the bytes as they came. The SDK compares byte by byte and stops at the first difference; this comparison takes the same
 * time wherever the difference is.
 */
function isSigned(body: Buffer, signature: unknown, secret: string): boolean {
  const wanted = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'));
  const given = Buffer.from(typeof signature === 'string' ? signature : '');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Undefined for anything but JSON. Razorpay never sends that, and would switch the webhook off after a day of errors. */
function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/**
 * Events that come with a successful charge. A failed charge is reported by `subscription.pending`; `payment.failed` names no subscription.
 */
const CHARGED = ['subscription.charged', 'subscription.completed'];

/** What was charged with an event, and for what. Only a sum other than the plan's price can include use above the limits. */
async function madeCharge(
  { client: { sdk, asked } }: EventTools,
  { id, at, subscription, fact }: GivenFact,
  payment: PaymentEntity | undefined,
): Promise<GivenFact[]> {
  if (payment?.status !== 'captured') return [];
  const { amount, currency } = payment;
  const found = payment.invoice_id ?? (await asked(sdk.payments.fetch(payment.id), paymentEntity)).value.invoice_id;
  const invoice = found ?? payment.id;
  const isMore = fact.kind === 'subscription' && amount !== fact.price && typeof found === 'string';
  const use = isMore ? useOn((await asked(sdk.invoices.fetch(invoice), invoiceEntity)).value) : {};
  return [
    { id: `${id} paid`, at, subscription, fact: { kind: 'paid', invoice, payment: payment.id, amount, currency, url: null, ...use } },
  ];
}

interface EventTools {
  readonly client: RazorpayClient;
  readonly plans: RazorpayPlans;
  readonly webhookSecret: string;
}

/**
 * The charge that is owed. An event of a failed charge need not name its invoice, so the unpaid one is looked up. Undefined once that is
 * paid.
 */
async function failedCharge({ client: { sdk, asked } }: EventTools, { id, at, subscription }: GivenFact): Promise<GivenFact[]> {
  const { items } = (await asked(sdk.invoices.all({ subscription_id: subscription }), z.object({ items: z.array(invoiceEntity) }))).value;
  const owed = items.find(({ status }) => status === 'issued');
  if (!owed) return [];
  const { id: invoice, amount, currency, short_url: url = null } = owed;
  return [{ id: `${id} failed`, at, subscription, fact: { kind: 'failed', invoice, amount, currency, url } }];
}

/**
 * The facts of an event; other kinds of events have none. The event's id is derived from its bytes, which are signed. The header
 * `x-razorpay-event-id` is not signed, so an intercepted event could count again under another id. Razorpay signs no time, and sends an
 * event again for a day.
 * @throws EventRefused, and ProviderAway if a plan must be asked for and cannot be
 */
export async function readRazorpayEvent(tools: EventTools, body: Buffer, signature: unknown): Promise<ProviderNews> {
  if (!isSigned(body, signature, tools.webhookSecret)) throw new EventRefused('the signature of the event is not right');
  const { data } = event.safeParse(readJson(body));
  if (!data) return { facts: [] };
  const id = digest(body);
  if (data.event === 'refund.processed') {
    return { facts: await refundFacts(tools.client, data.payload.payment?.entity, { id, at: data.created_at }) };
  }
  const subscription = data.payload.subscription?.entity;
  if (!subscription || noteOf(subscription, 'customer') === undefined) return { facts: [] };
  const checkout = noteOf(subscription, 'checkout');
  const [plan, next] = [await tools.plans.find(subscription.plan_id), await tools.plans.findNext(subscription)];
  const fact = subscriptionFact(subscription, plan, { id, at: data.created_at, next });
  if (!fact) return { facts: [], checkout };
  const charges = CHARGED.includes(data.event) ? await madeCharge(tools, fact, data.payload.payment?.entity) : [];
  const failures = data.event === 'subscription.pending' ? await failedCharge(tools, fact) : [];
  return { facts: [fact, ...charges, ...failures], checkout };
}
