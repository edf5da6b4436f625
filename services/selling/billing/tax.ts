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
  /** Of GST: where the service is supplied to, as the invoice says it. */
  readonly placeOfSupply: string | null;
}

type Buyer = Pick<BillingDetails, 'country' | 'state' | 'taxId'>;

/** Rates have two decimals of a percent, their halves three. */
const THOUSANDTHS = 1_000;

function lineOf(name: string, percent: number, net: bigint): TaxLine {
  const thousandths = Math.round(percent * THOUSANDTHS);
  return { name, percent: String(thousandths / THOUSANDTHS), amount: shareOf(net, BigInt(thousandths), BigInt(100 * THOUSANDTHS)) };
}

/**
 * The tax on an invoice, in which each line of tax is rounded once.
 * @param net the sum of what is billed, in the smallest unit
 * @param buyer undefined for a customer who has given no address: the law then takes the seller's place for the place of supply
 */
export function taxOn(net: bigint, buyer: Buyer | undefined, { seller, tax }: Pick<InvoicingTerms, 'seller' | 'tax'>): Tax {
  if (tax?.gst) return gstOn(net, buyer, { seller, gst: tax.gst });
  if (tax?.vat) return vatOn(net, buyer, { seller, vat: tax.vat });
  return { lines: [], notes: [], placeOfSupply: null };
}

type Seller = InvoicingTerms['seller'];
type Gst = NonNullable<NonNullable<BillingTerms['tax']>['gst']>;

/** IGST Act, sections 12 and 16: by the buyer's place; exports under a letter of undertaking are without tax. */
function gstOn(net: bigint, buyer: Buyer | undefined, { seller, gst }: { seller: Seller; gst: Gst }): Tax {
  const home = (seller.tax_id ?? '').slice(0, 2);
  const country = buyer?.country ?? seller.country;
  if (country !== seller.country) {
    const placeOfSupply = `Outside India (${country})`;
    if (gst.lut === undefined) {
      return { lines: [lineOf('IGST', gst.rate, net)], notes: ['Supply meant for export on payment of integrated tax.'], placeOfSupply };
    }
    const note = `Supply meant for export under letter of undertaking ${gst.lut} without payment of integrated tax.`;
    return { lines: [lineOf('IGST', 0, net)], notes: [note], placeOfSupply };
  }
  const state = buyer?.taxId?.slice(0, 2) ?? buyer?.state ?? home;
  const placeOfSupply = `${GST_STATES[state] ?? 'Other Territory'} (${state})`;
  if (state !== home) return { lines: [lineOf('IGST', gst.rate, net)], notes: [], placeOfSupply };
  const half = gst.rate / 2;
  return { lines: [lineOf('CGST', half, net), lineOf(stateTaxName(state), half, net)], notes: [], placeOfSupply };
}

const REVERSE = 'Reverse charge: the recipient accounts for VAT (Article 196 of Directive 2006/112/EC).';
const OUTSIDE = 'Outside the scope of VAT: the recipient is abroad.';

/** Services to a business are taxed where it is, by itself; to anybody else in the Union where the table has a rate, else as at home. */
function vatOn(net: bigint, buyer: Buyer | undefined, { seller, vat }: { seller: Seller; vat: Readonly<Record<string, number>> }): Tax {
  const home = seller.country;
  const country = buyer?.country ?? home;
  const result = (rate: number, notes: readonly string[] = []): Tax => ({ lines: [lineOf('VAT', rate, net)], notes, placeOfSupply: null });
  const atHome = vat[home] ?? 0;
  if (country === home) return result(atHome);
  const isBusiness = buyer?.taxId != null && checkTaxId(country, buyer.taxId).problem === undefined;
  const isWithinUnion = isInUnion(country) && isInUnion(home);
  if (isBusiness) return result(0, [isWithinUnion ? REVERSE : OUTSIDE]);
  const there = vat[country];
  if (there !== undefined) return result(there);
  return isWithinUnion ? result(atHome) : result(0, [OUTSIDE]);
}
