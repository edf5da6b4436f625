import { z } from 'zod';
import { type GivenFact } from '../../../selling/billing/payment-facts';
import { lookedUp } from '../answer-clock';
import { asChange } from '../as-change';
import { ChangeRefused, type RefundWish } from '../../../selling/billing/payment-port';
import { type RazorpayClient } from './razorpay-client';
import { type InvoiceEntity, invoiceEntity, noteOf, NOTES, notes, type PaymentEntity, paymentEntity, useOn } from './razorpay-facts';
import { PAGE } from './razorpay-plans';

/** Stands for charges without a subscription, such as those of payment links. They say less, and are never ours. */
const UNREADABLE: InvoiceEntity = { id: '', status: '', amount: 0, currency: '' };
const invoices = z.object({ items: z.array(invoiceEntity.catch(() => UNREADABLE)) });
/** https://razorpay.com/docs/api/refunds/entity */
const refundEntity = z.object({ payment_id: z.string().nullish(), created_at: z.number(), notes });
const refunds = z.object({ items: z.array(refundEntity) });

/**
 * The state of a subscription's invoice. An issued invoice is owed only if the subscription is; the caller, who compares the two, knows.
 */
function invoiceFact({ id: invoice, status, amount, currency, subscription_id: subscription, ...more }: InvoiceEntity): GivenFact[] {
  const isPaid = status === 'paid';
  const at = isPaid ? more.paid_at : more.issued_at;
  if (typeof subscription !== 'string' || typeof at !== 'number' || (!isPaid && status !== 'issued')) return [];
  const money = { invoice, amount, currency, url: more.short_url ?? null, ...useOn(more) };
  const payment = isPaid && typeof more.payment_id === 'string' ? { payment: more.payment_id } : {};
  const fact = { kind: isPaid ? 'paid' : 'failed', ...money, ...payment } as const;
  return [lookedUp({ id: '', at, subscription, fact })];
}

/** All refunds of a payment. A payment names its invoice, and only the invoice names the subscription. */
export async function refundFacts(
  { sdk, asked }: RazorpayClient,
  payment: PaymentEntity | undefined,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<GivenFact[]> {
  if (typeof payment?.invoice_id !== 'string' || typeof payment.amount_refunded !== 'number') return [];
  const { subscription_id: subscription } = (await asked(sdk.invoices.fetch(payment.invoice_id), invoiceEntity)).value;
  if (typeof subscription !== 'string') return [];
  const { id: ofPayment, invoice_id: invoice, amount_refunded: amount, currency } = payment;
  return [{ id, at, subscription, fact: { kind: 'refunded', invoice, payment: ofPayment, amount, currency } }];
}

/** Charges and refunds since a time, in seconds since 1970. */
export async function* chargesSince(client: RazorpayClient, from: number): AsyncGenerator<GivenFact> {
  const { sdk, asked } = client;
  for (let skip = 0, count = PAGE; count === PAGE; skip += PAGE) {
    const { items } = (await asked(sdk.invoices.all({ from, count: PAGE, skip }), invoices)).value;
    yield* items.flatMap(invoiceFact);
    count = items.length;
  }
  for (let skip = 0, count = PAGE; count === PAGE; skip += PAGE) {
    const { items } = (await asked(sdk.refunds.all({ from, count: PAGE, skip }), refunds)).value;
    for (const { payment_id: id, created_at: at } of items) {
      if (typeof id !== 'string') continue;
      const { value } = await asked(sdk.payments.fetch(id), paymentEntity);
      yield* (await refundFacts(client, value, { id: '', at })).map(lookedUp);
    }
    count = items.length;
  }
}

/**
 * See PaymentPort. Razorpay recognises a repeated request by a header, which razorpay-client.ts makes of our id, and an older one by its
 * note.
 */
export async function refund(client: RazorpayClient, invoice: string, { id, amount, isAgain }: RefundWish): Promise<GivenFact[]> {
  const { sdk, asked } = client;
  const { payment_id: payment } = (await asChange(asked(sdk.invoices.fetch(invoice), invoiceEntity))).value;
  if (typeof payment !== 'string') throw new ChangeRefused('Razorpay has no payment of this invoice');
  const made = isAgain ? (await asked(sdk.payments.fetchMultipleRefund(payment, { count: PAGE }), refunds)).value.items : [];
  if (!made.some((each) => noteOf(each, 'refund') === id)) {
    await asChange(asked(sdk.payments.refund(payment, { amount, notes: { [NOTES.refund]: id } }), refundEntity));
  }
  const { value, at } = await asked(sdk.payments.fetch(payment), paymentEntity);
  return (await refundFacts(client, value, { id: '', at })).map(lookedUp);
}
