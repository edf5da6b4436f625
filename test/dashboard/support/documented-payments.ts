import { randomUUID } from 'node:crypto';
import { type CheckoutWish } from '../../../services/selling/billing/payment-port';

/** Whose payments are described. */
export const CUSTOMER = randomUUID();
export const USE = 'IP lookup: 617 above the limits in 2026-10';

/** What a subscription says of itself at a provider. */
const ours = { tollgate_customer: CUSTOMER, tollgate_product: 'api-ip', tollgate_plan: 'Star' };
const monthly = (amount: string) => ({ currency: 'inr', unit_amount: amount, recurring: { interval: 'month' } });

/** What each adapter must ask, by the provider's documentation: an idempotency key where it has one, and none elsewhere. */
export interface Documented {
  /** Of a first checkout, and of the same wish once more. */
  readonly opening: (wish: CheckoutWish) => unknown[];
  readonly again: (wish: CheckoutWish) => unknown[];
  readonly switching: (subscription: string, id: string) => unknown[];
  readonly cancelling: (subscription: string) => unknown[];
  /** First pages of the lists of charges and refunds. */
  readonly charges: (since: number) => unknown[];
  /** Undefined where the provider has no request for it. */
  readonly retrying?: (invoice: string, minute: number) => unknown[];
  /** Of use above limits with our id, and of the same that may be there already. */
  readonly charging: (subscription: string, id: string) => unknown[];
  readonly chargingAgain: unknown[];
  readonly trial: object;
  readonly isCancelFinal: boolean;
  readonly hasPortal: boolean;
}

const session = ({ id }: CheckoutWish) => ({
  request: 'POST /v1/checkout/sessions',
  key: expect.stringMatching(`^tollgate-checkout-${id}-[0-9a-f]{8}$`),
  fields: expect.objectContaining({
    mode: 'subscription',
    client_reference_id: id,
    success_url: 'https://api.example/billing/checkouts/1',
    line_items: { 0: { quantity: '1', price_data: { ...monthly('49900'), product_data: { name: 'IP lookup: Star' } } } },
    subscription_data: { metadata: ours },
  }),
});

export const stripe: Documented = {
  opening: (wish) => [
    {
      request: 'POST /v1/customers',
      key: expect.stringMatching(`^tollgate-customer-${CUSTOMER}-[0-9a-f]{8}$`),
      fields: { email: 'asha@example.com', metadata: { tollgate_customer: CUSTOMER } },
    },
    session(wish),
  ],
  again: (wish) => [expect.objectContaining({ request: 'POST /v1/customers' }), session(wish)],
  switching: (id, wish) => [
    { request: `GET /v1/subscriptions/${id}`, fields: {} },
    {
      request: `POST /v1/subscriptions/${id}`,
      key: `tollgate-switch-${wish}`,
      fields: {
        items: { 0: expect.objectContaining({ price_data: expect.objectContaining(monthly('99900')) }) },
        proration_behavior: 'always_invoice',
        // Of the period's begin, which nobody can choose.
        proration_date: expect.stringMatching(/^\d{10}$/),
        payment_behavior: 'error_if_incomplete',
        metadata: { tollgate_plan: 'Sun', tollgate_next_plan: '', tollgate_paid_price: '', tollgate_paid_until: '' },
      },
    },
    { request: `GET /v1/subscriptions/${id}`, fields: {} },
  ],
  cancelling: (id) => [
    expect.objectContaining({ request: `POST /v1/subscriptions/${id}`, fields: { cancel_at_period_end: 'true' } }),
    { request: `GET /v1/subscriptions/${id}`, fields: {} },
  ],
  charges: (since) => [
    { request: 'GET /v1/invoices', fields: { created: { gte: String(since) }, limit: '100' } },
    { request: 'GET /v1/refunds', fields: { created: { gte: String(since) }, expand: { 0: 'data.charge' }, limit: '100' } },
  ],
  retrying: (invoice, minute) => [
    { request: `GET /v1/invoices/${invoice}`, fields: {} },
    { request: `POST /v1/invoices/${invoice}/pay`, key: `tollgate-retry-${invoice}-${minute}`, fields: {} },
    { request: `GET /v1/invoices/${invoice}`, fields: {} },
  ],
  charging: (subscription, id) => [
    { request: `GET /v1/subscriptions/${subscription}`, fields: {} },
    {
      request: 'POST /v1/invoiceitems',
      key: `tollgate-use-${id}`,
      fields: {
        customer: expect.stringMatching(/^cus_/),
        subscription,
        amount: '1234',
        currency: 'inr',
        description: USE,
        discountable: 'false',
        metadata: { tollgate_use: id },
      },
    },
  ],
  chargingAgain: [{ request: 'GET /v1/invoiceitems', fields: { customer: expect.stringMatching(/^cus_/), limit: '100' } }],
  trial: { subscription_data: { metadata: ours, trial_period_days: '14' }, allow_promotion_codes: 'true' },
  isCancelFinal: false,
  hasPortal: true,
};

const plansPage = { request: 'GET /v1/plans', fields: { count: '100', skip: '0' } };
const lookForWish = {
  request: 'GET /v1/subscriptions',
  fields: { plan_id: expect.stringMatching(/^plan_/), from: expect.stringMatching(/^\d{10}$/), count: '100', skip: '0' },
};
const razorpayPlan = (plan: string, amount: number) => ({
  request: 'POST /v1/plans',
  fields: {
    period: 'monthly',
    interval: 1,
    item: { name: `IP lookup: ${plan}`, amount, currency: 'INR' },
    notes: { tollgate_product: 'api-ip', tollgate_plan: plan },
  },
});

export const razorpay: Documented = {
  opening: ({ id }) => [
    plansPage,
    razorpayPlan('Star', 49_900),
    lookForWish,
    {
      request: 'POST /v1/subscriptions',
      fields: {
        plan_id: expect.stringMatching(/^plan_/),
        total_count: 120,
        quantity: 1,
        customer_notify: 1,
        expire_by: expect.any(Number),
        notes: { ...ours, tollgate_checkout: id },
      },
    },
  ],
  again: () => [lookForWish],
  switching: (id) => [
    { request: `GET /v1/subscriptions/${id}`, fields: {} },
    plansPage,
    razorpayPlan('Sun', 99_900),
    {
      request: `PATCH /v1/subscriptions/${id}`,
      fields: { plan_id: expect.stringMatching(/^plan_/), quantity: 1, schedule_change_at: 'cycle_end', customer_notify: 1 },
    },
    { request: `GET /v1/subscriptions/${id}`, fields: {} },
    { request: `GET /v1/subscriptions/${id}/retrieve_scheduled_changes`, fields: {} },
  ],
  cancelling: (id) => [
    expect.objectContaining({ request: `GET /v1/subscriptions/${id}` }),
    expect.objectContaining({ request: `POST /v1/subscriptions/${id}/cancel`, fields: { cancel_at_cycle_end: 1 } }),
  ],
  charges: (since) =>
    ['GET /v1/invoices', 'GET /v1/refunds'].map((request) => ({
      request,
      fields: { from: String(since), count: '100', skip: '0' },
    })),
  charging: (subscription, id) => [
    {
      request: `POST /v1/subscriptions/${subscription}/addons`,
      fields: { item: { name: USE, amount: 1_234, currency: 'INR', description: `Reference ${id}` }, quantity: 1 },
    },
  ],
  chargingAgain: [{ request: 'GET /v1/addons', fields: { count: '100', skip: '0' } }],
  trial: { start_at: expect.any(Number) },
  isCancelFinal: true,
  hasPortal: false,
};
