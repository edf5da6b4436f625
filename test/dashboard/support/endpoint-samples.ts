import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { SCOPES } from '../../../services/dashboard/contract/fields';
import { MANAGEMENT_PREFIX } from '../../../services/dashboard/customer/management/management-routes';
import { type PaymentPort } from '../../../services/selling/billing/payment-port';
import { type NamedEndpoint } from '../../../services/dashboard/contract/endpoints';
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

/** A refused request of the key, as the access layer records it. */
async function recordRefusal(pool: Pool, key: { readonly id: string }): Promise<string> {
  const requestId = randomUUID();
  await pool.query(
    `INSERT INTO decision (request_id, at, outcome, products, credential_id, customer_id)
     SELECT $1, now(), 'caller_not_whitelisted', '{api-ip}', id, customer_id FROM credential WHERE id = $2`,
    [requestId, key.id],
  );
  return requestId;
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

/** A request of the key's customer for a plan, as if that were given on request. */
async function recordPlanRequest(pool: Pool, key: { readonly id: string }): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO plan_request (customer_id, product_id, plan_name, daily, monthly, price, currency)
     SELECT customer_id, 'api-seo', 'Star', 10, 100, 1, 'INR' FROM credential WHERE id = $1 RETURNING id`,
    [key.id],
  );
  return rows[0]?.id ?? '';
}

/** Somebody with an account of their own, who is a developer in the organisation of the key. */
async function recordMember(pool: Pool, key: { readonly id: string }): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `WITH person AS (
       INSERT INTO auth_user (name, email, email_verified, created_at, updated_at) VALUES ('', $2::text, true, now(), now()) RETURNING id
     )
     INSERT INTO member (customer_id, user_id, role)
     SELECT customer_id, person.id, 'developer' FROM credential, person WHERE credential.id = $1 RETURNING user_id AS id`,
    [key.id, `${randomUUID().slice(0, 8)}@example.com`],
  );
  return rows[0]?.id ?? '';
}

/** An open invitation of the key's organisation. */
async function recordInvitation(pool: Pool, key: { readonly id: string }): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO invitation (customer_id, email, role, token_hash, expires_at)
     SELECT customer_id, $2::text, 'reader', sha256(convert_to($2::text, 'UTF8')), now() + interval '7 days' FROM credential WHERE id = $1 RETURNING id`,
    [key.id, `${randomUUID().slice(0, 8)}@example.com`],
  );
  return rows[0]?.id ?? '';
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

/** An invoice of the key's customer. */
async function recordInvoice(pool: Pool, key: { readonly id: string }): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, content)
     SELECT 'INV', 'invoice', customer_id, '2026-03-01', 'INR', 58882, '2026-04-17', $2 FROM credential WHERE id = $1 RETURNING id`,
    [key.id, JSON.stringify(INVOICE_CONTENT)],
  );
  return rows[0]?.id ?? '';
}

/** A payment that was begun, and one that pays for another product's plan at Stripe, with a charge that is owed and one that was paid. */
async function recordPayments(
  pool: Pool,
  key: { readonly id: string },
): Promise<Pick<Belongings, 'checkoutId' | 'paidPlanId' | 'previewId'>> {
  const charged = async (made: Promise<string>): Promise<string> => {
    const text = `
      INSERT INTO payment_charge (provider, invoice, paid_subscription_id, currency, amount, charged_at, paid_at)
      VALUES ('stripe', $1, $2, 'INR', 49900, now(), NULL), ('stripe', $1 || '_paid', $2, 'INR', 49900, now(), now())`;
    await pool.query(text, [`in_${key.id}`, await made]);
    return made;
  };
  const shown = `
    INSERT INTO plan_preview (paid_subscription_id, plan_name, price, terms, held, change)
    SELECT p.id, l.name, 49900, jsonb_build_object('daily', l.daily, 'monthly', l.monthly, 'overage', NULL), jsonb_build_object(
      'status', status, 'plan', plan_name, 'price', p.price, 'currency', p.currency, 'cancelsAt', NULL, 'next', NULL, 'discount', NULL, 'isPaused', false,
      'periodEnd', extract(epoch FROM period_end)::float8
    ), jsonb_build_object('kind', 'next_period', 'at', extract(epoch FROM period_end)::float8)
    FROM paid_subscription p JOIN plan l ON l.product_id = p.product_id AND l.name = 'Star'
    WHERE p.reference = (SELECT 'sub_' || id FROM credential WHERE id = $1) RETURNING id`;
  const one = async (text: string): Promise<string> => (await pool.query<{ id: string }>(text, [key.id])).rows[0]?.id ?? '';
  return {
    checkoutId: await one(
      `INSERT INTO checkout (customer_id, product_id, plan_name, price, currency, provider, session, look_at)
       SELECT customer_id, 'api-pincode', 'Star', 49900, 'INR', 'stripe', 'cs_' || id, NULL FROM credential WHERE id = $1 RETURNING id`,
    ),
    paidPlanId: await charged(
      one(
        `INSERT INTO paid_subscription (provider, reference, customer_id, product_id, status, plan_name, price, currency, period_end, look_at, failing_since)
         SELECT 'stripe', 'sub_' || id, customer_id, 'api-gst', 'active', 'Sun', 49900, 'INR', now() + interval '9 days', NULL, now()
         FROM credential WHERE id = $1 RETURNING id`,
      ),
    ),
    previewId: await one(shown),
  };
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

/** Signs somebody up who has a key, a subscription to api-ip, a plan asked for, a refused request, a member, an invitation, a token, and a webhook with a delivery. */
export async function makeBelongings(dashboard: TestDashboard, email?: string, company?: 'alone'): Promise<Belongings> {
  const cookie = await dashboard.signIn(email);
  const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], name: 'own' };
  const { key, secret } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body })).json();
  const { products } = (await dashboard.ask({ path: '/api/products', cookie })).json();
  const { subscription } = products.find(({ id }: { id: string }) => id === 'api-ip');
  const { webhook } = (
    await dashboard.ask({ method: 'POST', path: '/api/webhooks', cookie, body: { url: 'https://hooks.example/' } })
  ).json();
  const delivery = await dashboard.ask({ method: 'POST', path: `/api/webhooks/${webhook.id}/test`, cookie, body: {} });
  return {
    cookie,
    key,
    secret,
    subscription,
    webhook,
    deliveryId: delivery.json().id,
    token: await makeToken(dashboard, cookie),
    memberId: company === 'alone' ? '' : await recordMember(dashboard.pool, key),
    invitationId: company === 'alone' ? '' : await recordInvitation(dashboard.pool, key),
    planRequestId: await recordPlanRequest(dashboard.pool, key),
    requestId: await recordRefusal(dashboard.pool, key),
    invoiceId: await recordInvoice(dashboard.pool, key),
    ...(await recordPayments(dashboard.pool, key)),
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
