import { z } from 'zod';
import { printedLine } from '../../../plugins/core/catalogue/billing-terms';
import { billingAmount, billingMonth, currency, givenAmount, PROVIDERS } from './billing-fields';
import { paidPlan } from './billing';
import { CSV, type Endpoints } from './endpoint';
import { cursor, id, moment, pageSize, productId } from './fields';

/**
 * `due`: the charge failed, and the plan goes on for its days of grace. `overdue`: the grace is over. `failed`: the plan ended without the
 * charge. `unknown`: the payment provider says that nothing is owed, but never reported a payment.
 */
const paymentState = z.enum(['paid', 'due', 'overdue', 'failed', 'unknown']);
export type PaymentState = z.input<typeof paymentState>;

/** One invoice of a payment provider. */
const payment = z.object({
  provider: z.enum(PROVIDERS),
  /** The provider's id of the invoice. */
  reference: z.string(),
  product: productId,
  amount: billingAmount,
  currency,
  state: paymentState,
  /** When the charge was first tried. */
  chargedAt: moment,
  paidAt: moment.nullable(),
  /** The part refunded so far. */
  refunded: billingAmount,
  /** When the last refund was made; null without one. */
  refundedAt: moment.nullable(),
  /** The provider's own page of the invoice. */
  url: z.string().nullable(),
});
export type PaymentView = z.input<typeof payment>;

const sellersPayment = payment.extend({
  customerId: id,
  customer: z.string(),
  /** Whether the charge is owed, and the provider lets the seller retry it. */
  canRetry: z.boolean(),
  /** What can still be refunded. */
  refundable: billingAmount,
});
export type SellersPaymentView = z.input<typeof sellersPayment>;

const filter = {
  month: billingMonth.optional(),
  currency: currency.optional(),
  state: paymentState.optional(),
  /** Id of a customer. */
  customer: id.optional(),
};

/** A payment, by the provider's id of its invoice. */
const ofPayment = { provider: z.enum(PROVIDERS), reference: z.string().min(1).max(200) };

/** Payments in advance lie with the provider, which may refuse or be away. */
const ASKING = ['payment_off', 'payment_away', 'change_refused'] as const;

const page = { after: cursor.optional(), limit: pageSize };

/** What a customer was charged through a payment provider. */
export const paymentEndpoints = {
  'GET /payments': {
    for: 'members',
    needs: 'billing',
    summary: 'List what you were charged by the payment provider, and what went back',
    query: z.object(page),
    answer: z.object({ payments: z.array(payment), next: cursor.nullable() }),
  },
} as const satisfies Endpoints;

/** What customers were charged through a payment provider. */
export const sellerPaymentEndpoints = {
  'GET /operator/payments': {
    for: 'operators',
    sellerScopes: ['payments:read'],
    summary: 'List what customers were charged by the payment provider',
    query: z.object({ ...page, ...filter }),
    answer: z.object({ payments: z.array(sellersPayment), next: cursor.nullable() }),
  },
  'GET /operator/payments.csv': { for: 'operators', summary: 'The same as CSV', query: z.object(filter), file: CSV },
  'POST /operator/payments/retry': {
    for: 'operators',
    summary: 'Charge a payment that failed once more',
    body: z.object(ofPayment),
    refuses: ['payment_unknown', 'payment_failed', ...ASKING],
  },
  'POST /operator/payments/refund': {
    for: 'operators',
    sellerScopes: ['payments:write'],
    summary: 'Refund a payment or a part of it; the plan continues',
    body: z.object({
      ...ofPayment,
      amount: givenAmount,
      /** What was refunded before this request. Once carried out, the request no longer matches, so that it is never carried out twice. */
      refunded: givenAmount,
      /** Printed on the credit note, if there is one. */
      reason: printedLine(500),
    }),
    refuses: ['payment_unknown', 'price_malformed', 'version_conflict', ...ASKING],
  },
  'GET /operator/customers/:id/paid-plans': {
    for: 'operators',
    sellerScopes: ['payments:read'],
    summary: 'List what a customer pays in advance',
    answer: z.object({ paid: z.array(paidPlan) }),
    refuses: ['customer_unknown'],
  },
  'POST /operator/customers/:id/paid-plans/:paid/end': {
    for: 'operators',
    sellerScopes: ['payments:write'],
    summary: 'End a payment: now, or with the period that is paid',
    body: z.object({ when: z.enum(['now', 'with_period']) }),
    refuses: ['paid_plan_unknown', ...ASKING],
  },
  'PUT /operator/customers/:id/paid-plans/:paid/discount': {
    for: 'operators',
    sellerScopes: ['payments:write'],
    summary: 'Give a paying customer a discount, or take it away',
    body: z.object({
      /** Off each charge of the plan: a share of it, or an amount. It replaces the earlier discount; null removes it. */
      discount: z
        .union([z.strictObject({ percent: z.number().int().min(1).max(100) }), z.strictObject({ amount: givenAmount })])
        .nullable(),
      /** How many charges are lower; null: all of them. */
      months: z.number().int().min(1).max(36).nullable(),
      /** The customer reads it, also on the payment provider's invoices. */
      reason: z.string().trim().min(1).max(500),
    }),
    refuses: ['paid_plan_unknown', 'price_malformed', ...ASKING],
  },
  'POST /operator/customers/:id/paid-plans/:paid/resume': {
    for: 'operators',
    sellerScopes: ['payments:write'],
    summary: 'Resume a payment that is paused',
    refuses: ['paid_plan_unknown', ...ASKING],
  },
} as const satisfies Endpoints;
