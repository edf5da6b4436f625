import type Stripe from 'stripe';
import { type GivenFact } from '../../../selling/billing/payment-facts';
import { lookedUp } from '../answer-clock';
import { ChangeRefused, type RefundWish, type UseCharge } from '../../../selling/billing/payment-port';
import { asChange } from '../as-change';
import { fromStripeAmount, toStripeAmount } from './stripe-amounts';
import { asked, pagesOf } from './stripe-client';
import { chargeFact, idOf, METADATA } from './stripe-facts';

/**
 * The invoice with all its lines: in an event or a list it has only ten.
 * @throws ProviderAway, ProviderRefused
 */
export async function wholeInvoice(stripe: Stripe, invoice: Stripe.Invoice): Promise<Stripe.Invoice> {
  const { id, lines } = invoice;
  if (id === undefined || !lines.has_more) return invoice;
  const data: Stripe.InvoiceLineItem[] = [];
  for await (const page of pagesOf((where) => stripe.invoices.listLineItems(id, where))) data.push(...page.data);
  return { ...invoice, lines: { ...lines, data, has_more: false } };
}

/** The state of an invoice that Stripe has tried to charge; nothing for other invoices. */
function invoiceFacts(invoice: Stripe.Invoice): GivenFact[] {
  const { status, attempted, created, status_transitions: moments } = invoice;
  const isOwed = attempted && (status === 'open' || status === 'uncollectible');
  if (status !== 'paid' && !isOwed) return [];
  const [kind, at] = isOwed ? (['failed', moments.finalized_at] as const) : (['paid', moments.paid_at] as const);
  return chargeFact(kind, invoice, { id: '', at: at ?? created }).map(lookedUp);
}

/**
 * All refunds of a charge. A charge no longer names its invoice, so Stripe is asked.
 * @throws ProviderAway, ProviderRefused
 */
export async function refundFacts(stripe: Stripe, charge: Stripe.Charge, { id, at }: { id: string; at: number }): Promise<GivenFact[]> {
  const { id: payment, payment_intent: intent, amount_refunded: refunded, currency: code } = charge;
  const of = idOf(intent);
  if (of === undefined) return [];
  const payments = await asked(
    stripe.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent: of }, limit: 1, expand: ['data.invoice'] }),
  );
  const invoice = payments.data[0]?.invoice;
  const isWhole = typeof invoice === 'object' && 'parent' in invoice;
  const subscription = isWhole ? idOf(invoice.parent?.subscription_details?.subscription) : undefined;
  if (!isWhole || subscription === undefined) return [];
  const { amount, currency } = fromStripeAmount(refunded, code);
  return [{ id, at, subscription, fact: { kind: 'refunded', invoice: invoice.id, payment, amount, currency } }];
}

/** Charges and refunds since a time, in seconds since 1970. */
export async function* chargesSince(stripe: Stripe, since: number): AsyncGenerator<GivenFact> {
  const created = { gte: since };
  for await (const { data } of pagesOf((page) => stripe.invoices.list({ created, ...page }))) {
    for (const each of data) yield* invoiceFacts(await wholeInvoice(stripe, each));
  }
  for await (const { data } of pagesOf((page) => stripe.refunds.list({ created, expand: ['data.charge'], ...page }))) {
    for (const { charge, created: at } of data) {
      if (charge !== null && typeof charge === 'object') yield* (await refundFacts(stripe, charge, { id: '', at })).map(lookedUp);
    }
  }
}

const MINUTE_MS = 60_000;

/** See PaymentPort: an invoice that is owed is charged once more. */
export async function chargeAgain(stripe: Stripe, invoice: string, nowMs: number): Promise<GivenFact[]> {
  const found = await asked(stripe.invoices.retrieve(invoice));
  if (found.status === 'paid') return invoiceFacts(await wholeInvoice(stripe, found));
  if (found.status !== 'open') throw new ChangeRefused(`Stripe has this invoice as ${String(found.status)}`);
  const idempotencyKey = `tollgate-retry-${invoice}-${Math.floor(nowMs / MINUTE_MS)}`;
  await asked(stripe.invoices.pay(invoice, {}, { idempotencyKey }));
  // Read again: a second press within the minute gets the first press's outcome.
  return invoiceFacts(await wholeInvoice(stripe, await asked(stripe.invoices.retrieve(invoice))));
}

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

/** Stripe forgets idempotency keys after a day, so older items are found by our id. */
async function findItems(stripe: Stripe, customer: string, id: string): Promise<Stripe.InvoiceItem[]> {
  const found: Stripe.InvoiceItem[] = [];
  for await (const { data } of pagesOf((page) => stripe.invoiceItems.list({ customer, ...page }))) {
    found.push(...data.filter(({ metadata }) => metadata?.[METADATA.use] === id));
  }
  return found;
}

/** Whether nobody will pay the item: invoices of a period that begins while the payment is paused are void. */
async function isVoid(stripe: Stripe, { invoice }: Stripe.InvoiceItem): Promise<boolean> {
  const id = idOf(invoice);
  return id !== undefined && (await asked(stripe.invoices.retrieve(id))).status === 'void';
}

/** See PaymentPort: use above limits, as an item of the subscription's next invoice. */
export async function chargeUse(stripe: Stripe, subscription: string, use: UseCharge): Promise<string> {
  const { id, account, description, amount, currency, isAgain } = use;
  const customer = account ?? idOf((await asked(stripe.subscriptions.retrieve(subscription))).customer) ?? '';
  const known = isAgain ? await findItems(stripe, customer, id) : [];
  for (const item of known) if (!(await isVoid(stripe, item))) return item.id;
  const money = { amount: toStripeAmount(amount, currency), currency: currency.toLowerCase() };
  const idempotencyKey = known.length === 0 ? `tollgate-use-${id}` : `tollgate-use-${id}-${known.length}`;
  // Discounts apply to the plan's price only.
  const item = { customer, subscription, ...money, description, discountable: false, metadata: { [METADATA.use]: id } };
  return (await asked(stripe.invoiceItems.create(item, { idempotencyKey }))).id;
}
