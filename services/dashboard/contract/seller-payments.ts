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
  customerId: id,
  customer: z.string(),
  product: productId,
  amount: billingAmount,
  currency,
  state: paymentState,
  /** When it was first tried. */
  chargedAt: moment,
  paidAt: moment.nullable(),
  /** What went back of it so far. */
  refunded: billingAmount,
  /** The provider's own page of it. */
  url: z.string().nullable(),
});
export type PaymentView = z.input<typeof payment>;

const filter = {
  month: billingMonth.optional(),
  currency: currency.optional(),
  state: paymentState.optional(),
  /** Id of a customer. */
  customer: id.optional(),
};

/** What customers were charged through a payment provider. */
export const sellerPaymentEndpoints = {
  'GET /operator/payments': {
    for: 'operators',
    summary: 'List what customers were charged by the payment provider',
    query: z.object({ after: cursor.optional(), limit: pageSize, ...filter }),
    answer: z.object({ payments: z.array(payment), next: cursor.nullable() }),
  },
  'GET /operator/payments.csv': { for: 'operators', summary: 'The same as CSV', query: z.object(filter), file: CSV },
} as const satisfies Endpoints;
