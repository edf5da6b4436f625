import { billingTerms, PAYMENT_TERMS } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { billingOf } from '../../../services/dashboard/billing/billing-of';
import { applyPayments } from '../../../services/selling/billing/apply-payments';
import { chargesOf } from '../../../services/selling/billing/charge-states';
import { type InvoiceView, listWholeInvoices } from '../../../services/selling/billing/invoice-view';
import { listCharges } from '../../../services/selling/billing/payment-charges';
import { keepFacts } from '../../../services/selling/billing/payment-facts';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { PRODUCTS } from '../../support/catalogue';
import { propertyRuns } from '../../support/fast-check';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';
import { type HonestPayer } from '../support/honest-payer';
import { payHonestly } from '../support/pay-honestly';

const PRODUCT = 'api-ip';
const timeZone = 'Asia/Kolkata';
const today = '2026-11-28';
const plan = { daily: 200_000, monthly: 6_000_000, currency: 'INR', approval: 'automatic' } as const;
const PLANS = [
  ['Moon', '199.00'],
  ['Star', '499.00'],
  ['Sun', '999.00'],
  ['Mega', '49999.00'],
].map(([name = '', price = '']) => ({ ...plan, name, price }));

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.close());

const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);
const partsOf = ({ content: { lines, taxes } }: InvoiceView): number[] => [...lines, ...taxes].map(({ amount }) => amount);

describe.each(['stripe', 'razorpay'] as const)('any history of plans, use, refunds, discounts, pauses and cancellations by %s', (name) => {
  const billing = billingTerms.parse({
    provider: name,
    seller: { name: 'Acme Data', address: ['12 MG Road'], country: 'IN', tax_id: '29AAGCB7383J1Z4' },
    invoices: {
      for: 'each_payment',
      from: '2026-01',
      series: name === 'stripe' ? 'S' : 'R',
      credit_series: name === 'stripe' ? 'SC' : 'RC',
    },
    tax: { gst: { rate: 18 } },
  });
  const sold = createCatalogue(
    PRODUCTS.map((each) => (each.id === PRODUCT ? { ...each, plans: PLANS } : each)),
    { billing },
  );
  const onFailure = (about: object, cause: unknown): never => {
    throw new Error(`not invoiced: ${JSON.stringify(about)}`, { cause });
  };
  const issue = (): Promise<number> => billingOf(database.pool, sold, timeZone).issueInvoices({ today, onFailure });
  let customers = 0;

  /** What a dashboard has of a history before it issues: each fact, twice, the last first. */
  async function keep({ facts, uses, subscription: reference }: HonestPayer): Promise<string> {
    const { pool } = database;
    const customerId = facts.find(({ owner }) => owner)?.owner?.customerId ?? '';
    await pool.query("INSERT INTO customer (id, email) VALUES ($1::uuid, $1 || '@example.com')", [customerId]);
    const state = ['29', '27', null][customers++ % 3];
    const details = `INSERT INTO billing_details (customer_id, name, address, country, state) VALUES ($1, 'Asha', '{Street}', $2, $3)`;
    if (customers % 4 > 0) await pool.query(details, [customerId, state === null ? 'US' : 'IN', state]);
    for (const [place, { id, amount }] of uses.entries()) {
      const month = `${2_000 + place}-01-01`;
      await pool.query("INSERT INTO statement (customer_id, month, content) VALUES ($1, $2, '{}')", [customerId, month]);
      await pool.query(
        `INSERT INTO overage_charge (id, customer_id, month, product_id, currency, units, amount, look_at, charge)
         VALUES ($1, $2, $3, $4, 'INR', 1, $5, NULL, 'of the test')`,
        [id, customerId, month, PRODUCT, amount],
      );
    }
    for (const half of [facts.slice(-3).toReversed(), facts]) {
      await keepFacts(pool, name, half);
      await applyPayments(pool, { provider: name, reference, terms: PAYMENT_TERMS, now: Date.now() / 1_000 });
      await Promise.all([issue(), issue()]);
    }
    return customerId;
  }

  async function expectBooked(payer: HonestPayer): Promise<void> {
    const { pool } = database;
    const customerId = await keep(payer);
    expect(await issue()).toBe(0);
    const all = (await listWholeInvoices(pool, { customerId, today, limit: 1_000 })).invoices;
    const paid = chargesOf(payer.facts).filter(({ paidAt }) => paidAt !== null);
    const ledger = (await listCharges(pool, { customerId, timeZone, state: 'paid', limit: 1_000 })).rows;
    expect(ledger.map(({ invoice, amount, refunded }) => [invoice, amount, refunded]).toSorted()).toEqual(
      paid.map(({ invoice, amount, refunded }) => [invoice, amount, refunded]).toSorted(),
    );
    const invoices = all.filter(({ kind }) => kind === 'invoice');
    expect(invoices.map(({ reference, total }) => [reference, total]).toSorted()).toEqual(
      paid.map(({ invoice, amount }) => [invoice, amount]).toSorted(),
    );
    for (const made of all) {
      const { net, taxes, total } = made.content;
      expect([sum(partsOf(made)), net + sum(taxes.map(({ amount }) => amount)), total]).toEqual([total, total, made.total]);
      expect(Math.min(...partsOf(made))).toBeGreaterThanOrEqual(0);
    }
    for (const invoice of invoices) {
      const charge = paid.find((each) => each.invoice === invoice.reference);
      const notes = all.filter(({ kind, credit }) => kind === 'credit_note' && credit === invoice.number);
      expect(sum(notes.map(({ total }) => total))).toBe(charge?.refunded);
      const back = partsOf(invoice).map((_, place) => sum(notes.map((note) => partsOf(note)[place] ?? 0)));
      for (const [place, amount] of partsOf(invoice).entries()) expect(back[place]).toBeLessThanOrEqual(amount);
      const above = invoice.content.lines.filter(({ title }) => title.includes('above the limits'));
      expect(above).toHaveLength(charge?.use?.length ?? 0);
      const rate = invoice.content.taxes.reduce((percent, tax) => percent + Number(tax.percent), 0);
      expect(rate).toBe(18);
      expect(Math.abs(invoice.content.net * 1.18 - invoice.total)).toBeLessThan(2);
    }
    const { rows } = await pool.query<{ serials: number[]; last: number }>(
      `SELECT array_agg(i.serial::integer ORDER BY i.serial) AS serials, s.last::integer AS last
       FROM invoice i JOIN invoice_series s ON s.name = i.series GROUP BY i.series, s.last`,
    );
    for (const { serials, last } of rows) expect(serials).toEqual(Array.from({ length: last }, (_, place) => place + 1));
  }

  it('leaves one invoice for each payment and credit notes over what went back, in sums and taxes that agree, without a gap', async () => {
    await applyCatalogue(database.pool, sold, { actor: 'test' });
    await payHonestly(name, propertyRuns(60), expectBooked);
  });
});
