import { z } from 'zod';
import { checkTaxId, GST_STATES } from './tax-ids';

/** The letters of the font in which invoices are printed, which all run from left to right. */
const PRINTED = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}\p{N}\p{P}\p{Sc}\p{Sm} ]*$/u;
const NOT_PRINTED = 'must be in Latin, Greek or Cyrillic letters, in which invoices are printed';

/** One line that is printed on an invoice. */
export const printedLine = (longest: number): z.ZodString => z.string().trim().min(1).max(longest).regex(PRINTED, NOT_PRINTED);
export const addressLines = z.array(printedLine(100)).min(1).max(6);
export const country = z.string().regex(/^[A-Z]{2}$/, 'must be a country of ISO 3166-1 such as IN');
export const gstState = z.string().refine((code) => code in GST_STATES, 'must be a state code of GST such as 29');
export const taxId = z.string().trim().min(1).max(40);

const percent = z
  .union([z.number(), z.string().regex(/^\d{1,2}(\.\d{1,2})?$/, 'must be a percentage such as 18')])
  .transform(Number)
  .refine(
    (rate) => rate >= 0 && rate < 100 && Number(rate.toFixed(2)) === rate,
    'must be a percentage below 100 with two decimals at most',
  );

const seller = z
  .strictObject({
    name: printedLine(200).describe('Legal name.'),
    address: addressLines.describe('Postal address, line by line.'),
    country: country.describe('ISO 3166-1, for example IN.'),
    tax_id: taxId.optional().describe('GSTIN or VAT number; checked by format and check digit.'),
    email: z.email().optional().describe('Address for customers’ questions about invoices.'),
  })
  .transform(({ tax_id: given, ...rest }, context): typeof rest & { tax_id?: string } => {
    if (given === undefined) return rest;
    const checked = checkTaxId(rest.country, given);
    if (checked.problem === undefined) return { ...rest, tax_id: checked.value };
    context.addIssue({ code: 'custom', path: ['tax_id'], message: checked.problem });
    return z.NEVER;
  });

const series = z.string().regex(/^[A-Z0-9][A-Z0-9/-]{0,7}$/, 'must be at most 8 characters: capitals, digits, / and -');

/** Who issues invoices, and for what. */
export const INVOICED = ['each_payment', 'monthly', 'provider'] as const;
export type Invoiced = (typeof INVOICED)[number];

const invoices = z.strictObject({
  for: z
    .enum(INVOICED)
    .default('monthly')
    .describe(
      'monthly: for closed statements, with the provider invoice. each_payment: for each payment and refund that stripe or razorpay confirms. provider: Tollgate issues none.',
    ),
  from: z
    .string()
    .regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'must be a month such as 2027-04')
    .describe('First month with invoices.'),
  series: series.default('INV').describe('The beginning of each invoice number; a new series counts from 1.'),
  credit_series: series.default('CN').describe('The same for credit notes.'),
  due_days: z.int().min(0).max(180).default(14).describe('Days until an invoice is due.'),
  payment: printedLine(500).optional().describe('Instructions for payment, for example the bank account; printed on each invoice.'),
});

const tax = z
  .strictObject({
    gst: z
      .strictObject({
        rate: percent.describe('In percent: CGST and SGST together, or IGST.'),
        hsn: z
          .string()
          .regex(/^\d{4,8}$/, 'must have 4 to 8 digits')
          .optional()
          .describe('SAC or HSN code; printed on each invoice.'),
        lut: printedLine(40)
          .optional()
          .describe('Number of the letter of undertaking, with which exports have no IGST. Without it they have IGST.'),
      })
      .optional(),
    vat: z.record(country, percent).optional().describe('Percent by country, including your own.'),
  })
  .refine(({ gst, vat }) => (gst === undefined) !== (vat === undefined), 'must have either gst or vat');

const payments = z.strictObject({
  grace_days: z.int().min(0).max(60).default(7).describe('Days after a failed payment during which the plan continues.'),
  after_grace: z
    .enum(['base', 'suspend'])
    .default('base')
    .describe('base: the base limits apply after the grace period. suspend: requests are refused.'),
  trial_days: z.int().min(0).max(365).default(0).describe('Days before the first charge, once for each mailbox and product.'),
  promotion_codes: z.boolean().default(false).describe('true: the payment page accepts promotion codes that you created at the provider.'),
});

/** Terms if plans are paid for in advance, even without `payments` in the catalogue. */
export const PAYMENT_TERMS: z.output<typeof payments> = payments.parse({});
export type PaymentTerms = z.output<typeof payments>;

/** Providers that take payments. Only they charge in advance. */
const PAYMENT_PROVIDERS = ['stripe', 'razorpay'] as const;
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number];

/** How customers are billed: `billing` of catalogue.yml. Without tax, nothing is added to prices. */
export const billingTerms = z
  .strictObject({
    provider: z
      .enum(['none', 'invoice', ...PAYMENT_PROVIDERS])
      .describe(
        'stripe, razorpay: a plan with a price begins when it is paid. invoice: Tollgate numbers and sends invoices, and you mark them as paid. none: neither.',
      ),
    seller: seller.optional().describe('The issuer of invoices.'),
    invoices: invoices.optional().describe('Settings of invoices that Tollgate issues.'),
    tax: tax
      .optional()
      .describe('Added to prices on monthly invoices, and included in the amount paid on invoices for each payment. Absent: no tax.'),
    payments: payments.optional().describe('Settings of the providers stripe and razorpay.'),
  })
  .superRefine(({ provider, seller: from, invoices: numbers, tax: table, payments: collected }, context) => {
    const report = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
    const isPaidFirst = isPaymentProvider(provider);
    if (isPaidFirst && provider === 'razorpay' && collected?.promotion_codes)
      report(['payments', 'promotion_codes'], 'must be false: razorpay’s page accepts none');
    if (!isPaidFirst && collected) report(['payments'], 'is for a provider that takes payments');
    if (isPaidFirst && !numbers) {
      for (const [member, given] of Object.entries({ seller: from, tax: table }))
        if (given !== undefined) report([member], `is for invoices of Tollgate: add invoices, or set it up at ${provider}`);
      return;
    }
    if (numbers && isPaidFirst === (numbers.for === 'monthly'))
      report(['invoices', 'for'], isPaidFirst ? `must be each_payment or provider with ${provider}` : `must be monthly with ${provider}`);
    if (!from) report(['seller'], 'is required');
    if (!numbers) report(['invoices'], 'is required');
    if (!from || !numbers) return;
    if (numbers.series === numbers.credit_series) report(['invoices', 'credit_series'], 'must differ from series');
    if (table?.gst && from.country !== 'IN') report(['tax', 'gst'], 'is for a seller in IN');
    if (table?.vat && table.vat[from.country] === undefined)
      report(['tax', 'vat'], `must have the rate of ${from.country}, the seller’s country`);
    if (table && from.tax_id === undefined) report(['seller', 'tax_id'], 'is missing: tax cannot be charged without it');
  });

export type BillingTerms = z.output<typeof billingTerms>;

/** Terms of an installation that issues invoices itself, now or earlier. */
export type InvoicingTerms = Omit<BillingTerms, 'seller' | 'invoices'> & {
  readonly seller: z.output<typeof seller>;
  readonly invoices: z.output<typeof invoices>;
};

export const isInvoicing = (terms: BillingTerms | undefined): terms is InvoicingTerms =>
  terms?.seller !== undefined && terms.invoices !== undefined;

/** Whether Tollgate issues an invoice for each payment of a month, given as `YYYY-MM`. */
export const isInvoicedByPayment = (terms: BillingTerms | undefined, month: string): boolean =>
  terms?.invoices?.for === 'each_payment' && month >= terms.invoices.from;

export function isPaymentProvider(provider: string | undefined): provider is PaymentProviderName {
  return PAYMENT_PROVIDERS.some((each) => each === provider);
}

/** The buyer on an invoice. */
export interface BillingDetails {
  readonly name: string;
  readonly address: readonly string[];
  /** ISO 3166-1. */
  readonly country: string;
  /** GST code; null outside India. */
  readonly state: string | null;
  /** The number as `checkTaxId` returned it; null for a buyer without one. */
  readonly taxId: string | null;
  /** Address for invoices; null for the customer's own. */
  readonly email: string | null;
}
