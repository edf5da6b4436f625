import { z } from 'zod';
import { addressLines, country, gstState, INVOICED, printedLine, taxId } from '../../../plugins/core/catalogue/billing-terms';
import { billingAmount as amount, billingMonth as month, currency, PROVIDERS } from './billing-fields';
import { CSV, type Endpoints } from './endpoint';
import { cursor, day, givenConsent, givenUnderstood, id, moment, pageSize, planName, productId } from './fields';
import { terms } from './plans';

/** Media type of an invoice as a document. */
export const PDF = 'application/pdf';

const money = z.object({ currency, amount });

const details = z.object({
  name: z.string(),
  address: z.array(z.string()),
  country: z.string(),
  /** Code of GST; null outside India. */
  state: z.string().nullable(),
  taxId: z.string().nullable(),
  /** Null: invoices are mailed to the owners. */
  email: z.string().nullable(),
});
export type BillingDetailsView = z.input<typeof details>;

/** What Tollgate's own invoices are for: each payment, or a month. `provider`: the payment provider makes the invoices. */
const invoiced = z.enum(INVOICED);

const invoiceState = z.enum(['issued', 'open', 'overdue', 'paid', 'credited']);
export type InvoiceState = z.input<typeof invoiceState>;

const invoiceSummary = z.object({
  id,
  number: z.string(),
  kind: z.enum(['invoice', 'credit_note']),
  customerId: id,
  buyer: z.string(),
  month,
  currency,
  total: amount,
  issuedOn: day,
  dueOn: day,
  /** A credit note stays `issued`. */
  state: invoiceState,
  paidOn: day.nullable(),
  /** Reference of the payment, as the seller noted it. */
  reference: z.string().nullable(),
  /** For a credited invoice the number of its credit note; for a credit note the number of its invoice. */
  credit: z.string().nullable(),
  /** The payment provider that confirmed the payment or refund, whose reference is `reference`. Null: the invoice is for a month. */
  paidThrough: z.enum(PROVIDERS).nullable(),
});
export type InvoiceSummaryView = z.input<typeof invoiceSummary>;

const party = z.object({
  name: z.string(),
  address: z.array(z.string()),
  country: z.string().nullable(),
  taxId: z.string().nullable(),
  email: z.string().nullable(),
});

/** The invoice as it was issued. */
const invoice = invoiceSummary.extend({
  seller: party,
  buyerDetails: party,
  lines: z.array(
    z.object({
      title: z.string(),
      days: z.number().int(),
      daysInMonth: z.number().int(),
      used: z.number(),
      price: amount,
      surcharge: amount,
      amount,
    }),
  ),
  net: amount,
  taxes: z.array(z.object({ name: z.string(), percent: z.string(), amount })),
  placeOfSupply: z.string().nullable(),
  serviceCode: z.string().nullable(),
  notes: z.array(z.string()),
  payment: z.string().nullable(),
  /** Reason of a credit note; else empty. */
  reason: z.string(),
});
export type InvoiceView = z.input<typeof invoice>;

/** A plan that is paid through a payment provider. */
export const paidPlan = z.object({
  id,
  product: productId,
  plan: z.string(),
  price: amount,
  currency,
  /** `failing`: the last charge failed; the plan goes on until `graceEndsAt`. */
  status: z.enum(['trial', 'active', 'failing']),
  /** End of the paid period, and the time of the next charge. */
  periodEndsAt: moment,
  /** When it ends, because it was cancelled; null while it goes on. */
  cancelsAt: moment.nullable(),
  /** The plan that replaces this one in the next period, and its price a month; null if there is none. */
  next: z.object({ plan: z.string(), price: amount }).nullable(),
  /** The next charge, before tax. */
  charge: amount,
  /** The seller's discount: a share of the price or an amount, up to the charge on `until`. A null `until`: off each charge. */
  discount: z.object({ percent: z.number().nullable(), amount: amount.nullable(), until: moment.nullable() }).nullable(),
  /** Whether the seller has paused the payment, so that nothing is charged. */
  isPaused: z.boolean(),
  /** Until when a failed charge can be made good; null while no payment is owed. */
  graceEndsAt: moment.nullable(),
  /** False once the grace is over. */
  isGiven: z.boolean(),
  /** Whether the payment provider cannot take a cancellation back. */
  isCancelFinal: z.boolean(),
  /** Whether the payment provider supports discounts from the seller. */
  takesDiscounts: z.boolean(),
});
export type PaidPlan = z.input<typeof paidPlan>;

const billing = z.object({
  /** `none`: customers are not invoiced here. */
  provider: z.enum(PROVIDERS),
  invoices: invoiced,
  /** Plans that are paid in advance and have not ended. */
  paid: z.array(paidPlan),
  /** Use above the limits of such plans, in those of the last three months that are over. */
  above: z.array(
    z.object({
      product: productId,
      month,
      units: z.number(),
      amount,
      currency,
      /** Whether the payment provider has added it to its next charge, or has charged it. */
      isReported: z.boolean(),
    }),
  ),
  /** Whether the payment provider has a page for the customer's cards and invoices. */
  hasPortal: z.boolean(),
  /** Null: invoices are addressed to the account's address, and taxed as if the customer were where the seller is. */
  details: details.nullable(),
  /** What this month's invoice would be now, before tax, and when it is issued; null if none is coming. */
  next: z.object({ month, issuedOn: day, totals: z.array(money) }).nullable(),
  /** Sums of all open and overdue invoices. */
  owed: z.array(money),
});
export type BillingView = z.input<typeof billing>;

const members = { for: 'members', needs: 'billing' } as const;
const invoicePage = z.object({ invoices: z.array(invoiceSummary), next: cursor.nullable() });

const switching = [
  'plan_paid',
  'payment_off',
  'payment_away',
  'plan_free',
  'plan_needs_approval',
  'plan_unknown',
  'plan_current',
  'currency_differs',
  'change_refused',
] as const;

/** What a customer is billed, and the buyer's details on its invoices. */
export const billingEndpoints = {
  'GET /billing': { ...members, summary: 'Show how you are billed', answer: billing },
  'PUT /billing/details': {
    ...members,
    whileSuspended: true,
    summary: 'Set the details for your next invoices',
    body: z.object({
      name: printedLine(200),
      address: addressLines,
      country,
      state: gstState.nullable().default(null),
      taxId: taxId.nullable().default(null),
      email: z.email().max(254).nullable().default(null),
    }),
    answer: details,
    refuses: ['tax_id_malformed'],
  },
  'POST /checkouts': {
    ...members,
    summary: 'Begin to pay for a plan',
    body: z.object({
      product: productId,
      plan: planName,
      terms: terms.optional(),
      consent: givenConsent,
      understood: givenUnderstood,
    }),
    /**
     * `url`: the payment provider's page. If that page does not lead back, `url` is the dashboard's page of the checkout, which opens it.
     * The plan begins when it is paid there.
     */
    answer: z.object({ id, url: z.url() }),
    refuses: [
      'opens_nothing',
      'payment_off',
      'payment_away',
      'plan_free',
      'plan_paid',
      'plan_current',
      'checkout_closed',
      'change_refused',
      'plan_needs_approval',
      'terms_changed',
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'plan_unknown',
      'consent_required',
      'consent_changed',
    ],
  },
  'GET /checkouts/:id': {
    ...members,
    summary: 'Show the outcome of a payment',
    answer: z.object({
      id,
      product: productId,
      plan: z.string(),
      price: amount,
      currency,
      /** `open`: not paid, or not yet confirmed by the payment provider. `paid`: the plan is given. `closed`: nothing was paid. */
      state: z.enum(['open', 'paid', 'closed']),
      /** The page on which it can still be paid; null once it is over, or no longer sold on these terms. */
      url: z.string().nullable(),
      /** False if the plan, its price or its limits have changed since. */
      isSold: z.boolean(),
      /** Whether the payment provider's page leads back here. */
      leadsBack: z.boolean(),
    }),
    refuses: ['checkout_unknown'],
  },
  'POST /paid-plans/:id/cancel': {
    ...members,
    whileSuspended: true,
    summary: 'End a paid plan with the period that is paid',
    refuses: ['paid_plan_unknown', 'payment_off', 'payment_away', 'change_refused'],
  },
  'POST /paid-plans/:id/keep': {
    ...members,
    summary: 'Take the cancellation back',
    refuses: ['paid_plan_unknown', 'payment_off', 'payment_away', 'change_refused'],
  },
  'POST /paid-plans/:id/preview': {
    ...members,
    summary: 'Show what changing to another plan does, when, and what it costs',
    body: z.object({ plan: planName, terms: terms.optional() }),
    /**
     * `preview`: the id to accept. `begins`: `now` if `amount` is paid; `next_period` at `beginsAt`, with nothing more to pay until then;
     * `keep` takes back a plan that waits for the next period. `endsAt`: when a cancelled plan ends, which a change does not take back.
     */
    answer: z.object({
      preview: id,
      begins: z.enum(['now', 'next_period', 'keep']),
      beginsAt: moment.nullable(),
      endsAt: moment.nullable(),
      amount,
      currency,
    }),
    refuses: ['paid_plan_unknown', ...switching, 'terms_changed'],
  },
  'PUT /paid-plans/:id/plan': {
    ...members,
    summary: 'Change a paid plan for another one',
    /** The preview that was shown within the last hour and agreed to. It can be accepted once. */
    body: z.object({ preview: id, understood: givenUnderstood }),
    refuses: ['paid_plan_unknown', 'opens_nothing', ...switching, 'terms_changed', 'preview_old', 'payment_failed', 'change_limit_reached'],
  },
  'POST /billing/portal': {
    ...members,
    whileSuspended: true,
    summary: 'Open the payment provider’s page of your cards and invoices',
    answer: z.object({ url: z.url() }),
    refuses: ['payment_off', 'payment_away'],
  },
  'GET /invoices': {
    ...members,
    summary: 'List your invoices and credit notes',
    query: z.object({ after: cursor.optional(), limit: pageSize }),
    answer: invoicePage,
  },
  'GET /invoices.csv': { ...members, summary: 'Their lines as CSV', file: CSV },
  'GET /invoices/:id': { ...members, summary: 'Show an invoice', answer: invoice, refuses: ['invoice_unknown'] },
  'GET /invoices/:id/pdf': { ...members, summary: 'The same as PDF', file: PDF, refuses: ['invoice_unknown'] },
} as const satisfies Endpoints;

const filter = {
  month: month.optional(),
  currency: currency.optional(),
  state: invoiceState.optional(),
  /** Id of a customer. */
  customer: id.optional(),
};

const sums = z.object({
  provider: z.enum(PROVIDERS),
  invoices: invoiced,
  /** The last two years, newest first. Null: unknown. */
  months: z.array(
    z.object({
      month,
      currency,
      /** Who billed: `invoice` for Tollgate's own invoices, else the payment provider. */
      by: z.enum(PROVIDERS),
      invoices: z.number().int(),
      /** Without what was credited. */
      invoiced: amount,
      paid: amount.nullable(),
      due: amount,
      overdue: amount,
      /** Failed charges of plans that ended without them. Nobody charges Tollgate's own invoices. */
      failed: amount.nullable(),
      /** Given back by credit notes, or refunded by the payment provider. */
      credited: amount,
    }),
  ),
  /** Use above limits that a payment provider refuses to charge, for the seller to bill; the 100 oldest. */
  uncharged: z.array(
    z.object({
      customerId: id,
      customer: z.string(),
      product: productId,
      month,
      units: z.number(),
      amount,
      currency,
      /** The provider's reason. */
      problem: z.string(),
    }),
  ),
});
export type BillingSums = z.input<typeof sums>;

/** What customers owe the seller. */
export const sellerBillingEndpoints = {
  'GET /operator/billing': { for: 'operators', summary: 'Show what was invoiced, paid and is due by month', answer: sums },
  'GET /operator/invoices': {
    for: 'operators',
    summary: 'List invoices and credit notes',
    query: z.object({ after: cursor.optional(), limit: pageSize, ...filter }),
    answer: invoicePage,
  },
  'GET /operator/invoices.csv': { for: 'operators', summary: 'Their lines as CSV', query: z.object(filter), file: CSV },
  'GET /operator/invoices/:id': { for: 'operators', summary: 'Show an invoice', answer: invoice, refuses: ['invoice_unknown'] },
  'GET /operator/invoices/:id/pdf': { for: 'operators', summary: 'The same as PDF', file: PDF, refuses: ['invoice_unknown'] },
  'POST /operator/invoices/:id/paid': {
    for: 'operators',
    summary: 'Mark an invoice as paid',
    body: z.object({ paidOn: day, reference: z.string().trim().max(200).default('') }),
    refuses: ['invoice_unknown', 'invoice_settled', 'date_malformed'],
  },
  'POST /operator/invoices/:id/credit': {
    for: 'operators',
    summary: 'Cancel an invoice by a credit note',
    body: z.object({ reason: printedLine(500) }),
    answer: z.object({ id }),
    refuses: ['invoice_unknown', 'invoice_settled', 'billing_off'],
  },
} as const satisfies Endpoints;
