import { windowsAt } from '../../../plugins/core/access/quota';
import { type Invoiced } from '../../../plugins/core/catalogue/billing-terms';
import { fromMinor } from '../../../plugins/core/catalogue/money';
import { addDays, daysOfMonth } from '../../selling/statements/statement';
import { checkTaxId } from '../../../plugins/core/catalogue/tax-ids';
import { findBillingDetails, keepBillingDetails } from '../../selling/billing/billing-details';
import {
  type InvoiceFilter,
  type InvoiceSummary,
  type InvoiceView,
  listInvoices,
  listWholeInvoices,
  requireInvoice,
  sumInvoices,
} from '../../selling/billing/invoice-view';
import { markInvoicePaid } from '../../selling/billing/settle-invoice';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { readStatement } from '../../selling/statements/read-statement';
import { type billingEndpoints, type sellerBillingEndpoints } from '../contract/billing';
import { PROVIDERS } from '../contract/billing-fields';
import { type FileAnswer, type Handlers } from '../http/bind-endpoint';
import { type SignedInCaller } from '../http/callers';
import { type DashboardDeps, todayOf } from '../http/dashboard-deps';
import { csvRecord, readPages } from '../http/csv';
import { billingOf } from './billing-of';
import { type BillingPort } from './billing-port';
import { paidPlanHandlers } from './change-paid-plan';
import { paymentHandlers, readPaidPlans } from './payment-handlers';
import { isCollecting, portOf as paymentPortOf } from '../../selling/billing/payments-of';
import { invoicePdf } from './invoice-pdf';
import { sellerSums, unchargedOverage } from './seller-payments';

const portOf = async ({ db, catalogue, timeZone }: DashboardDeps): Promise<BillingPort> => billingOf(db, await catalogue(), timeZone);

/** A month is closed on the third day after it; see read-statement.ts. */
const DAYS_UNTIL_ISSUED = 3;
const AT_ONCE = 100;

/** What this month's invoice would be now; null if nothing is invoiced. */
async function nextInvoice(port: BillingPort, { customerId: id, address: email }: SignedInCaller, { db, clock, timeZone }: DashboardDeps) {
  const now = clock.now() / 1_000;
  const { month } = windowsAt(now, timeZone);
  if (!port.isInvoiced(month)) return null;
  const statement = await readStatement(db, { customer: { id, email }, month, timeZone, now });
  const issuedOn = addDays(daysOfMonth(month).at(-1) ?? '', DAYS_UNTIL_ISSUED);
  return { month, issuedOn, totals: (statement?.totals ?? []).filter(({ amount }) => Number(amount) > 0) };
}

/** A list's line in the contract's form. */
function toSummary<Invoice extends InvoiceSummary>(invoice: Invoice) {
  const paidThrough = PROVIDERS.find((each) => each === invoice.paidThrough) ?? null;
  return { ...invoice, paidThrough, total: fromMinor(invoice.total, invoice.currency) };
}

/** An invoice in the contract's form: amounts are text with the currency's decimals. */
function toInvoice({ content, ...invoice }: InvoiceView) {
  const { seller, buyer, lines, net, taxes, placeOfSupply, serviceCode, notes, payment, currency } = content;
  const text = (amount: number): string => fromMinor(amount, currency);
  return {
    ...toSummary(invoice),
    seller,
    buyerDetails: buyer,
    lines: lines.map((line) => ({ ...line, price: text(line.price), surcharge: text(line.surcharge), amount: text(line.amount) })),
    net: text(net),
    taxes: taxes.map((tax) => ({ ...tax, amount: text(tax.amount) })),
    placeOfSupply,
    serviceCode,
    notes,
    payment,
  };
}

const COLUMNS = [
  'number',
  'kind',
  'corrects',
  'issued_on',
  'due_on',
  'month',
  'customer_id',
  'buyer',
  'buyer_country',
  'buyer_tax_id',
  'state',
  'paid_on',
  'reference',
  'payment',
  'line',
  'days',
  'percent',
  'amount',
  'currency',
];

/** For bookkeeping: a record for each line and each tax. Amounts of a credit note are negative, so that columns add up. */
async function* invoiceRecords(invoices: AsyncIterable<InvoiceView>): AsyncGenerator<string> {
  yield csvRecord(COLUMNS);
  for await (const { content, ...invoice } of invoices) {
    const { number, kind, credit, issuedOn, dueOn, month, customerId, state, paidOn, reference, currency } = invoice;
    const { buyer, lines, taxes, paidBy } = content;
    const isCredit = kind === 'credit_note';
    const about = [number, kind, isCredit ? (credit ?? '') : '', issuedOn, dueOn, month, customerId, buyer.name, buyer.country ?? ''];
    const standing = [buyer.taxId ?? '', state, paidOn ?? '', reference ?? '', paidBy ?? ''];
    const signed = (amount: number): string => fromMinor(isCredit ? -amount : amount, currency);
    for (const line of lines) yield csvRecord([...about, ...standing, line.title, line.days, '', signed(line.amount), currency]);
    for (const tax of taxes) yield csvRecord([...about, ...standing, tax.name, '', tax.percent, signed(tax.amount), currency]);
  }
}

/** All invoices that a filter finds, newest first, read a page at a time. */
async function* allInvoices({ db }: DashboardDeps, filter: InvoiceFilter & { readonly today: string }): AsyncGenerator<InvoiceView> {
  const pages = readPages((after) => listWholeInvoices(db, { ...filter, limit: AT_ONCE, after }));
  for await (const { invoices } of pages) yield* invoices;
}

async function owedBy({ db }: DashboardDeps, filter: { readonly customerId: string; readonly today: string }) {
  const sums = new Map<string, bigint>();
  for (const { currency, due, overdue } of await sumInvoices(db, filter)) {
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(due) + BigInt(overdue));
  }
  const owed = [...sums].filter(([, amount]) => amount > 0n);
  return owed.map(([currency, amount]) => ({ currency, amount: fromMinor(amount, currency) }));
}

async function pdfOf(invoice: InvoiceView): Promise<FileAnswer> {
  return { filename: `${invoice.number.replaceAll('/', '-')}.pdf`, content: [await invoicePdf(toInvoice(invoice))] };
}

/** @throws OperationRefused `tax_id_malformed` */
function checkedTaxId({ country, taxId }: { readonly country: string; readonly taxId: string | null }): string | null {
  if (taxId === null) return null;
  const checked = checkTaxId(country, taxId);
  if (checked.problem !== undefined) throw new OperationRefused('tax_id_malformed', `The tax number ${checked.problem}.`);
  return checked.value;
}

/** The provider that issues invoices or takes payments. */
async function providerOf(port: BillingPort, { catalogue, payments }: DashboardDeps) {
  return paymentPortOf(await catalogue(), payments)?.name ?? port.provider;
}

/** What Tollgate's own invoices are for. */
async function invoicedOf({ catalogue, payments }: DashboardDeps): Promise<Invoiced> {
  const sold = await catalogue();
  return sold.billing?.invoices?.for ?? (isCollecting(sold, payments) ? 'provider' : 'monthly');
}

/** Invoices, paid plans and billing details of a customer. */
export const billingHandlers: Handlers<typeof billingEndpoints> = {
  ...paymentHandlers,
  ...paidPlanHandlers,

  'GET /billing': async ({ caller }, deps) => {
    const port = await portOf(deps);
    const { customerId } = caller;
    const details = (await findBillingDetails(deps.db, customerId)) ?? null;
    const owed = await owedBy(deps, { customerId, today: todayOf(deps) });
    const paid = await readPaidPlans(customerId, deps);
    const [provider, invoices] = [await providerOf(port, deps), await invoicedOf(deps)];
    return { provider, invoices, ...paid, details, owed, next: await nextInvoice(port, caller, deps) };
  },

  'PUT /billing/details': async ({ body, caller: { customerId, actor } }, deps) => {
    const taxId = checkedTaxId(body);
    const state = body.country === 'IN' ? (taxId?.slice(0, 2) ?? body.state) : null;
    const details = { ...body, taxId, state };
    await keepBillingDetails(deps.db, { customerId, details, actor });
    return details;
  },

  'GET /invoices': async ({ query, caller: { customerId } }, deps) => {
    const { invoices, next } = await listInvoices(deps.db, { ...query, customerId, today: todayOf(deps) });
    return { invoices: invoices.map(toSummary), next: next ?? null };
  },

  'GET /invoices.csv': ({ caller: { customerId } }, deps) =>
    Promise.resolve({
      filename: 'invoices.csv',
      content: invoiceRecords(allInvoices(deps, { customerId, today: todayOf(deps) })),
    }),

  'GET /invoices/:id': async ({ params: { id }, caller: { customerId } }, deps) =>
    toInvoice(await requireInvoice(deps.db, { id, customerId, today: todayOf(deps) })),

  'GET /invoices/:id/pdf': async ({ params: { id }, caller: { customerId } }, deps) =>
    pdfOf(await requireInvoice(deps.db, { id, customerId, today: todayOf(deps) })),
};

/** What customers owe the seller. */
export const sellerBillingHandlers: Handlers<typeof sellerBillingEndpoints> = {
  'GET /operator/billing': async (_call, deps) => ({
    provider: await providerOf(await portOf(deps), deps),
    invoices: await invoicedOf(deps),
    months: await sellerSums(deps),
    uncharged: await unchargedOverage(deps),
  }),

  'GET /operator/invoices': async ({ query: { customer: customerId, ...query } }, deps) => {
    const { invoices, next } = await listInvoices(deps.db, { ...query, customerId, today: todayOf(deps) });
    return { invoices: invoices.map(toSummary), next: next ?? null };
  },

  'GET /operator/invoices.csv': ({ query: { customer: customerId, ...query } }, deps) =>
    Promise.resolve({
      filename: `tollgate-invoices-${query.month ?? todayOf(deps)}.csv`,
      content: invoiceRecords(allInvoices(deps, { ...query, customerId, today: todayOf(deps) })),
    }),

  'GET /operator/invoices/:id': async ({ params: { id } }, deps) => toInvoice(await requireInvoice(deps.db, { id, today: todayOf(deps) })),

  'GET /operator/invoices/:id/pdf': async ({ params: { id } }, deps) => pdfOf(await requireInvoice(deps.db, { id, today: todayOf(deps) })),

  'POST /operator/invoices/:id/paid': async ({ params: { id }, body, caller: { actor } }, deps) =>
    markInvoicePaid(deps.db, { id, ...body, actor, today: todayOf(deps) }),

  'POST /operator/invoices/:id/credit': async ({ params: { id }, body: { reason }, caller: { actor } }, deps) =>
    (await portOf(deps)).creditInvoice({ id, reason, actor, today: todayOf(deps) }),
};
