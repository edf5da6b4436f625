import type Stripe from 'stripe';
import { type UseCharge } from '../../../selling/billing/payment-port';
import { toStripeAmount } from './stripe-amounts';
import { asked, pagesOf } from './stripe-client';
import { idOf, METADATA } from './stripe-facts';

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
