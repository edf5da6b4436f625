import type Stripe from 'stripe';
import { type UseCharge } from '../../../selling/billing/payment-port';
import { toStripeAmount } from './stripe-amounts';
import { asked, pagesOf } from './stripe-client';
import { idOf, METADATA } from './stripe-facts';

/** Stripe forgets idempotency keys after a day: an older item is found by our id. */
async function findItem(stripe: Stripe, customer: string, id: string): Promise<string | undefined> {
  for await (const { data } of pagesOf((page) => stripe.invoiceItems.list({ customer, ...page }))) {
    const found = data.find(({ metadata }) => metadata?.[METADATA.use] === id);
    if (found) return found.id;
  }
  return undefined;
}

/** See PaymentPort: use above limits, as an item of the subscription's next invoice. */
export async function chargeUse(stripe: Stripe, subscription: string, use: UseCharge): Promise<string> {
  const { id, account, description, amount, currency, isAgain } = use;
  const customer = account ?? idOf((await asked(stripe.subscriptions.retrieve(subscription))).customer) ?? '';
  const known = isAgain ? await findItem(stripe, customer, id) : undefined;
  if (known !== undefined) return known;
  const money = { amount: toStripeAmount(amount, currency), currency: currency.toLowerCase() };
  // A discount is off the price of the plan.
  const item = { customer, subscription, ...money, description, discountable: false, metadata: { [METADATA.use]: id } };
  return (await asked(stripe.invoiceItems.create(item, { idempotencyKey: `tollgate-use-${id}` }))).id;
}
