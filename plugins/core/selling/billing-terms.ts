import { z } from 'zod';
import { checkTaxId, GST_STATES } from './tax-ids';

/** Invoices are printed in a font with these letters, from left to right. */
const PRINTED = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}\p{N}\p{P}\p{Sc}\p{Sm} ]*$/u;
const NOT_PRINTED = 'must be in Latin, Greek or Cyrillic letters, which invoices are printed in';

/** One line of what stands on an invoice. */
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

const seller = z.strictObject({
  name: printedLine(200).describe('Legal name.'),
  address: addressLines.describe('Postal address, line by line.'),
  country: country.describe('ISO 3166-1, for example IN.'),
  tax_id: taxId.optional().describe('GSTIN or VAT number; checked by format and check digit.'),
  email: z.email().optional().describe('Where customers write to about invoices.'),
});

const series = z.string().regex(/^[A-Z0-9][A-Z0-9/-]{0,7}$/, 'must have capitals, digits, / and - only, 8 at most');

const invoices = z.strictObject({
  from: z
    .string()
    .regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'must be a month such as 2027-04')
    .describe('First month that is invoiced.'),
  series: series.default('INV').describe('Begins the number of each invoice; another series counts from 1.'),
  credit_series: series.default('CN').describe('The same for credit notes.'),
  due_days: z.int().min(0).max(180).default(14).describe('Days until an invoice is due.'),
  payment: printedLine(500).optional().describe('How to pay, for example the bank account; printed on each invoice.'),
});

const tax = z
  .strictObject({
    gst: z
      .strictObject({
        rate: percent.describe('Percent: CGST and SGST together, or IGST.'),
        hsn: z
          .string()
          .regex(/^\d{4,8}$/, 'must have 4 to 8 digits')
          .optional()
          .describe('SAC or HSN code; printed on each invoice.'),
        lut: printedLine(40)
          .optional()
          .describe('Number of the letter of undertaking: exports are without IGST. Without it they have IGST.'),
      })
      .optional(),
    vat: z.record(country, percent).optional().describe('Percent by country, your own among them.'),
  })
  .refine(({ gst, vat }) => (gst === undefined) !== (vat === undefined), 'must have either gst or vat');

/** How customers are billed, as `billing` of catalogue.yml says it. Without tax nothing is added to prices. */
export const billingTerms = z
  .strictObject({
    provider: z
      .enum(['none', 'invoice'])
      .describe('invoice: Tollgate numbers and sends invoices, and you mark them paid. none: no invoices.'),
    seller,
    invoices,
    tax: tax.optional().describe('Added to prices. Without it nothing is.'),
  })
  .superRefine(({ seller: from, invoices: numbers, tax: table }, context) => {
    const report = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
    if (numbers.series === numbers.credit_series) report(['invoices', 'credit_series'], 'must differ from series');
    const checked = from.tax_id === undefined ? undefined : checkTaxId(from.country, from.tax_id);
    if (checked?.problem !== undefined) report(['seller', 'tax_id'], checked.problem);
    if (table?.gst && from.country !== 'IN') report(['tax', 'gst'], 'is for a seller in IN');
    if (table?.vat && table.vat[from.country] === undefined)
      report(['tax', 'vat'], `must have the rate of ${from.country}, where the seller is`);
    if (table && from.tax_id === undefined) report(['seller', 'tax_id'], 'is missing: tax cannot be charged without it');
  });

export type BillingTerms = z.output<typeof billingTerms>;

/** To whom an invoice is made out. */
export interface BillingDetails {
  readonly name: string;
  readonly address: readonly string[];
  /** ISO 3166-1. */
  readonly country: string;
  /** GST code; null outside India. */
  readonly state: string | null;
  /** As `checkTaxId` returned it; null for a buyer who has none. */
  readonly taxId: string | null;
  /** Where invoices are sent; null: to the customer's own address. */
  readonly email: string | null;
}
