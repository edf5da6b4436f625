import type Stripe from 'stripe';
import { ChangeRefused, type RefundWish } from '../../../selling/billing/payment-port';
import { type GivenFact } from '../../../selling/billing/payment-facts';
import { lookedUp } from '../answer-clock';
import { asChange } from '../as-change';
import { toStripeAmount } from './stripe-amounts';
import { refundFacts } from './stripe-charges';
import { asked, pagesOf } from './stripe-client';
import { idOf, METADATA } from './stripe-facts';

/** Finds the payment of an invoice. */
export async function findPayment(stripe: Stripe, invoice: string, options: Stripe.RequestOptions = {}): Promise<string | undefined> {
  const { data } = await asked(stripe.invoicePayments.list({ invoice, status: 'paid', limit: 1 }, options));
  return idOf(data[0]?.payment.payment_intent);
}

/** Newest first. */
async function refundsOf(stripe: Stripe, payment: string): Promise<Stripe.Refund[]> {
  const found: Stripe.Refund[] = [];
  const list = { payment_intent: payment, expand: ['data.charge'] };
  for await (const { data } of pagesOf((page) => stripe.refunds.list({ ...list, ...page }))) found.push(...data);
  return found;
}

/** See PaymentPort. Stripe forgets idempotency keys after a day, so an older refund is found by our id. */
export async function refund(stripe: Stripe, invoice: string, { id, amount, currency, isAgain }: RefundWish): Promise<GivenFact[]> {
  const payment = await asChange(findPayment(stripe, invoice));
  if (payment === undefined) throw new ChangeRefused('Stripe has no payment of this invoice');
  const isKnown = isAgain && (await refundsOf(stripe, payment)).some(({ metadata }) => metadata?.[METADATA.refund] === id);
  if (!isKnown) {
    const wish = { payment_intent: payment, amount: toStripeAmount(amount, currency), metadata: { [METADATA.refund]: id } };
    await asChange(asked(stripe.refunds.create(wish, { idempotencyKey: `tollgate-refund-${id}` })));
  }
  const [newest] = await refundsOf(stripe, payment);
  if (typeof newest?.charge !== 'object' || newest.charge === null) return [];
  return (await refundFacts(stripe, newest.charge, { id: '', at: newest.created })).map(lookedUp);
}
