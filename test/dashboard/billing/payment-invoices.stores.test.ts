import { systemClock } from '../../../plugins/core/ports';
import { randomUUID } from 'node:crypto';
import { billingTerms, PAYMENT_TERMS } from '../../../plugins/core/catalogue/billing-terms';
import { type Catalogue, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { writeInvoiceMails } from '../../../services/dashboard/billing/invoice-mails';
import { writePaymentMails } from '../../../services/dashboard/billing/payment-mails';
import { billingOf } from '../../../services/dashboard/billing/billing-of';
import { createPaymentFinder } from '../../../services/dashboard/billing/ask-providers';
import { startBilling } from '../../../services/dashboard/billing/start-billing';
import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { applyPayments } from '../../../services/selling/billing/apply-payments';
import { type InvoiceView, listWholeInvoices } from '../../../services/selling/billing/invoice-view';
import { askForPaymentCheck, readPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { type GivenFact, keepFacts } from '../../../services/selling/billing/payment-facts';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { ProviderAway, ProviderRefused } from '../../../services/selling/billing/payment-port';
import { type PaymentPorts } from '../../../services/selling/billing/payments-of';
import { type DatedFact } from '../../../services/selling/paid-plans/payment-state';
import { PRODUCTS } from '../../support/catalogue';
import { eventually } from '../../support/eventually';
import { firstOf, inTestAll } from '../../support/scenes';
import { verdict } from '../support/dashboard';
import { startMailing } from '../support/mailing';
import { makeOperator } from '../support/operator';
import { startOtherNode } from '../support/other-node';
import { startPayingDashboard } from '../support/paying-dashboard';
import { payingPeople } from '../support/paying-people';
import { type PaymentStage, startRazorpayStage, startStripeStage } from '../support/payment-stages';
import { chargesOf } from '../../../services/selling/billing/charge-states';
import { listCharges } from '../../../services/selling/billing/payment-charges';
import { propertyRuns } from '../../support/fast-check';
import { useDatabase } from '../../support/postgres/use-database';
import { type HonestPayer, PLANS } from '../support/honest-payer';
import { payHonestly } from '../support/honest-payer';
import { openedForTests } from '../../support/opened';

const PRODUCT = 'api-ip';
const timeZone = 'Asia/Kolkata';
const today = '2026-11-28';
const soldBy = (provider: string, from = '2026-01'): Catalogue => {
  const billing = billingTerms.parse({
    provider,
    seller: { name: 'Acme Data', address: ['12 MG Road'], country: 'IN', tax_id: '29AAGCB7383J1Z4' },
    invoices: { for: 'each_payment', from },
    tax: { gst: { rate: 18, hsn: '998431' } },
  });
  return createCatalogue(PRODUCTS, { billing });
};

const opened = openedForTests();
const stages = { stripe: opened.use(startStripeStage), razorpay: opened.use(startRazorpayStage) };
const ports = () => ({ stripe: stages.stripe.port, razorpay: stages.razorpay.port });
const log = createLog('dashboard', { level: 'silent' });
const dashboard = opened.use(() => startPayingDashboard({ also: ports() }));
const other = opened.use(() => startOtherNode({ databaseUrl: dashboard.databaseUrl, ports: ports(), clock: systemClock }));
let operator = '';
beforeAll(async () => void ({ cookie: operator } = await makeOperator(dashboard)));
const { newCustomer } = payingPeople(dashboard, PRODUCT);

const failing = (about: object, cause: unknown): never => {
  throw new Error(`not invoiced: ${JSON.stringify(about)}`, { cause });
};
/** What a process does that issues invoices. */
const issue = (sold: Catalogue, onFailure: (about: object, cause: unknown) => void = failing, asked: PaymentPorts = ports()) =>
  billingOf(dashboard.db, sold, timeZone).issueInvoices({ today, onFailure, paymentOf: createPaymentFinder({ ports: asked, log }) });
const invoicesOf = async (customerId: string): Promise<readonly InvoiceView[]> =>
  (await listWholeInvoices(dashboard.db, { customerId, today, limit: 100 })).invoices.toReversed();

/** Numbers of each series, from the database. */
async function expectNoGaps(pool = dashboard.pool): Promise<void> {
  const { rows } = await pool.query<{ series: string; serials: number[]; last: number }>(
    `SELECT i.series, array_agg(i.serial::integer ORDER BY i.serial) AS serials, s.last::integer AS last
     FROM invoice i JOIN invoice_series s ON s.name = i.series GROUP BY i.series, s.last`,
  );
  for (const { serials, last } of rows) expect(serials).toEqual(Array.from({ length: last }, (_, place) => place + 1));
}

describe.each(['stripe', 'razorpay'] as const)('a seller who sells through %s', (name) => {
  const sold = soldBy(name);
  const stage = (): PaymentStage => stages[name];
  /** What does not depend on the provider is shown by one of them in `npm test`. */
  const scene = name === 'stripe' ? it : inTestAll;
  beforeAll(() => applyCatalogue(dashboard.pool, sold, { actor: 'test' }));

  /** Delivers all events there are, so often each, at the same time to two nodes in turn. */
  async function hear(times = 1): Promise<void> {
    for (const payload of stage().events()) {
      const headers = { 'content-type': 'application/json', ...stage().sign(payload) };
      const url = `/api/payments/${name}/events`;
      const answers = await Promise.all(
        Array.from({ length: times }, (_, place) =>
          (place % 2 === 0 ? dashboard : other).app.inject({ method: 'POST', url, payload, headers }),
        ),
      );
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 204));
    }
    await Promise.all([dashboard.acted(), other.settled()]);
  }

  async function payingCustomer(details?: object) {
    const customer = await newCustomer();
    if (details) expect((await customer.ask('/billing/details', details, 'PUT')).statusCode).toBe(200);
    const { id } = (await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' })).json();
    const { rows } = await dashboard.pool.query<{ session: string }>('SELECT session FROM checkout WHERE id = $1', [id]);
    const subscription = stage().pay(rows[0]?.session ?? '');
    return { ...customer, subscription };
  }

  it('has one numbered tax invoice of his own for each payment, though its event comes twice, two nodes hear it and a comparison finds it', async () => {
    const customer = await payingCustomer({ name: 'Asha Traders', address: ['1 MG Road'], country: 'IN', state: '27' });
    await hear(2);
    stage().renew(customer.subscription, true);
    await hear(6);
    await Promise.all([issue(sold), issue(sold)]);
    const id = await askForPaymentCheck(dashboard.pool);
    dashboard.poke();
    await dashboard.acted();
    expect((await readPaymentCheck(dashboard.pool, id))?.problems).toEqual([]);
    expect(await issue(sold)).toBe(0);

    const { payments } = (await customer.ask('/payments')).json();
    const made = await invoicesOf(customer.id);
    expect(made.map(({ kind, state, total, reference }) => [kind, state, total, reference]).toSorted()).toEqual(
      payments.map(({ reference }: { reference: string }) => ['invoice', 'paid', 49_900, reference]).toSorted(),
    );
    expect(made).toHaveLength(2);
    expect(made[0]?.content).toMatchObject({
      buyer: { name: 'Asha Traders' },
      lines: [{ title: expect.stringMatching(/, plan Star$/), amount: 42_288 }],
      net: 42_288,
      taxes: [{ name: 'IGST', percent: '18', amount: 7_612 }],
      total: 49_900,
      placeOfSupply: 'Maharashtra (27)',
      serviceCode: '998431',
    });
    const note = new RegExp(`through \\w+, reference ${made[0]?.reference}, payment ${{ razorpay: 'pay', stripe: 'pi' }[name]}_\\w+\\.$`);
    expect(made[0]?.content.notes).toEqual([expect.stringMatching(note)]);
    await expectNoGaps();
  });

  it('has a credit note for each refund, whole or of a part, and none that anybody could make beside it', async () => {
    const customer = await payingCustomer({ name: 'Asha Traders', address: ['1 MG Road'], country: 'IN', state: '27' });
    await hear();
    await issue(sold);
    const moved = { name: 'Asha & Sons', address: ['2 Brigade Road'], country: 'IN', state: '29' };
    expect((await customer.ask('/billing/details', moved, 'PUT')).statusCode).toBe(200);
    const payment = (await dashboard.ask({ path: `/api/operator/payments?customer=${customer.id}`, cookie: operator })).json().payments[0];
    const post = (path: string, body: object) => dashboard.ask({ method: 'POST', path: `/api/operator${path}`, body, cookie: operator });
    const refund = (amount: string, refunded: string, reason = 'a bad month') =>
      post('/payments/refund', { provider: name, reference: payment.reference, amount, refunded, reason });
    expect(verdict(await refund('900.00', '0.00', 'never given back'))).toBe('409 change_refused');
    expect(verdict(await refund('100.00', '0.00', 'नाम'))).toBe('400 invalid_request');
    expect(verdict(await refund('100.00', '0.00'))).toBe('204');
    await hear(2);
    expect(verdict(await refund('0.01', '100.00', 'goodwill'))).toBe('204');
    await Promise.all([issue(sold), issue(sold)]);
    expect(verdict(await refund('398.99', '100.01'))).toBe('204');
    await hear(2);
    await issue(sold);
    expect(await issue(sold)).toBe(0);
    const [invoice, ...notes] = await invoicesOf(customer.id);
    expect(notes.map(({ kind, total, credit }) => [kind, total, credit])).toEqual(
      [10_000, 1, 39_899].map((total) => ['credit_note', total, invoice?.number]),
    );
    const sums = (member: 'lines' | 'taxes'): number[] =>
      (invoice?.content[member] ?? []).map((_, place) =>
        notes.reduce((sum, { content }) => sum + (content[member][place]?.amount ?? 0), 0),
      );
    expect([sums('lines'), sums('taxes')]).toEqual([[42_288], [7_612]]);
    expect(notes.map(({ reason }) => reason)).toEqual(['a bad month', 'goodwill', 'a bad month']);
    // As on the invoice that they correct, wherever the buyer is by now.
    for (const { content } of notes) {
      expect(content.buyer).toEqual(invoice?.content.buyer);
      expect([content.buyer.name, content.placeOfSupply, content.taxes[0]?.name]).toEqual(['Asha Traders', 'Maharashtra (27)', 'IGST']);
    }
    expect(verdict(await post(`/invoices/${invoice?.id}/credit`, { reason: 'again' }))).toBe('409 invoice_settled');
    expect(verdict(await post(`/invoices/${invoice?.id}/paid`, { paidOn: today }))).toBe('409 invoice_settled');
    await expectNoGaps();
  });

  scene('shows, exports and mails each, once', async () => {
    const send = dashboard.mails.push.bind(dashboard.mails);
    const mailing = startMailing(dashboard.db, {
      send: (mail) => void send(mail),
      write: { invoice: writeInvoiceMails, payment: writePaymentMails },
      everyMs: 600_000,
    });
    const customer = await payingCustomer();
    const own = (await customer.ask('/session')).json().email;
    let looks = 0;
    const work = startBilling({
      db: dashboard.db,
      log,
      ports: ports(),
      clock: { now: () => Date.now(), monotonic: () => performance.now() },
      timeZone,
      // Invoices are asked for only once it has looked.
      catalogue: () => Promise.resolve(looks++ === 0 ? createCatalogue(sold.products) : sold),
      registry: createMetrics().registry,
      askMs: 50,
    });
    await hear(2);
    await eventually(async () => (await invoicesOf(customer.id)).length === 1);
    await mailing.look();
    stage().refund(customer.subscription);
    await hear(2);
    await eventually(async () => (await invoicesOf(customer.id)).length === 2);
    await Promise.all([mailing.look(), mailing.look()]);
    await Promise.all([work.close(), mailing.close()]);

    const [invoice, note] = await invoicesOf(customer.id);
    const mails = dashboard.mails.filter(({ to, subject }) => to === own && /Invoice|Credit|Receipt/.test(subject));
    expect(mails.map(({ subject }) => subject)).toEqual([`Invoice ${invoice?.number} from Acme Data`, `Credit note ${note?.number}`]);
    expect(mails[0]?.text).toContain('We received INR 499.00');
    const billing = (await customer.ask('/billing')).json();
    expect(billing).toMatchObject({ provider: name, invoices: 'each_payment', owed: [] });
    const shown = (await customer.ask('/invoices')).json().invoices;
    expect(shown).toMatchObject([
      { kind: 'credit_note', state: 'issued', total: '499.00', credit: invoice?.number, paidThrough: name },
      { kind: 'invoice', state: 'paid', total: '499.00', reference: invoice?.reference, paidThrough: name },
    ]);
    const csv = (await customer.ask('/invoices.csv')).body.trim().split('\r\n').slice(1);
    expect(csv).toHaveLength(6);
    expect(csv.reduce((sum, line) => sum + Math.round(Number(line.split(',').at(-2)) * 100), 0)).toBe(0);
    const ids = csv.map((line) => line.split(',').slice(12, 14));
    const payment = expect.stringMatching({ razorpay: /^pay_\w+$/, stripe: /^pi_\w+$/ }[name]);
    expect(ids).toEqual(['', '', '', ...Array<unknown>(3).fill(invoice?.reference)].map((reference) => [reference, payment]));
    expect(new Set(ids.map(([, id]) => id)).size).toBe(1);
    const seen = (await dashboard.ask({ path: `/api/operator/invoices?customer=${customer.id}`, cookie: operator })).json().invoices;
    expect(seen).toEqual(shown);
    // Money is added up once, by the payments.
    const { months, invoices } = (await dashboard.ask({ path: '/api/operator/billing', cookie: operator })).json();
    expect([invoices, months.filter(({ by }: { by: string }) => by === 'invoice')]).toEqual(['each_payment', []]);
    const { rows } = await dashboard.pool.query('SELECT FROM invoice_unpaid');
    expect(rows).toEqual([]);
  });
});

describe('payments that are invoiced', () => {
  const sold = soldBy('stripe');
  const month = '2026-11';
  const at = Date.parse(`${month}-05T12:00:00Z`) / 1_000;
  beforeAll(() => applyCatalogue(dashboard.pool, sold, { actor: 'test' }));

  /** Somebody whose payment the provider has confirmed. */
  async function paidCustomer(more: Partial<DatedFact> = {}): Promise<{ id: string; invoice: string; reference: string }> {
    const { rows } = await dashboard.pool.query<{ id: string }>(
      "INSERT INTO customer (email) VALUES (gen_random_uuid() || '@example.com') RETURNING id",
    );
    const [id, reference, invoice] = [rows[0]?.id ?? '', `sub_${randomUUID()}`, `in_${randomUUID()}`];
    const dated = { at, subscription: reference, owner: { customerId: id, product: PRODUCT }, ...more };
    const held = {
      kind: 'subscription',
      status: 'active',
      plan: 'Star',
      price: 49_900,
      currency: 'INR',
      periodEnd: at + 2_592_000,
    } as const;
    const paid = { kind: 'paid', invoice, amount: 49_900, currency: 'INR', url: null } as const;
    const facts: GivenFact[] = [
      { ...dated, id: randomUUID(), fact: held },
      { ...dated, id: randomUUID(), fact: paid },
    ];
    await keepFacts(dashboard.pool, 'stripe', facts);
    await applyPayments(dashboard.pool, { provider: 'stripe', reference, terms: PAYMENT_TERMS, now: at });
    return { id, invoice, reference };
  }

  it('hold up no other and use no number where one cannot be invoiced, which is tried again', async () => {
    const [one, other] = [await paidCustomer(), await paidCustomer()];
    const details = "INSERT INTO billing_details (customer_id, name, address, country) VALUES ($1, 'A', '{B}', 'DE')";
    await dashboard.pool.query(details, [one.id]);
    await dashboard.pool.query('UPDATE payment_charge SET amount = amount * 200000000000 WHERE invoice = $1', [one.invoice]);
    const failed: object[] = [];
    expect(await issue(sold, (about) => void failed.push(about))).toBe(1);
    expect(failed).toEqual([{ customerId: one.id, month, payment: one.invoice }]);
    await dashboard.pool.query('UPDATE payment_charge SET amount = 49900 WHERE invoice = $1', [one.invoice]);
    expect(await issue(sold)).toBe(1);
    expect([await invoicesOf(one.id), await invoicesOf(other.id)]).toMatchObject([[{ total: 49_900 }], [{ total: 49_900 }]]);
    await expectNoGaps();
  });

  it.each([
    ['is away', new ProviderAway('Stripe cannot be reached'), 10],
    ['refuses', new ProviderRefused('the key may not read this'), 12],
    ['answers with what nobody understands', new TypeError('undefined is no object'), 12],
  ])('have their invoices at once, with the id of the provider’s own, where it %s', async (_, error, times) => {
    await issue(sold);
    const customers = await Promise.all(Array.from({ length: 12 }, () => paidCustomer()));
    const findPayment = jest.fn(() => Promise.reject(error));
    expect(await issue(sold, failing, { stripe: { ...stages.stripe.port, findPayment } })).toBe(12);
    for (const { id, invoice } of customers) {
      const [made] = await invoicesOf(id);
      expect(made?.content.notes).toEqual([`Paid on ${month}-05 through Stripe, reference ${invoice}.`]);
    }
    // Asked about ten at the same time, and no more once it was away.
    expect(findPayment).toHaveBeenCalledTimes(times);
  });

  it('are those since the first month alone, and none while the provider makes the invoices', async () => {
    const before = await paidCustomer({ at: Date.parse('2026-10-31T18:29:59Z') / 1_000 });
    const since = await paidCustomer({ at: Date.parse('2026-10-31T18:30:00Z') / 1_000 });
    const none = createCatalogue(PRODUCTS, { billing: billingTerms.parse({ provider: 'stripe' }) });
    expect(await issue(none)).toBe(0);
    expect(await issue(soldBy('stripe', '2026-11'))).toBe(1);
    expect([await invoicesOf(before.id), await invoicesOf(since.id)]).toMatchObject([[], [{ month: '2026-11' }]]);
  });
});

const plan = { daily: 200_000, monthly: 6_000_000, currency: 'INR', approval: 'automatic' } as const;
const SOLD_PLANS = PLANS.map(({ plan: name, price }) => ({ ...plan, name, price: (price / 100).toFixed(2) }));

const database = useDatabase();

const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);
const partsOf = ({ content: { lines, taxes } }: InvoiceView): number[] => [...lines, ...taxes].map(({ amount }) => amount);

describe.each(firstOf(['stripe', 'razorpay'] as const))(
  'any history of plans, use, refunds, discounts, pauses and cancellations by %s',
  (name) => {
    const products = PRODUCTS.map((each) => (each.id === PRODUCT ? { ...each, plans: SOLD_PLANS } : each));
    const sold = createCatalogue(products, { billing: soldBy(name).billing });
    const issue = (): Promise<number> => billingOf(database.pool, sold, timeZone).issueInvoices({ today, onFailure: failing });
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
      await expectNoGaps(pool);
    }

    it('leaves one invoice for each payment and credit notes over what went back, in sums and taxes that agree, without a gap', async () => {
      await applyCatalogue(database.pool, sold, { actor: 'test' });
      await payHonestly(name, propertyRuns(60), expectBooked);
    });
  },
);
