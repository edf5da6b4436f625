import { toSafeNumber } from '../../../plugins/core/catalogue/money';
import { contentOf, type InvoiceContent, type InvoiceFacts } from './invoice';
import { taxWithin } from './tax';

/** Use above the limits that a payment was for. */
export interface PaidUse {
  readonly product: string;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly units: number;
  /** As it was charged, with tax. */
  readonly amount: number;
}

/** A payment that its provider has confirmed. Amounts are in the currency's smallest unit. */
export interface ConfirmedPayment {
  readonly provider: string;
  /** The provider's id of its invoice. */
  readonly reference: string;
  /** The provider's id of the payment itself; null if it has none. */
  readonly payment: string | null;
  readonly product: string;
  readonly plan: string | null;
  readonly currency: string;
  /** The total paid, with tax. */
  readonly amount: number;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly paidOn: string;
  readonly use: readonly PaidUse[];
}

const NAMES: Readonly<Record<string, string>> = { stripe: 'Stripe', razorpay: 'Razorpay', sandbox: 'the payment provider of npm start' };

/** Use above the limits as named on invoices, ours and the payment provider's. */
export const useText = ({ title, units, month }: { title: string; units: number; month: string }): string =>
  `${title}: ${units.toLocaleString('en-GB')} above the limits in ${month}`;

/** Splits a sum by weight into shares that add up to it: rounding differences go to the largest remainders. */
function shareOut(sum: bigint, weights: readonly bigint[]): bigint[] {
  const all = weights.reduce((total, weight) => total + weight, 0n);
  if (all === 0n) return weights.map(() => 0n);
  const parts = weights.map((weight, place) => ({ place, whole: (sum * weight) / all, rest: (sum * weight) % all }));
  const left = sum - parts.reduce((total, { whole }) => total + whole, 0n);
  const first = parts.toSorted((a, b) => Number(b.rest - a.rest)).slice(0, Number(left));
  const raised = new Set(first.map(({ place }) => place));
  return parts.map(({ place, whole }) => whole + (raised.has(place) ? 1n : 0n));
}

const NO_MONTH = { days: 0, daysInMonth: 0, price: 0, surcharge: 0 };

/**
 * The invoice for a payment: the payment is its total, to the last unit, and includes the tax. Use above the limits is a separate line.
 * Pure.
 */
export function composePaymentInvoice(payment: ConfirmedPayment, facts: InvoiceFacts): InvoiceContent {
  const { product, plan, currency, amount, use, paidOn, provider, reference } = payment;
  const { details, terms, titleOf, issuedOn } = facts;
  const above = use.map((each) => ({
    line: { title: useText({ ...each, title: titleOf(each.product) }), product: each.product, plan, used: each.units, ...NO_MONTH },
    paid: BigInt(each.amount),
  }));
  const title = `${titleOf(product)}${plan === null ? '' : `, plan ${plan}`}`;
  const ofPlan = above.reduce((rest, { paid }) => rest - paid, BigInt(amount));
  const all = [{ line: { title, product, plan, used: 0, ...NO_MONTH }, paid: ofPlan > 0n ? ofPlan : 0n }, ...above];
  const tax = taxWithin(BigInt(amount), details, terms);
  const net = tax.lines.reduce((rest, each) => rest - each.amount, BigInt(amount));
  const shares = shareOut(
    net,
    all.map(({ paid }) => paid),
  );
  const lines = all.flatMap(({ line, paid }, place) => (paid > 0n ? [{ ...line, amount: toSafeNumber(shares[place] ?? 0n) }] : []));
  const ids = `reference ${reference}${payment.payment === null ? '' : `, payment ${payment.payment}`}`;
  const note = `Paid on ${paidOn} through ${NAMES[provider] ?? provider}, ${ids}.`;
  const stated = { month: paidOn.slice(0, 7), currency, lines, tax, dueOn: issuedOn, payment: null, paidBy: payment.payment };
  const content = contentOf(stated, facts);
  return { ...content, notes: [...content.notes, note] };
}

type Parts = Pick<InvoiceContent, 'lines' | 'taxes'>;
const amountsOf = (parts: readonly { readonly amount: number }[]): bigint[] => parts.map(({ amount }) => BigInt(amount));
const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);

/** What earlier credit notes have left of an invoice's lines, or of its taxes. */
function leftOf(invoice: Parts, before: readonly Parts[], member: keyof Parts): bigint[] {
  return before.reduce((left, note) => {
    const gone = amountsOf(note[member]);
    return left.map((each, place) => each - (gone[place] ?? 0n));
  }, amountsOf(invoice[member]));
}

/**
 * The credit note for a refund: each line and tax of the invoice contributes its share of what is left. So all credit notes together never
 * exceed a line or tax, and a full refund leaves nothing. Equal taxes, such as CGST and SGST, stay equal: rounding differences go to the
 * net sum. Pure.
 * @param before credit notes of the same invoice
 * @throws RangeError for more than is left
 */
export function composeRefund(
  invoice: InvoiceContent,
  { amount, before, issuedOn }: { readonly amount: number; readonly before: readonly Parts[]; readonly issuedOn: string },
): InvoiceContent {
  const [lines, taxes] = [leftOf(invoice, before, 'lines'), leftOf(invoice, before, 'taxes')];
  const all = sumOf(lines) + sumOf(taxes);
  const back = BigInt(amount);
  if (back > all) throw new RangeError('more went back than was paid');
  const floors = taxes.map((left) => (all === 0n ? 0n : (left * back) / all));
  const rest = back - sumOf(floors);
  const net = rest < sumOf(lines) ? rest : sumOf(lines);
  const taxBack = rest === net ? floors : shareOut(back - net, taxes);
  const lineBack = shareOut(net, lines);
  const given = <Part extends { readonly amount: number }>(parts: readonly Part[], amounts: readonly bigint[]): readonly Part[] =>
    parts.map((part, place) => ({ ...part, amount: toSafeNumber(amounts[place] ?? 0n) }));
  return {
    ...invoice,
    lines: given(invoice.lines, lineBack),
    taxes: given(invoice.taxes, taxBack),
    net: toSafeNumber(net),
    total: amount,
    issuedOn,
    dueOn: issuedOn,
  };
}
