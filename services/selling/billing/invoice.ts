import { type BillingDetails, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { decimalsOf, toMinor, toSafeNumber } from '../../../plugins/core/catalogue/money';
import { addDays, daysOfMonth, type LineOverage, type Statement } from '../statements/statement';
import { type Tax, taxOn } from './tax';

/** Seller or buyer, as printed. */
export interface Party {
  readonly name: string;
  readonly address: readonly string[];
  readonly country: string | null;
  readonly taxId: string | null;
  readonly email: string | null;
}

/** Amounts are in the currency's smallest unit. */
export interface InvoiceLine {
  /** `Weather, plan Gold`. */
  readonly title: string;
  readonly product: string;
  readonly plan: string | null;
  readonly days: number;
  readonly daysInMonth: number;
  /** Requests. */
  readonly used: number;
  /** A month. */
  readonly price: number;
  /** Part of the amount. */
  readonly surcharge: number;
  readonly amount: number;
}

/** An invoice as it was issued, without its number; it never changes. */
export interface InvoiceContent {
  /** `YYYY-MM`. */
  readonly month: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly issuedOn: string;
  readonly dueOn: string;
  readonly currency: string;
  readonly decimals: number;
  readonly seller: Party;
  readonly buyer: Party;
  readonly lines: readonly InvoiceLine[];
  readonly net: number;
  readonly taxes: readonly { readonly name: string; readonly percent: string; readonly amount: number }[];
  readonly total: number;
  readonly placeOfSupply: string | null;
  /** SAC or HSN. */
  readonly serviceCode: string | null;
  readonly notes: readonly string[];
  /** How to pay; null if the seller gives no text. */
  readonly payment: string | null;
  /** The provider's id of the payment; null if it named none, and for a closed statement's invoice. */
  readonly paidBy: string | null;
}

export interface InvoiceFacts {
  readonly terms: InvoicingTerms;
  /** Email address of the customer. */
  readonly customer: string;
  /** Undefined: the customer has entered none. */
  readonly details: BillingDetails | undefined;
  readonly issuedOn: string;
  /** A product's title for customers. */
  readonly titleOf: (product: string) => string;
}

function sellerOf({ seller }: InvoicingTerms): Party {
  const { name, address, country, tax_id: taxId = null, email = null } = seller;
  return { name, address, country, taxId, email };
}

function buyerOf({ customer, details }: InvoiceFacts): Party {
  if (!details) return { name: customer, address: [], country: null, taxId: null, email: customer };
  const { name, address, country, taxId, email } = details;
  return { name, address, country, taxId, email: email ?? customer };
}

/**
 * The invoices of a closed statement: one for each currency with a charge. Pure.
 * @throws RangeError if the statement holds no amounts
 */
export function composeInvoices(statement: Statement, facts: InvoiceFacts): InvoiceContent[] {
  const currencies = statement.totals.filter(({ currency, amount }) => toMinor(amount, currency) > 0n).map(({ currency }) => currency);
  return currencies.map((currency) => composeInvoice(statement, currency, facts));
}

type Titled = Omit<InvoiceLine, 'amount'>;

/** Use above the limits is a separate line, without days or a monthly price. */
function overageLine({ title, ...line }: Titled, { units, per, price, above }: LineOverage & { readonly above: number }): InvoiceLine {
  const use = `${units.toLocaleString('en-GB')} above the limits at ${price} for ${per.toLocaleString('en-GB')}`;
  return { ...line, title: `${title}: ${use}`, days: 0, used: units, price: 0, surcharge: 0, amount: above };
}

function composeInvoice({ month, lines: listed }: Statement, currency: string, facts: InvoiceFacts): InvoiceContent {
  const { terms, details, issuedOn, titleOf } = facts;
  const number = (amount: string): number => toSafeNumber(toMinor(amount, currency));
  const daysInMonth = daysOfMonth(month).length;
  const lines = listed
    .filter((line) => line.currency === currency && !line.isPaidInAdvance)
    .flatMap(({ product, plan, days, used, price, surcharge, amount, overage }) => {
      const title = `${titleOf(product)}${plan === null ? '' : `, plan ${plan}`}`;
      const above = number(overage?.amount ?? '0');
      const included = used - (overage?.units ?? 0);
      const line = { title, product, plan, days, daysInMonth, used: included, price: number(price), surcharge: number(surcharge) };
      return [{ ...line, amount: number(amount) - above }, ...(overage ? [overageLine(line, { ...overage, above })] : [])];
    })
    .filter(({ amount }) => amount > 0);
  const net = lines.reduce((sum, line) => sum + BigInt(line.amount), 0n);
  const { due_days: dueDays, payment = null } = terms.invoices;
  const stated = { month, currency, lines, dueOn: addDays(issuedOn, dueDays), payment, paidBy: null };
  return contentOf({ ...stated, tax: taxOn(net, details, terms) }, facts);
}

/** An invoice with these lines and this tax. */
export function contentOf(
  { tax, ...stated }: Pick<InvoiceContent, 'month' | 'currency' | 'lines' | 'dueOn' | 'payment' | 'paidBy'> & { readonly tax: Tax },
  facts: InvoiceFacts,
): InvoiceContent {
  const net = stated.lines.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return {
    ...stated,
    issuedOn: facts.issuedOn,
    decimals: decimalsOf(stated.currency),
    seller: sellerOf(facts.terms),
    buyer: buyerOf(facts),
    net: toSafeNumber(net),
    taxes: tax.lines.map((line) => ({ ...line, amount: toSafeNumber(line.amount) })),
    total: toSafeNumber(tax.lines.reduce((sum, { amount }) => sum + amount, net)),
    placeOfSupply: tax.placeOfSupply,
    serviceCode: facts.terms.tax?.gst?.hsn ?? null,
    notes: tax.notes,
  };
}
