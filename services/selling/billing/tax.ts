import { type BillingDetails, type BillingTerms, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { shareOf } from '../../../plugins/core/catalogue/money';
import { checkTaxId, GST_STATES, isInUnion, stateTaxName } from '../../../plugins/core/catalogue/tax-ids';

/** One line of tax. */
export interface TaxLine {
  readonly name: string;
  /** `9`, `0.125`. */
  readonly percent: string;
  /** In the smallest unit. */
  readonly amount: bigint;
}

export interface Tax {
  readonly lines: readonly TaxLine[];
  /** What the law wants to be said of it. */
  readonly notes: readonly string[];
  /** For GST: the place of supply that the invoice names. */
  readonly placeOfSupply: string | null;
}

type Buyer = Pick<BillingDetails, 'country' | 'state' | 'taxId'>;
type Table = Pick<InvoicingTerms, 'seller' | 'tax'>;

/** The taxes on a supply, before the amount is known. */
interface Rates extends Omit<Tax, 'lines'> {
  readonly rates: readonly { readonly name: string; readonly percent: number }[];
}

/** Rates have two decimals of a percent, their halves three. */
const THOUSANDTHS = 1_000;
const WHOLE = 100 * THOUSANDTHS;

/** @param baseOf the amount's base, in thousandths of a percent of the net sum, by the sum of all rates */
function taxFrom(amount: bigint, { rates, ...more }: Rates, baseOf: (all: number) => number): Tax {
  const exact = rates.map(({ name, percent }) => ({ name, thousandths: Math.round(percent * THOUSANDTHS) }));
  const base = BigInt(baseOf(exact.reduce((sum, { thousandths }) => sum + thousandths, 0)));
  const lines = exact.map(({ name, thousandths }) => ({
    name,
    percent: String(thousandths / THOUSANDTHS),
    amount: shareOf(amount, BigInt(thousandths), base),
  }));
  return { lines, ...more };
}

/**
 * The tax on an invoice, in which each line of tax is rounded once.
 * @param net the sum of what is billed, in the smallest unit
 * @param buyer undefined for a customer without an address: the place of supply is then the seller's by law
 */
export function taxOn(net: bigint, buyer: Buyer | undefined, table: Table): Tax {
  return taxFrom(net, ratesFor(buyer, table), () => WHOLE);
}

/** The tax included in a payment; the rest is net. */
export function taxWithin(total: bigint, buyer: Buyer | undefined, table: Table): Tax {
  return taxFrom(total, ratesFor(buyer, table), (all) => WHOLE + all);
}

function ratesFor(buyer: Buyer | undefined, { seller, tax }: Table): Rates {
  if (tax?.gst) return gstFor(buyer, { seller, gst: tax.gst });
  if (tax?.vat) return vatFor(buyer, { seller, vat: tax.vat });
  return { rates: [], notes: [], placeOfSupply: null };
}

type Seller = InvoicingTerms['seller'];
type Gst = NonNullable<NonNullable<BillingTerms['tax']>['gst']>;

/** IGST Act, sections 12 and 16: by the buyer's place; exports under a letter of undertaking are without tax. */
function gstFor(buyer: Buyer | undefined, { seller, gst }: { seller: Seller; gst: Gst }): Rates {
  const igst = (percent: number) => [{ name: 'IGST', percent }];
  const home = (seller.tax_id ?? '').slice(0, 2);
  const country = buyer?.country ?? seller.country;
  if (country !== seller.country) {
    const placeOfSupply = `Outside India (${country})`;
    if (gst.lut === undefined) {
      return { rates: igst(gst.rate), notes: ['Supply meant for export on payment of integrated tax.'], placeOfSupply };
    }
    const note = `Supply meant for export under letter of undertaking ${gst.lut} without payment of integrated tax.`;
    return { rates: igst(0), notes: [note], placeOfSupply };
  }
  const state = buyer?.taxId?.slice(0, 2) ?? buyer?.state ?? home;
  const placeOfSupply = `${GST_STATES[state] ?? 'Other Territory'} (${state})`;
  if (state !== home) return { rates: igst(gst.rate), notes: [], placeOfSupply };
  const rates = ['CGST', stateTaxName(state)].map((name) => ({ name, percent: gst.rate / 2 }));
  return { rates, notes: [], placeOfSupply };
}

const REVERSE = 'Reverse charge: the recipient accounts for VAT (Article 196 of Directive 2006/112/EC).';
const OUTSIDE = 'Outside the scope of VAT: the recipient is abroad.';

/**
 * Services to a business are taxed where the business is, by the business itself; to anybody else in the Union by the table's rate, if it
 * has one, else as at home.
 */
function vatFor(buyer: Buyer | undefined, { seller, vat }: { seller: Seller; vat: Readonly<Record<string, number>> }): Rates {
  const home = seller.country;
  const country = buyer?.country ?? home;
  const result = (percent: number, notes: readonly string[] = []): Rates => ({
    rates: [{ name: 'VAT', percent }],
    notes,
    placeOfSupply: null,
  });
  const atHome = vat[home] ?? 0;
  if (country === home) return result(atHome);
  const isBusiness = buyer?.taxId != null && checkTaxId(country, buyer.taxId).problem === undefined;
  const isWithinUnion = isInUnion(country) && isInUnion(home);
  if (isBusiness) return result(0, [isWithinUnion ? REVERSE : OUTSIDE]);
  const there = vat[country];
  if (there !== undefined) return result(there);
  return isWithinUnion ? result(atHome) : result(0, [OUTSIDE]);
}
