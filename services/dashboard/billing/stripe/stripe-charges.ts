import type Stripe from 'stripe';
import { type GivenFact } from '../../../selling/billing/payment-facts';
import { lookedUp } from '../answer-clock';
import { ChangeRefused } from '../../../selling/billing/payment-port';
import { fromStripeAmount } from './stripe-amounts';
import { asked, pagesOf } from './stripe-client';
import { chargeFact, idOf } from './stripe-facts';

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
