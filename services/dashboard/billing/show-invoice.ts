import { fromMinor } from '../../../plugins/core/catalogue/money';
import { type InvoiceSummary, type InvoiceView } from '../../selling/billing/invoice-view';
import { PROVIDERS } from '../contract/billing-fields';
import { csvRecord } from '../http/csv';

/** A list's line in the contract's form. */
export function toSummary<Invoice extends InvoiceSummary>(invoice: Invoice) {
  const paidThrough = PROVIDERS.find((each) => each === invoice.paidThrough) ?? null;
  return { ...invoice, paidThrough, total: fromMinor(invoice.total, invoice.currency) };
}

/** An invoice in the contract's form: amounts are text with the currency's decimals. */
export function toInvoice({ content, ...invoice }: InvoiceView) {
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
export async function* invoiceRecords(invoices: AsyncIterable<InvoiceView>): AsyncGenerator<string> {
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
