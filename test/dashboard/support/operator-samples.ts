import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type BillingTerms, billingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { type Belongings, type Sample } from './endpoint-samples';

const BILLING: BillingTerms = billingTerms.parse({
  provider: 'none',
  seller: { name: 'Seller', address: ['Street 1'], country: 'IN' },
  invoices: { from: '2026-01' },
});

/** By method and path, for endpoints for operators that need more than nothing: a request that an operator would succeed with. */
export async function operatorSamples(pool: Pool, own: Belongings): Promise<Readonly<Record<string, Sample>>> {
  const { rows } = await pool.query<{ id: string }>('SELECT customer_id AS id FROM credential WHERE id = $1', [own.key.id]);
  // On the terms that the plan has.
  await pool.query(
    `UPDATE plan_request r SET daily = p.daily, monthly = p.monthly, price = p.price, currency = p.currency
     FROM plan p WHERE r.id = $1 AND p.product_id = r.product_id AND p.name = r.plan_name`,
    [own.planRequestId],
  );
  const { rows: tokens } = await pool.query<{ id: string }>(
    `INSERT INTO seller_token (hash, last_four, name, scopes, made_by, maker, created_at, expires_at)
     SELECT sha256(gen_random_uuid()::text::bytea), 'abcd', 'old', '{keys:read}', user_id, 'ops@tollgate.test', now() - interval '2 days', now() - interval '1 day'
     FROM operator LIMIT 1
     RETURNING id`,
  );
  // Credit notes need a series.
  await pool.query('UPDATE catalogue_revision SET billing = $1, revision = revision + 1', [JSON.stringify(BILLING)]);
  const customer = { params: { id: rows[0]?.id ?? '' } };
  const limits = { daily: 5, monthly: 50, reason: 'a trial', endsAt: null };
  return {
    'POST /operator/customers': { body: { email: `${randomUUID().slice(0, 8)}@example.com` } },
    'GET /operator/customers/:id': customer,
    'GET /operator/customers/:id/keys': customer,
    'POST /operator/customers/:id/notes': { ...customer, body: { text: 'called about the bill' } },
    'POST /operator/customers/:id/keys': { ...customer, body: { submission: randomUUID(), mode: 'test', products: ['api-ip'] } },
    'PUT /operator/customers/:id/plan': { ...customer, body: { product: 'api-pincode', plan: 'Star' } },
    'POST /operator/keys/import': {
      body: { keys: [{ customer: `${randomUUID().slice(0, 8)}@example.com`, key: randomUUID(), products: ['api-ip'] }] },
    },
    'POST /operator/suspensions': { body: { kind: 'customer', id: customer.params.id, reason: 'unpaid' } },
    'POST /operator/keys/:id/revoke': { params: { id: own.key.id }, body: {} },
    'PUT /operator/subscriptions/:id/limits': { params: { id: own.subscription.id }, body: limits },
    'POST /operator/plan-requests/:id/approve': { params: { id: own.planRequestId }, body: {} },
    'POST /operator/plan-requests/:id/decline': { params: { id: own.planRequestId }, body: { reason: 'not before May' } },
    'GET /operator/invoices/:id': { params: { id: own.invoiceId } },
    'GET /operator/invoices/:id/pdf': { params: { id: own.invoiceId } },
    'POST /operator/invoices/:id/paid': { params: { id: own.invoiceId }, body: { paidOn: '2026-04-10', reference: 'UTR 7' } },
    'POST /operator/invoices/:id/credit': { params: { id: own.invoiceId }, body: { reason: 'a wrong plan' } },
    'POST /operator/payments/retry': { body: { provider: 'stripe', reference: `in_${own.key.id}` } },
    'POST /operator/payments/refund': {
      body: { provider: 'stripe', reference: `in_${own.key.id}_paid`, amount: '499.00', refunded: '0.00', reason: 'a wrong plan' },
    },
    'GET /operator/customers/:id/paid-plans': customer,
    'POST /operator/customers/:id/paid-plans/:paid/end': {
      params: { ...customer.params, paid: own.paidPlanId },
      body: { when: 'with_period' },
    },
    'PUT /operator/customers/:id/paid-plans/:paid/discount': {
      params: { ...customer.params, paid: own.paidPlanId },
      body: { discount: { percent: 20 }, months: 3, reason: 'a good customer' },
    },
    'POST /operator/customers/:id/paid-plans/:paid/resume': { params: { ...customer.params, paid: own.paidPlanId } },
    'POST /operator/tokens': { body: { submission: randomUUID(), name: 'back end', scopes: ['keys:read'] } },
    'POST /operator/tokens/:id/revoke': { params: { id: tokens[0]?.id ?? '' }, body: {} },
    'GET /operator/requests/:requestId': { params: { requestId: own.requestId } },
  };
}
