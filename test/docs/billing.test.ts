import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { computeStatement, type Statement, type SubscriptionTerm } from '../../services/selling/statements/statement';

const DOCS = join(__dirname, '..', '..', 'docs');
const page = readFileSync(join(DOCS, 'seller-webhooks.md'), 'utf8');

type Invoice = (vendor: object, customer: string, event: unknown) => Promise<void>;

/** The function of an example that the page links to. */
function snippet(vendor: string): Invoice {
  const name = `examples/invoice_${vendor.toLowerCase()}.cjs`;
  if (!page.includes(`(${name})`)) throw new Error(`the page shows nothing for ${vendor}`);
  return runInNewContext(`${readFileSync(join(DOCS, name), 'utf8')}; invoice`, { module: {} }) as Invoice;
}

const term = { daily: 10, monthly: 100, overage: null, isActive: true, isPaidInAdvance: false, fromDay: '2027-03-01', toDay: '2027-03-31' };
const gold: SubscriptionTerm = { ...term, subscriptionId: 's1', product: 'weather', plan: 'Gold', price: '310.00', currency: 'EUR' };
const star: SubscriptionTerm = { ...gold, product: 'api-ip', subscriptionId: 's2', plan: 'Star', price: '499.00', currency: 'INR' };
const free: SubscriptionTerm = { ...gold, product: 'api-seo', subscriptionId: 's3', plan: null, price: '0.00', currency: null };
const TERMS = [
  { ...gold, toDay: '2027-03-10' },
  { ...gold, plan: 'Platinum', price: '99.99', fromDay: '2027-03-11' },
  star,
  { ...star, subscriptionId: 's4', product: 'api-pincode', price: '333.33', fromDay: '2027-03-20' },
  free,
];

/** What `statement.ready` sends of it: test/dashboard/customer/webhooks holds the whole message. */
const eventOf = (statement: Statement) => ({
  id: '6b0d0f7a-6c7c-4f0e-9f53-4a5a8d3f4a10',
  data: { customer_id: '0f8fad5b-d9cb-469f-a165-70867728950e', customer: 'asha@example.com', ...statement },
});

const minorUnits = (amount: string | undefined): number => Math.round(Number(amount) * 100);
const totalIn = ({ data }: { readonly data: Statement }, currency: string): number =>
  minorUnits(data.totals.find((total) => total.currency === currency)?.amount);

const amount = z.int().positive();
/** What is used of the members that Stripe documents for `POST /v1/invoiceitems` and `POST /v1/invoices`; it refuses unknown ones. */
const invoiceItem = z.strictObject({ customer: z.string(), currency: z.string().regex(/^[a-z]{3}$/), amount, description: z.string() });
const stripeInvoice = z.strictObject({
  customer: z.string(),
  currency: z.string().regex(/^[a-z]{3}$/),
  pending_invoice_items_behavior: z.enum(['include', 'exclude']),
});
const idempotency = z.strictObject({ idempotencyKey: z.string().min(1).max(255) });

/** Keeps pending items until an invoice of their currency takes them, and answers a repeated key as the first time. */
class StripeStandIn {
  readonly made: { readonly currency: string; readonly amounts: readonly number[] }[] = [];
  pending: z.output<typeof invoiceItem>[] = [];
  private readonly seen = new Map<string, string>();

  readonly invoiceItems = {
    create: async (given: unknown, options: unknown): Promise<void> => {
      const item = invoiceItem.parse(given);
      if (this.isNew(item, options)) this.pending.push(item);
    },
  };

  /** The vendor's name of the member beside it. */
  readonly invoices = {
    create: async (given: unknown, options: unknown): Promise<void> => {
      const invoice = stripeInvoice.parse(given);
      if (!this.isNew(invoice, options)) return;
      const taken = this.pending.filter((item) => item.currency === invoice.currency && item.customer === invoice.customer);
      this.pending = this.pending.filter((item) => !taken.includes(item));
      this.made.push({ currency: invoice.currency, amounts: taken.map((item) => item.amount) });
    },
  };

  private isNew(given: object, options: unknown): boolean {
    const { idempotencyKey } = idempotency.parse(options);
    const text = JSON.stringify(given);
    const before = this.seen.get(idempotencyKey);
    if (before !== undefined && before !== text) throw new Error('the key was used for another request');
    this.seen.set(idempotencyKey, text);
    return before === undefined;
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

describe('the page about billing', () => {
  it('asks Stripe for what the statement says, in each currency, once however often the event comes', async () => {
    const event = eventOf(computeStatement('2027-03', TERMS, []));
    const stripe = new StripeStandIn();
    for (let delivery = 0; delivery < 2; delivery++) await snippet('Stripe')(stripe, 'cus_1', event);
    expect(stripe.pending).toEqual([]);
    expect(stripe.made.map(({ currency, amounts }) => [currency, amounts.length, sum(amounts)]).sort()).toEqual([
      ['eur', 2, totalIn(event, 'EUR')],
      ['inr', 2, totalIn(event, 'INR')],
    ]);
  });

  it('asks Razorpay for what the statement says in rupees', async () => {
    const event = eventOf(computeStatement('2027-03', TERMS, []));
    const asked: unknown[] = [];
    await snippet('Razorpay')({ invoices: { create: (given: unknown) => Promise.resolve(asked.push(given)) } }, 'cust_1', event);
    // What is used of the members that Razorpay documents for `POST /v1/invoices`.
    const invoice = z.strictObject({
      type: z.literal('invoice'),
      customer_id: z.string(),
      currency: z.literal('INR'),
      receipt: z.string().min(1).max(40),
      line_items: z.array(z.strictObject({ name: z.string().min(1), description: z.string(), amount, quantity: z.literal(1) })).min(1),
    });
    expect(asked).toHaveLength(1);
    const { line_items: items } = invoice.parse(asked[0]);
    expect(sum(items.map((item) => item.amount))).toBe(totalIn(event, 'INR'));
  });

  it.each(['Stripe', 'Razorpay'])('asks %s for nothing when nothing costs', async (vendor) => {
    const create = jest.fn();
    await snippet(vendor)({ invoices: { create }, invoiceItems: { create } }, 'cus_1', eventOf(computeStatement('2027-03', [free], [])));
    expect(create).not.toHaveBeenCalled();
  });
});
