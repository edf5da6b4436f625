import { z } from 'zod';
import { billingAmount, billingMonth, currency, PROVIDERS } from './billing-fields';
import { CSV, type Endpoints } from './endpoint';
import { cursor, id, moment, pageSize, productId } from './fields';

/**
 * `due`: the charge failed, and the plan goes on for its days of grace. `overdue`: these are over. `failed`: the plan ended without it.
 * `unknown`: the payment provider says that nothing is owed, and never said that this was paid.
 */
const paymentState = z.enum(['paid', 'due', 'overdue', 'failed', 'unknown']);
export type PaymentState = z.input<typeof paymentState>;

/** One invoice of a payment provider. */
const payment = z.object({
  provider: z.enum(PROVIDERS),
  /** The provider's id of it. */
  reference: z.string(),
  product: productId,
  amount: billingAmount,
  currency,
  state: paymentState,
  /** When it was first tried. */
  chargedAt: moment,
  paidAt: moment.nullable(),
  /** What went back of it so far. */
  refunded: billingAmount,
  /** When the last of that went back; null while nothing did. */
  refundedAt: moment.nullable(),
  /** The provider's own page of it. */
  url: z.string().nullable(),
});
export type PaymentView = z.input<typeof payment>;

const sellersPayment = payment.extend({
  customerId: id,
  customer: z.string(),
  /** Whether it is owed, and the provider lets the seller charge it once more. */
  canRetry: z.boolean(),
});
export type SellersPaymentView = z.input<typeof sellersPayment>;

const filter = {
  month: billingMonth.optional(),
  currency: currency.optional(),
  state: paymentState.optional(),
  /** Id of a customer. */
  customer: id.optional(),
};

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
    summary: 'List what customers were charged by the payment provider',
    query: z.object({ ...page, ...filter }),
    answer: z.object({ payments: z.array(sellersPayment), next: cursor.nullable() }),
  },
  'GET /operator/payments.csv': { for: 'operators', summary: 'The same as CSV', query: z.object(filter), file: CSV },
  'POST /operator/payments/retry': {
    for: 'operators',
    summary: 'Charge a payment that failed once more',
    body: z.object({ provider: z.enum(PROVIDERS), reference: z.string().min(1).max(200) }),
    refuses: ['payment_unknown', 'payment_off', 'payment_away', 'payment_failed', 'change_refused'],
  },
} as const satisfies Endpoints;
