import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { SCOPES } from '../../../services/dashboard/contract/fields';
import { MANAGEMENT_PREFIX } from '../../../services/dashboard/customer/management/management-routes';
import { type PaymentPort } from '../../../services/selling/billing/payment-port';
import { type NamedEndpoint } from '../../../services/dashboard/contract/endpoints';
import { keyVersion } from '../../../services/selling/keys/change-key';
import { createKey } from '../../../services/selling/keys/create-key';
import { viewKey } from '../../../services/selling/keys/key-view';
import { subscriptionVersion } from '../../../services/selling/subscriptions/change-subscription';
import { viewSubscriptions } from '../../../services/selling/subscriptions/subscription-view';
import { createToken } from '../../../services/selling/tokens/management-tokens';
import { createWebhook, webhookVersion } from '../../../services/selling/webhooks/change-webhooks';
import { requestTestDelivery } from '../../../services/selling/webhooks/delivery-view';
import { type Ask, type TestDashboard } from './dashboard';

/** What one customer has, for endpoints to be asked about. */
export interface Belongings {
  readonly cookie: string;
  readonly key: { readonly id: string; readonly version: string };
  readonly secret: string;
  readonly subscription: { readonly id: string; readonly version: string };
  readonly webhook: { readonly id: string; readonly version: string };
  readonly deliveryId: string;
  /** Of the management API, with every scope. */
  readonly token: { readonly id: string; readonly secret: string };
  /** Of a plan that was asked for. */
  readonly planRequestId: string;
  /** Of somebody who is a developer in the organisation. */
  readonly memberId: string;
  /** Of an address that is invited. */
  readonly invitationId: string;
  /** Of a request with the key that was refused. */
  readonly requestId: string;
  /** Of an invoice. */
  readonly invoiceId: string;
  /** Of a payment that was begun, and of a plan that is paid. */
  readonly checkoutId: string;
  readonly paidPlanId: string;
  /** Of another plan in its place, as it was shown. */
  readonly previewId: string;
}

export interface Sample {
  /** By name in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

/**
 * By method and path, for each endpoint with a name in its path, and others of which too little is valid by chance: a request that its owner would succeed with, so that only whose it is
 * decides. Endpoints without an entry fail the tests that walk the list.
 */
export const samples: Readonly<Record<string, (own: Belongings) => Sample>> = {
  'GET /keys/:id': ({ key }) => ({ params: { id: key.id } }),
  'POST /keys/revoke': ({ key }) => ({ body: { ids: [key.id] } }),
  'PATCH /keys/:id': ({ key }) => ({ params: { id: key.id }, body: { version: key.version, name: 'taken over' } }),
  'PUT /keys/:id/rules': ({ key }) => ({ params: { id: key.id }, body: { version: key.version, rules: ['192.0.2.1'] } }),
  'POST /keys/:id/activate': ({ key }) => ({ params: { id: key.id }, body: { version: key.version } }),
  'POST /keys/:id/deactivate': ({ key }) => ({ params: { id: key.id }, body: { version: key.version } }),
  'POST /keys/:id/revoke': ({ key }) => ({ params: { id: key.id }, body: { version: key.version } }),
  'POST /keys/:id/rotate': ({ key }) => ({
    params: { id: key.id },
    body: { version: key.version, submission: randomUUID(), overlapHours: 1 },
  }),
  'POST /keys/:id/simulate': ({ key }) => ({ params: { id: key.id }, body: { address: '192.0.2.1' } }),
  'GET /keys/:id/propagation': ({ key }) => ({ params: { id: key.id } }),
  'GET /keys/:id/usage': ({ key }) => ({ params: { id: key.id }, query: 'from=2026-11-20&to=2026-11-26&by=hour' }),
  'GET /explain/:requestId': ({ requestId }) => ({ params: { requestId } }),
  'PATCH /webhooks/:id': ({ webhook }) => ({ params: { id: webhook.id }, body: { version: webhook.version, state: 'paused' } }),
  'DELETE /webhooks/:id': ({ webhook }) => ({ params: { id: webhook.id } }),
  'POST /webhooks/:id/secret': ({ webhook }) => ({ params: { id: webhook.id }, body: {} }),
  'POST /webhooks/:id/test': ({ webhook }) => ({ params: { id: webhook.id }, body: {} }),
  'GET /webhooks/:id/deliveries': ({ webhook }) => ({ params: { id: webhook.id } }),
  'POST /webhooks/:id/deliveries/:deliveryId/replay': ({ webhook, deliveryId }) => ({ params: { id: webhook.id, deliveryId }, body: {} }),
  'POST /tokens/:id/revoke': ({ token }) => ({ params: { id: token.id }, body: {} }),
  'PUT /team/name': () => ({ body: { name: `Name ${randomUUID().slice(0, 8)}` } }),
  'POST /team/invitations': () => ({ body: { email: `${randomUUID().slice(0, 8)}@example.com`, role: 'developer' } }),
  'POST /team/invitations/:id/resend': ({ invitationId }) => ({ params: { id: invitationId }, body: {} }),
  'POST /team/invitations/:id/revoke': ({ invitationId }) => ({ params: { id: invitationId }, body: {} }),
  'PUT /team/members/:userId/role': ({ memberId }) => ({ params: { userId: memberId }, body: { role: 'billing' } }),
  'DELETE /team/members/:userId': ({ memberId }) => ({ params: { userId: memberId } }),
  'POST /team/transfer': ({ memberId }) => ({ body: { userId: memberId } }),
  'PUT /subscriptions/:id/plan': ({ subscription }) => ({
    params: { id: subscription.id },
    body: { version: subscription.version, plan: 'Star' },
  }),
  'PUT /subscriptions/:id/cap': ({ subscription }) => ({
    params: { id: subscription.id },
    body: { version: subscription.version, dailyCap: 5 },
  }),
  'PUT /subscriptions/:id/thresholds': ({ subscription }) => ({ params: { id: subscription.id }, body: { percents: [90] } }),
  'POST /subscriptions/:id/pause': ({ subscription }) => ({ params: { id: subscription.id }, body: { version: subscription.version } }),
  'POST /subscriptions/:id/resume': ({ subscription }) => ({ params: { id: subscription.id }, body: { version: subscription.version } }),
  'POST /plan-requests/:id/withdraw': ({ planRequestId }) => ({ params: { id: planRequestId }, body: {} }),
  'GET /checkouts/:id': ({ checkoutId }) => ({ params: { id: checkoutId } }),
  'POST /paid-plans/:id/cancel': ({ paidPlanId }) => ({ params: { id: paidPlanId }, body: {} }),
  'POST /paid-plans/:id/keep': ({ paidPlanId }) => ({ params: { id: paidPlanId }, body: {} }),
  'POST /paid-plans/:id/preview': ({ paidPlanId }) => ({ params: { id: paidPlanId }, body: { plan: 'Star' } }),
  'PUT /paid-plans/:id/plan': ({ paidPlanId, previewId }) => ({ params: { id: paidPlanId }, body: { preview: previewId } }),
  'GET /invoices/:id': ({ invoiceId }) => ({ params: { id: invoiceId } }),
  'GET /invoices/:id/pdf': ({ invoiceId }) => ({ params: { id: invoiceId } }),
  'PUT /billing/details': () => ({ body: { name: `Name ${randomUUID().slice(0, 8)}`, address: ['Street 1'], country: 'US' } }),
  'GET /statement': () => ({ query: 'month=2026-01' }),
  'GET /statement.csv': () => ({ query: 'month=2026-01' }),
  'POST /try': ({ secret }) => ({ body: { key: secret, method: 'GET', path: '/ip', query: { ip: '192.0.2.1' } } }),
  'POST /subscriptions/:id/cancel': ({ subscription }) => ({ params: { id: subscription.id }, body: { version: subscription.version } }),
};

/** A printed invoice costs as much as twenty other requests: one walk over all endpoints asks for it. */
export const isPrinted = ({ path }: Pick<NamedEndpoint, 'path'>): boolean => path.endsWith('/pdf');

/** A path with its names filled in. */
export function fillPath(path: string, { params = {}, query }: Sample): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? 'missing');
  return `/api${filled}${query ? `?${query}` : ''}`;
}

interface Asking extends Pick<Ask, 'cookie' | 'headers'> {
  readonly sample?: Sample | undefined;
  /** Of the management API, in place of a cookie. */
  readonly token?: string | undefined;
}

/** Asks an endpoint with a sample. */
export function askEndpoint(
  dashboard: Pick<TestDashboard, 'ask'>,
  { method, path }: Pick<NamedEndpoint, 'method' | 'path'>,
  { sample = {}, token, ...by }: Asking,
): ReturnType<TestDashboard['ask']> {
  const filled = fillPath(path, sample);
  if (token === undefined) return dashboard.ask({ method, path: filled, body: sample.body, ...by });
  const headers = { ...by.headers, authorization: `Bearer ${token}` };
  return dashboard.ask({ method, path: filled.replace('/api', MANAGEMENT_PREFIX), body: sample.body, headers });
}

/** A token of the management API. @param scopes all of them unless given */
export async function makeToken(
  dashboard: Pick<TestDashboard, 'ask'>,
  cookie: string,
  scopes: readonly string[] = SCOPES,
): Promise<Belongings['token']> {
  const body = { submission: randomUUID(), name: 'deploy', scopes };
  const made = (await dashboard.ask({ method: 'POST', path: '/api/tokens', cookie, body })).json();
  return { id: made.token.id, secret: made.secret };
}

const PARTY = { name: 'Somebody', address: ['Street 1'], country: 'IN', taxId: null, email: null };
/** As services/selling/billing/invoice.ts composes it. */
export const INVOICE_CONTENT = {
  month: '2026-03',
  issuedOn: '2026-04-03',
  dueOn: '2026-04-17',
  currency: 'INR',
  decimals: 2,
  seller: PARTY,
  buyer: PARTY,
  lines: [
    {
      title: 'IP, plan Star',
      product: 'api-ip',
      plan: 'Star',
      days: 31,
      daysInMonth: 31,
      used: 5,
      price: 49_900,
      surcharge: 0,
      amount: 49_900,
    },
  ],
  net: 49_900,
  taxes: [{ name: 'IGST', percent: '18', amount: 8_982 }],
  total: 58_882,
  placeOfSupply: 'Maharashtra (27)',
  serviceCode: null,
  notes: [],
  payment: null,
  paidBy: null,
};

/**
 * What the owner of a key has beyond what the API makes: $1 the key, $2 the content of an invoice, $3 whether the owner is alone in the organisation.
 * A payment was begun; another one pays for a plan at Stripe, with a charge that is owed and one that was paid, and was shown another plan in its place.
 */
const RECORD = `
WITH own AS (SELECT id, customer_id FROM credential WHERE id = $1),
  refused AS (INSERT INTO decision (request_id, at, outcome, products, credential_id, customer_id)
    SELECT gen_random_uuid()::text, now(), 'caller_not_whitelisted', '{api-ip}', id, customer_id FROM own RETURNING request_id),
  asked AS (INSERT INTO plan_request (customer_id, product_id, plan_name, daily, monthly, price, currency)
    SELECT customer_id, 'api-seo', 'Star', 10, 100, 1, 'INR' FROM own RETURNING id),
  person AS (INSERT INTO auth_user (name, email, email_verified, created_at, updated_at)
    SELECT '', gen_random_uuid() || '@example.com', true, now(), now() WHERE NOT $3 RETURNING id),
  joined AS (INSERT INTO member (customer_id, user_id, role) SELECT customer_id, person.id, 'developer' FROM own, person RETURNING user_id),
  invited AS (INSERT INTO invitation (customer_id, email, role, token_hash, expires_at)
    SELECT customer_id, id || '@example.com', 'reader', sha256(id::text::bytea), now() + interval '7 days' FROM own WHERE NOT $3 RETURNING id),
  billed AS (INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, content)
    SELECT 'INV', 'invoice', customer_id, '2026-03-01', 'INR', 58882, '2026-04-17', $2 FROM own RETURNING id),
  begun AS (INSERT INTO checkout (customer_id, product_id, plan_name, price, currency, provider, session, look_at)
    SELECT customer_id, 'api-pincode', 'Star', 49900, 'INR', 'stripe', 'cs_' || id, NULL FROM own RETURNING id),
  paid AS (INSERT INTO paid_subscription (provider, reference, customer_id, product_id, status, plan_name, price, currency, period_end, look_at, failing_since)
    SELECT 'stripe', 'sub_' || id, customer_id, 'api-gst', 'active', 'Sun', 49900, 'INR', now() + interval '9 days', NULL, now() FROM own RETURNING *),
  charged AS (INSERT INTO payment_charge (provider, invoice, paid_subscription_id, currency, amount, charged_at, paid_at)
    SELECT 'stripe', 'in_' || $1 || suffix, paid.id, 'INR', 49900, now(), at FROM paid, (VALUES ('', NULL), ('_paid', now())) AS given (suffix, at)),
  shown AS (INSERT INTO plan_preview (paid_subscription_id, plan_name, price, terms, held, change)
    SELECT p.id, l.name, 49900, jsonb_build_object('daily', l.daily, 'monthly', l.monthly, 'overage', NULL), jsonb_build_object(
      'status', status, 'plan', plan_name, 'price', p.price, 'currency', p.currency, 'cancelsAt', NULL, 'next', NULL, 'discount', NULL, 'isPaused', false,
      'periodEnd', extract(epoch FROM period_end)::float8
    ), jsonb_build_object('kind', 'next_period', 'at', extract(epoch FROM period_end)::float8)
    FROM paid p JOIN plan l ON l.product_id = p.product_id AND l.name = 'Star' RETURNING id)
SELECT refused.request_id AS "requestId", asked.id AS "planRequestId", billed.id AS "invoiceId", begun.id AS "checkoutId", paid.id AS "paidPlanId",
  shown.id AS "previewId", coalesce((SELECT user_id::text FROM joined), '') AS "memberId", coalesce((SELECT id::text FROM invited), '') AS "invitationId"
FROM refused, asked, billed, begun, paid, shown`;

type Recorded = Omit<Belongings, 'cookie' | 'key' | 'secret' | 'subscription' | 'webhook' | 'deliveryId' | 'token'>;

async function recordMore(pool: Pool, keyId: string, isAlone: boolean): Promise<Recorded> {
  const [recorded] = (await pool.query<Recorded>(RECORD, [keyId, JSON.stringify(INVOICE_CONTENT), isAlone])).rows;
  if (!recorded) throw new Error('the key is not there');
  return recorded;
}

/** A provider that does what it is asked, and says nothing of it. */
export const stillPayments = () => ({
  // What it is not asked here it has not.
  ports: {
    stripe: {
      name: 'stripe',
      changeSubscription: () => Promise.resolve([]),
      chargeAgain: () => Promise.resolve([]),
      refund: () => Promise.resolve([]),
      chargesAtOnce: true,
      takesDiscounts: true,
      listFacts: () => [],
      previewChange: () => Promise.resolve({ amount: 100, currency: 'INR' }),
    } as unknown as PaymentPort,
  },
  poke: () => undefined,
});

/**
 * Signs somebody up who has a key, a subscription to api-ip, a plan asked for, a refused request, a member, an invitation, a token, and a webhook with
 * a delivery. Operations make what the pages make by them, and one statement adds the rest.
 */
export async function makeBelongings(
  dashboard: TestDashboard,
  email = `${randomUUID().slice(0, 8)}@example.com`,
  company?: 'alone',
): Promise<Belongings> {
  const { pool } = dashboard;
  const cookie = await dashboard.signIn(email);
  const { customerId } = (await dashboard.ask({ path: '/api/session', cookie })).json();
  const actor = { name: `dashboard:${email}`, from: '127.0.0.1' };
  const made = await createKey(pool, { customer: customerId, mode: 'test', products: ['api-ip'], name: 'own', actor });
  const key = await viewKey(pool, { id: made.id, customerId });
  const [subscription] = await viewSubscriptions(pool, customerId);
  if (!subscription) throw new Error('a key subscribes');
  const { webhook } = await createWebhook(pool, { customerId, url: 'https://hooks.example/', actor });
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM auth_user WHERE email = lower($1)', [email]);
  const wish = { customerId, name: 'deploy', scopes: SCOPES, days: 90, byUserId: rows[0]?.id ?? '', actor };
  return {
    cookie,
    key: { id: key.id, version: keyVersion(key) },
    secret: made.key,
    subscription: { id: subscription.id, version: subscriptionVersion(subscription) },
    webhook: { id: webhook.id, version: webhookVersion(webhook) },
    deliveryId: (await requestTestDelivery(pool, { id: webhook.id, customerId })).id,
    token: await inTransaction(pool, (client) => createToken(client, wish)),
    ...(await recordMore(pool, key.id, company === 'alone')),
  };
}

/** Tables of what customers own. */
const OWNED = [
  'customer',
  'credential',
  'credential_product',
  'credential_tag',
  'whitelist_rule',
  'subscription',
  'submission',
  'audit_log',
  'webhook',
  'webhook_delivery',
  'alert',
  'admin_token',
  'member',
  'invitation',
  'plan_request',
  'alert_preference',
  'alert_threshold',
  'billing_details',
  'invoice',
  'invoice_payment',
  'checkout',
  'paid_subscription',
  'payment_fact',
  'payment_account',
];
/** Rows by table, and a sum that changes with any of them: hundreds of tests compare it, and need not see the rows. */
const DIGEST = OWNED.map(
  (table) => `SELECT '${table}' AS name, count(*)::integer AS rows, sum(hashtextextended(t::text, 0))::text AS digest FROM ${table} t`,
).join(' UNION ALL ');

/** A digest of everything that customers own: it changes with any change. */
export async function digestEverything(pool: Pool): Promise<unknown[]> {
  return (await pool.query(DIGEST)).rows;
}

/** Fails where this changes anything that customers own. */
export async function keepsEverything(pool: Pool, work: () => Promise<void>): Promise<void> {
  const before = await digestEverything(pool);
  await work();
  expect(await digestEverything(pool)).toEqual(before);
}
