import { pdfText } from '../support/pdf-text';
import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { billingTerms, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { computeStatement } from '../../../services/selling/statements/statement';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { readAppliedCatalogue } from '../../../services/selling/catalogue/read-catalogue';
import { findBillingDetails, keepBillingDetails } from '../../../services/selling/billing/billing-details';
import { queueReminders } from '../../../services/selling/billing/issue-invoices';
import { type InvoiceState, type InvoiceSummary, listInvoices, requireInvoice } from '../../../services/selling/billing/invoice-view';
import { markInvoicePaid } from '../../../services/selling/billing/settle-invoice';
import { createInvoiceBilling, createNoBilling } from '../../../services/dashboard/billing/billing-of';
import { type BillingPort } from '../../../services/dashboard/billing/billing-port';
import { writeInvoiceMails } from '../../../services/dashboard/billing/invoice-mails';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { claim } from '../../../services/selling/outbox/outbox';
import { startBilling } from '../../../services/dashboard/billing/start-billing';
import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { PRODUCTS } from '../../support/catalogue';
import { eventually } from '../../support/eventually';
import { useDashboard, verdict } from '../support/dashboard';
import { startMailing } from '../support/mailing';
import { makeOperator } from '../support/operator';

const KARNATAKA = '29AAGCB7383J1Z4';
const TERMS = billingTerms.parse({
  provider: 'invoice',
  seller: { name: 'Acme Data', address: ['12 MG Road', 'Bengaluru'], country: 'IN', tax_id: KARNATAKA },
  invoices: { from: '2026-02', payment: 'Transfer ₹ to account 123' },
  tax: { gst: { rate: 18, hsn: '998431' } },
}) as InvoicingTerms;
const clock = { now: () => Date.parse('2026-04-20T06:00:00Z'), monotonic: () => performance.now() };
const today = '2026-04-20';
const actor = 'operator:test';

const dashboard = useDashboard({ clock });

/** A customer with a closed statement over 499.00 INR. */
async function billedCustomer(month = '2026-03', price = '499.00', currency = 'INR'): Promise<string> {
  const { rows } = await dashboard.pool.query<{ id: string }>('INSERT INTO customer (email) VALUES ($1) RETURNING id', [
    `${randomUUID().slice(0, 8)}@example.com`,
  ]);
  const id = rows[0]?.id ?? '';
  await closeStatement(id, { month, price, currency });
  return id;
}

async function closeStatement(id: string, { month = '2026-03', price = '499.00', currency = 'INR' } = {}): Promise<void> {
  const days = { fromDay: `${month}-01`, toDay: `${month}-31` };
  const term = {
    subscriptionId: 's',
    product: 'api-ip',
    plan: 'Star',
    price,
    currency,
    daily: 10,
    monthly: 100,
    overage: null,
    isActive: true,
    isPaidInAdvance: false,
    ...days,
  };
  const content = JSON.stringify(computeStatement(month, [term], []));
  await dashboard.pool.query('INSERT INTO statement (customer_id, month, content) VALUES ($1, $2, $3)', [id, `${month}-01`, content]);
}

const onFailure = (): never => {
  throw new Error('a statement could not be invoiced');
};
const issue = (port: BillingPort) => port.issueInvoices({ today, onFailure });
const invoicing = (terms: InvoicingTerms = TERMS) =>
  createInvoiceBilling(dashboard.db, { terms, catalogue: createCatalogue(PRODUCTS, { billing: terms }) });
const serials = async (series: string): Promise<number[]> =>
  (await dashboard.pool.query<{ serial: string }>('SELECT serial FROM invoice WHERE series = $1 ORDER BY serial', [series])).rows.map(
    ({ serial }) => Number(serial),
  );
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const ADAPTERS: readonly [BillingPort['provider'], () => BillingPort][] = [
  ['none', () => createNoBilling(dashboard.db, TERMS)],
  ['invoice', () => invoicing()],
];

describe.each(ADAPTERS)('billing by %s', (provider, make) => {
  it('bills a statement once at most, in whole units, and never before the month that the catalogue names', async () => {
    const id = await billedCustomer();
    const early = await billedCustomer('2026-01');
    await issue(make());
    await issue(make());
    const { invoices } = await listInvoices(dashboard.db, { customerId: id, today, limit: 10 });
    expect(invoices.map(({ month, currency, total, state }) => [month, currency, total, state])).toEqual(
      provider === 'none' ? [] : [['2026-03', 'INR', 58_882, 'open']],
    );
    expect((await listInvoices(dashboard.db, { customerId: early, today, limit: 10 })).invoices).toEqual([]);
    expect([make().isInvoiced('2026-01'), make().isInvoiced('2026-02')]).toEqual([false, provider === 'invoice']);
  });

  it('shows, settles and credits each invoice that is there once, whoever asks at the same time', async () => {
    const id = await billedCustomer();
    await issue(invoicing());
    const port = make();
    const invoice = (await listInvoices(dashboard.db, { customerId: id, today, limit: 1 })).invoices[0]?.id ?? '';
    const pay = (paidOn = today) => markInvoicePaid(dashboard.db, { id: invoice, paidOn, reference: 'UTR 7', actor, today });
    await expect(pay('2026-05-20')).rejects.toMatchObject({ code: 'date_malformed' });
    const paid = await Promise.allSettled([pay(), pay(), pay()]);
    expect(paid.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await requireInvoice(dashboard.db, { id: invoice, today })).toMatchObject({ state: 'paid', paidOn: today, reference: 'UTR 7' });
    const credit = () => port.creditInvoice({ id: invoice, reason: 'wrong plan', actor, today });
    const credited = await Promise.allSettled([credit(), credit()]);
    expect(credited.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await requireInvoice(dashboard.db, { id: invoice, today })).toMatchObject({
      state: 'credited',
      credit: expect.stringMatching(/^CN-\d{6}$/),
    });
    await expect(pay()).rejects.toMatchObject({ code: 'invoice_settled' });
    const { invoices } = await listInvoices(dashboard.db, { customerId: id, today, limit: 10 });
    expect(invoices.map(({ kind, state }) => [kind, state])).toEqual([
      ['credit_note', 'issued'],
      ['invoice', 'credited'],
    ]);
    await expect(port.creditInvoice({ id: invoices[0]?.id ?? '', reason: 'again', actor, today })).rejects.toMatchObject({
      code: 'invoice_settled',
    });
  });
});

describe('an invoice', () => {
  it('keeps details for the invoices to come, and changes none that was issued', async () => {
    const id = await billedCustomer();
    await issue(invoicing());
    const details = { name: 'Buyer', address: ['Street 1'], country: 'IN', state: '27', taxId: null, email: null };
    await keepBillingDetails(dashboard.db, { customerId: id, details, actor });
    expect(await findBillingDetails(dashboard.db, id)).toEqual(details);
    await closeStatement(id, { month: '2026-02' });
    await issue(invoicing());
    const { invoices } = await listInvoices(dashboard.db, { customerId: id, today, limit: 10 });
    const shown = await Promise.all(invoices.map(({ id: each }) => requireInvoice(dashboard.db, { id: each, today })));
    expect(shown.map(({ month, content }) => [month, content.buyer.name, content.taxes.map(({ name }) => name)])).toEqual([
      ['2026-02', 'Buyer', ['IGST']],
      ['2026-03', expect.stringContaining('@example.com'), ['CGST', 'SGST']],
    ]);
  });
});

describe('numbers of invoices', () => {
  const ownSeries = (series: string) => invoicing({ ...TERMS, invoices: { ...TERMS.invoices, series } });

  it('have no gap and no repeat with many writers at once, each of which may bill any statement', async () => {
    await issue(invoicing());
    await Promise.all(upTo(25).map(() => billedCustomer()));
    const counts = await Promise.all(upTo(5).map(() => issue(ownSeries('W'))));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(25);
    expect(await serials('W')).toEqual(upTo(25));
  });

  it('leave none out when a writer fails or is rolled back after it took one', async () => {
    await issue(invoicing());
    await billedCustomer();
    const client = await dashboard.db.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, content)
         VALUES ('R', 'invoice', gen_random_uuid(), '2026-03-01', 'INR', 1, '2026-04-01', '{}')`,
      );
      const waiting = issue(ownSeries('R'));
      await client.query('ROLLBACK');
      expect(await waiting).toBe(1);
    } finally {
      client.release();
    }
    await billedCustomer();
    expect(await issue(ownSeries('R'))).toBe(1);
    expect(await serials('R')).toEqual([1, 2]);
  });

  it('are used by no statement that cannot be invoiced, which holds up no other', async () => {
    await issue(invoicing());
    const { rows } = await dashboard.pool.query<{ id: string }>("INSERT INTO customer (email) VALUES ('broken@example.com') RETURNING id");
    await dashboard.pool.query("INSERT INTO statement (customer_id, month, content) VALUES ($1, '2026-03-01', '{}')", [rows[0]?.id]);
    await billedCustomer();
    const failed: string[] = [];
    for (const count of [1, 0]) {
      expect(await ownSeries('F').issueInvoices({ today, onFailure: ({ customerId }) => void failed.push(customerId) })).toBe(count);
    }
    expect(failed).toEqual([rows[0]?.id, rows[0]?.id]);
    expect(await serials('F')).toEqual([1]);
    await dashboard.pool.query("INSERT INTO statement_billed VALUES ($1, '2026-03-01')", [rows[0]?.id]);
  });

  it('and what stands beside them are never changed or deleted, whoever tries', async () => {
    await billedCustomer();
    await issue(invoicing());
    for (const change of [
      'UPDATE invoice SET total = 0',
      'DELETE FROM invoice',
      "UPDATE invoice SET content = '{}'",
      'DELETE FROM invoice_payment',
    ])
      await expect(dashboard.pool.query(change)).rejects.toThrow('an invoice stays as it was issued');
    await expect(dashboard.db.query('UPDATE invoice_series SET last = 1')).rejects.toThrow('permission denied');
  });
});

describe('the pages of billing', () => {
  let cookie: string;
  let customerId: string;
  let operator: string;
  const ask = (path: string, body?: unknown, as = cookie, method: 'GET' | 'POST' | 'PUT' = body === undefined ? 'GET' : 'POST') =>
    dashboard.ask({ method, path: `/api${path}`, body, cookie: as });

  beforeAll(async () => {
    await applyCatalogue(dashboard.pool, createCatalogue(PRODUCTS, { billing: TERMS }), { actor: 'test' });
    cookie = await dashboard.signIn('asha@example.com');
    customerId = (await ask('/session')).json().customerId;
    operator = (await makeOperator(dashboard)).cookie;
  });

  it('are there once the catalogue bills or there is an invoice, and the audit log says who changed it', async () => {
    expect((await readAppliedCatalogue(dashboard.pool)).billing).toEqual(TERMS);
    expect((await ask('/session')).json().hasBilling).toBe(true);
    const { rows } = await dashboard.pool.query(
      "SELECT details -> 'provider' ->> 'after' AS provider FROM audit_log WHERE action = 'billing.change'",
    );
    expect(rows).toEqual([{ provider: 'invoice' }]);
    await applyCatalogue(dashboard.pool, createCatalogue(PRODUCTS), { actor: 'test' });
    expect((await ask('/session')).json().hasBilling).toBe(false);
    expect((await ask('/billing')).json()).toEqual({
      ...{ provider: 'none', invoices: 'monthly', paid: [], above: [], hasPortal: false, details: null, next: null, owed: [] },
    });
    await applyCatalogue(dashboard.pool, createCatalogue(PRODUCTS, { billing: TERMS }), { actor: 'test' });
  });

  it('take details with a tax number that fits, and refuse others with what is wrong', async () => {
    const details = { name: 'Asha Traders', address: ['1 Church St', 'Pune'], country: 'IN', taxId: '27aapfu0939f1zv' };
    const kept = await ask('/billing/details', details, cookie, 'PUT');
    expect([kept.statusCode, kept.json()]).toEqual([200, { ...details, taxId: '27AAPFU0939F1ZV', state: '27', email: null }]);
    expect(verdict(await ask('/billing/details', { ...details, taxId: '27AAPFU0939F1ZW' }, cookie, 'PUT'))).toBe('400 tax_id_malformed');
    for (const change of [{ country: 'India' }, { name: '' }, { address: [] }, { name: 'नाम' }, { state: '99' }, { email: 'no' }]) {
      expect((await ask('/billing/details', { ...details, ...change }, cookie, 'PUT')).statusCode).toBe(400);
    }
  });

  it('show, mail, print and export an invoice, which the seller marks as paid', async () => {
    await closeStatement(customerId);
    const work = startBilling({
      db: dashboard.db,
      log: createLog('dashboard', { level: 'silent' }),
      clock,
      timeZone: 'Asia/Kolkata',
      catalogue: () => readAppliedCatalogue(dashboard.pool),
      ports: {},
      registry: createMetrics().registry,
      askMs: 50,
    });
    const send = (mail: Mail): void => void dashboard.mails.push(mail);
    const mailing = startMailing(dashboard.db, { send, clock, write: { invoice: writeInvoiceMails }, everyMs: 50 });
    await eventually(() =>
      dashboard.mails.some(({ to, subject }) => to === 'asha@example.com' && /^Invoice INV-\d+ from Acme/.test(subject)),
    );
    const { invoices } = (await ask('/invoices')).json();
    const { id, number } = invoices[0];
    expect(invoices).toMatchObject([{ month: '2026-03', currency: 'INR', total: '588.82', state: 'open', dueOn: '2026-05-04' }]);
    expect((await ask('/billing')).json()).toMatchObject({ owed: [{ currency: 'INR', amount: '588.82' }], next: { month: '2026-04' } });
    expect((await ask(`/invoices/${id}`)).json()).toMatchObject({
      net: '499.00',
      taxes: [{ name: 'IGST', percent: '18', amount: '89.82' }],
      buyerDetails: { name: 'Asha Traders', taxId: '27AAPFU0939F1ZV' },
      placeOfSupply: 'Maharashtra (27)',
    });
    const pdf = await ask(`/invoices/${id}/pdf`);
    expect([pdf.statusCode, pdf.headers['content-type']]).toEqual([200, 'application/pdf']);
    expect(pdf.rawPayload.toString('latin1')).toContain('/FontFile2');
    const text = pdfText(pdf.rawPayload);
    for (const part of [number, 'Asha Traders', '27AAPFU0939F1ZV', '588.82', 'IGST 18 %', 'Transfer ₹ to account 123', '998431']) {
      expect(text).toContain(part);
    }
    const paid = await ask(`/operator/invoices/${id}/paid`, { paidOn: today, reference: 'UTR 9' }, operator);
    expect(paid.statusCode).toBe(204);
    await eventually(() => dashboard.mails.some(({ subject }) => subject === `Receipt for invoice ${number}`));
    const credited = await ask(`/operator/invoices/${id}/credit`, { reason: 'goodwill' }, operator);
    expect(credited.statusCode).toBe(200);
    await eventually(() =>
      dashboard.mails.some(({ subject, text: body }) => /^Credit note CN-/.test(subject) && body.includes('goodwill')),
    );
    await Promise.all([work.close(), mailing.close()]);
    const queries = jest.spyOn(Pool.prototype, 'query');
    const csv = (await ask('/invoices.csv')).body.split('\r\n');
    // One for the page, however many invoices are on it.
    const ofInvoices = queries.mock.calls.filter(([text]) => String(text).includes('FROM invoice i '));
    expect(ofInvoices).toHaveLength(1);
    queries.mockRestore();
    expect(csv.slice(1, -1).map((line) => line.split(',').slice(-5).join())).toEqual(
      ['31,,-499.00,INR', 'IGST,,18,-89.82,INR', '31,,499.00,INR', 'IGST,,18,89.82,INR'].map((each) => expect.stringContaining(each)),
    );
    const { months } = (await ask('/operator/billing', undefined, operator)).json();
    expect(months.find(({ month }: { month: string }) => month === '2026-03')).toMatchObject({
      currency: 'INR',
      credited: expect.any(String),
    });
    const { entries } = (await ask('/audit?kind=billing')).json();
    expect(entries.map(({ action }: { action: string }) => action)).toEqual(['billing.credit', 'billing.paid', 'billing.details']);
  });

  it('remind of an overdue invoice once, and of none that was paid', async () => {
    const id = await billedCustomer();
    await invoicing({ ...TERMS, invoices: { ...TERMS.invoices, due_days: 0 } }).issueInvoices({ today: '2026-04-10', onFailure });
    await dashboard.pool.query('UPDATE outbox SET due_at = NULL');
    await queueReminders(dashboard.db, today);
    await queueReminders(dashboard.db, today);
    const due = () => claim(dashboard.db, { kind: 'invoice', leaseMs: 60_000 });
    const claimed = await due();
    expect(claimed).toMatchObject({ detail: 'overdue' });
    const overdue = await requireInvoice(dashboard.pool, { id: claimed?.subject ?? '', today });
    expect(overdue).toMatchObject({ customerId: id, state: 'overdue' });
    expect(await due()).toBeUndefined();
  });

  it('list in each state what is in it of all invoices', async () => {
    const paying = await billedCustomer();
    await invoicing(TERMS).issueInvoices({ today, onFailure });
    const [invoice] = (await listInvoices(dashboard.db, { today, limit: 1, customerId: paying })).invoices;
    await markInvoicePaid(dashboard.db, { id: invoice?.id ?? '', paidOn: today, reference: '', actor: 'test', today });
    const list = async (state?: InvoiceState): Promise<readonly InvoiceSummary[]> =>
      (await listInvoices(dashboard.db, { today, limit: 1_000, state })).invoices;
    const all = await list();
    for (const state of ['issued', 'open', 'overdue', 'paid', 'credited'] as const) {
      const found = await list(state);
      expect(found).toEqual(all.filter((each) => each.state === state));
      expect([state, found.length > 0]).toEqual([state, true]);
    }
  });
});
