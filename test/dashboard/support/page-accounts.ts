import { type Pool } from 'pg';
import { systemClock } from '../../../plugins/core/ports';
import { startConsoleJobs } from '../../../services/dashboard/seller/console/start-console-jobs';
import { createLog } from '../../../services/kit/log';
import { cookieOf } from './dashboard';
import { makeOperator } from './operator';
import { type PageDashboard } from './page-dashboard';
import { INVOICE_CONTENT } from './endpoint-samples';
import { manyKeys, type SeedKey, seedKeys, USUAL_KEYS } from './seed-keys';
import { seedUse } from './seed-use';
import { randomUUID } from 'node:crypto';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { writeDecisions } from '../../../plugins/stores/postgres/decisions/write-decisions';
import { someDecision } from '../../support/some-decision';

const MINUTE_MS = 60_000;

const OUTCOMES = [
  ['caller_not_whitelisted', 'api-ip'],
  ['admitted', 'api-gst'],
  ['quota_daily_exceeded', 'api-gst'],
  ['admitted', 'api-ip'],
  ['key_expired', 'api-ip'],
  ['admitted', 'api-ip'],
  ['product_not_authorised', 'api-background-remover'],
] as const;

/** What the gateway told of the answers: of most, and of one product none. */
const TELL = `
UPDATE decision SET method = CASE WHEN place % 4 = 0 THEN 'POST' ELSE 'GET' END,
  path = CASE WHEN place % 5 = 0 THEN '/v1/' || repeat('a-long-segment/', 8) || 'end' ELSE '/v1/lookup/' || place END,
  status = CASE WHEN outcome <> 'admitted' THEN 401 WHEN decision.request_id = ANY ($2) THEN 502 ELSE 200 END,
  milliseconds = place * place * 9
FROM unnest($1::text[]) WITH ORDINALITY AS each (request_id, place)
WHERE decision.request_id = each.request_id AND NOT (outcome = 'admitted' AND product = 'api-gst')`;

/** What a busy hour leaves: requests let in, of which some were given back, and refused. @returns the id of the newest, a refused one */
async function seedRequests(pool: Pool, customerId: string, keyIds: readonly string[]): Promise<string> {
  const { rows } = await pool.query<{ id: string; product: string }>(
    'SELECT id, product_id AS product FROM subscription WHERE customer_id = $1',
    [customerId],
  );
  const decisions = Array.from({ length: 28 }, (_, index) => {
    const [outcome, product] = OUTCOMES[index % OUTCOMES.length] ?? OUTCOMES[0];
    return someDecision({
      requestId: randomUUID().replaceAll('-', ''),
      atMs: Date.now() - (index * index + 1) * MINUTE_MS,
      outcome,
      product,
      products: [product],
      keyPlace: 'x-api-key',
      maskedKey: 'tg_live…1a2B',
      credentialId: keyIds[outcome === 'admitted' ? index % 3 : 0],
      customerId,
      subscriptionId: rows.find((each) => each.product === product)?.id,
      callerAddress: index % 2 ? '2001:db8:4006:812::200e' : '198.51.100.23',
      originHost: index % 3 ? undefined : 'staging.example.org',
    });
  });
  await writeDecisions(pool, decisions);
  const admitted = decisions.filter(({ outcome }) => outcome === 'admitted');
  const givenBack = admitted.filter((_, index) => index % 4 === 3).map(({ requestId }) => requestId);
  await pool.query('INSERT INTO quota_refund (request_id, day) SELECT unnest($1::text[]), now()', [givenBack]);
  await pool.query(TELL, [decisions.map(({ requestId }) => requestId), givenBack]);
  return decisions[0]?.requestId ?? '';
}

const ACTIVITY = {
  alerts: `
INSERT INTO alert (customer_id, kind, subscription_id, credential_id, period, percent, used, quota_limit, at, read_at)
SELECT $1, kind, s.id, k.id, coalesce(date_trunc('day', k.expires_at), date_trunc('day', now())), percent, used, quota_limit, now() - hours * interval '1 hour',
  CASE WHEN is_read THEN now() END
FROM (VALUES
  ('quota_monthly', 'api-ip', NULL, 50, 1500000, 3000000, 96, true),
  ('key_expiry', NULL, '9zZ0', NULL, NULL, NULL, 24, false),
  ('quota_daily', 'api-gst', NULL, 80, 80000, 100000, 3, false),
  ('quota_daily', 'api-pincode', NULL, 100, 1000, 1000, 1, false)
) AS given (kind, product, last_four, percent, used, quota_limit, hours, is_read)
LEFT JOIN subscription s ON s.customer_id = $1 AND s.product_id = product
LEFT JOIN credential k ON k.customer_id = $1 AND k.last_four = given.last_four`,
  thresholds:
    "INSERT INTO alert_threshold (subscription_id, percents) SELECT id, '{75,90,100}' FROM subscription WHERE customer_id = $1 AND product_id = 'api-ip'",
  webhooks: `
INSERT INTO webhook (customer_id, url, secret, state, created_at)
SELECT $1, url, 'whsec_' || repeat('a', 44), state, now() - age
FROM (VALUES ('https://hooks.example.com/tollgate', 'active', interval '20 days'),
  ('https://alerts.example.net/' || repeat('a-long-path/', 9) || 'in', 'paused', interval '19 days')) AS given (url, state, age)`,
  deliveries: `
INSERT INTO webhook_delivery (webhook_id, alert_id, event_id, event, event_at, state, attempts, last_status, last_error, ended_at)
SELECT w.id, CASE WHEN event <> 'test' THEN (SELECT id FROM alert WHERE customer_id = $1 LIMIT 1) END, gen_random_uuid(), event, now(),
  given.state, attempts, last_status, last_error, now() + ended_in
FROM webhook w, (VALUES
  ('key.expiry', 'failed', 8, NULL, 'the connection was refused', interval '-2 hours'),
  ('quota.daily', 'waiting', 2, 503, NULL, NULL),
  ('test', 'delivered', 1, 200, NULL, interval '-1 hour')
) AS given (event, state, attempts, last_status, last_error, ended_in)
WHERE w.customer_id = $1 AND w.state = 'active'`,
  nextAttempt: "UPDATE outbox SET due_at = now() + interval '4 minutes' WHERE kind = 'webhook' AND $1::uuid IS NOT NULL",
  failure: `
INSERT INTO webhook_delivery (webhook_id, event_id, event, event_at, state, attempts, last_error, ended_at)
SELECT id, gen_random_uuid(), 'test', now(), 'failed', 8, 'the connection was refused', now() FROM webhook
WHERE customer_id = $1 AND state = 'paused'`,
  planRequests: `
INSERT INTO plan_request (customer_id, product_id, plan_name, daily, monthly, price, currency, state, reason, asked_at, answered_at)
VALUES ($1, 'api-seo', 'Star', 10000, 300000, 999, 'INR', 'open', '', now() - interval '5 hours', NULL),
  ($1, 'api-aadhaar', 'Star', 4000, 120000, 999, 'INR', 'declined', 'Please send us your company’s registration first.',
    now() - interval '2 days', now() - interval '1 day')`,
  audit: `
INSERT INTO audit_log (at, actor, action, subject_kind, subject_id, details, from_address, customer_id)
SELECT now() - hours * interval '1 hour', (SELECT 'dashboard:' || email FROM customer WHERE id = $1), action, kind,
  CASE kind WHEN 'customer' THEN $1::uuid WHEN 'credential' THEN k.id ELSE s.id END, details::jsonb, from_address, $1
FROM (VALUES
  ('key.create', 'credential', '{"mode": "live", "products": ["api-ip", "api-pincode"], "expires_at": null}', 48, NULL),
  ('subscription.change', 'subscription', '{"before": {"plan": null}, "after": {"plan": "Star"}}', 24, '198.51.100.23'),
  ('key.revoke', 'credential', '{}', 5, '2001:db8:4006:812::200e'),
  ('account.sign_in', 'customer', '{}', 2, '198.51.100.23'),
  ('key.rules', 'credential', '{"added": ["203.0.113.0/24", "*.example.com"], "removed": []}', 1, '198.51.100.23')
) AS given (action, kind, details, hours, from_address)
JOIN credential k ON k.customer_id = $1 AND k.last_four = '1a2B'
JOIN subscription s ON s.customer_id = $1 AND s.product_id = 'api-ip'`,
};

/**
 * Alerts, webhooks with deliveries, plans that were asked for, and lines of the audit log; keys and subscriptions are there already.
 * @returns the id of the webhook that is in use
 */
async function seedActivity(pool: Pool, customerId: string): Promise<string> {
  await inTransaction(pool, async (client) => {
    for (const statement of Object.values(ACTIVITY)) await client.query(statement, [customerId]);
  });
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM webhook WHERE customer_id = $1 AND state = 'active'", [customerId]);
  return rows[0]?.id ?? '';
}

/** $1 customer, $2 account of its owner, $3 what makes addresses of this account different from those of others. */
const SEED = {
  people: `
INSERT INTO auth_user (name, email, email_verified, created_at, updated_at)
SELECT '', email, true, now(), now() FROM (VALUES ('dev-' || $3 || '@example.com'), ('finance.department.department.department.' || $3 || '@example.com')) AS given (email)
WHERE $1::uuid IS NOT NULL AND $2::uuid IS NOT NULL`,
  members: `
INSERT INTO member (customer_id, user_id, role, since)
SELECT $1, id, CASE WHEN email LIKE 'dev-%' THEN 'developer' ELSE 'billing' END, now() - interval '40 days' FROM auth_user
WHERE email LIKE '%' || $3 || '@example.com' AND id <> $2`,
  invitations: `
INSERT INTO invitation (customer_id, email, role, token_hash, invited_by, sent_at, expires_at)
SELECT $1, email, role, sha256(random()::text::bytea), CASE WHEN email LIKE 'new%' THEN $2::uuid END, sent, sent + interval '7 days'
FROM (VALUES ('newcomer@example.com', 'admin', now() - interval '1 day'), ('forgot@example.com', 'reader', now() - interval '9 days'))
  AS given (email, role, sent)
WHERE $3::text IS NOT NULL`,
  tokens: `
INSERT INTO admin_token (customer_id, hash, last_four, name, scopes, created_at, expires_at, last_used_at, revoked_at, made_by)
SELECT $1, sha256(random()::text::bytea), last_four, name, scopes::text[], now() - age, now() + lasts, now() - used,
  CASE WHEN name = 'Old laptop' THEN now() END, $2::uuid
FROM (VALUES
  ('k3Xe', 'Deploy script', '{keys:read,keys:write,rules:write}', interval '1 day', interval '70 days', interval '2 minutes'),
  ('0Zpq', trim(repeat('Billing export ', 6)), '{usage:read}', interval '2 days', interval '90 days', interval '1 day'),
  ('zz01', 'Old laptop', '{keys:read}', interval '60 days', interval '30 days', NULL),
  ('zz02', 'Trial', '{keys:read}', interval '9 days', interval '-2 days', NULL)
) AS given (last_four, name, scopes, age, lasts, used)
WHERE $3::text IS NOT NULL`,
  passkeys: `
INSERT INTO auth_passkey (name, public_key, user_id, credential_id, counter, device_type, backed_up, created_at, last_used_at)
SELECT name, 'public', $2::uuid, name || $3, 0, 'singleDevice', false, now() - interval '20 days', now() - used
FROM (VALUES ('Laptop', interval '2 hours'), ('Security key in the safe', NULL)) AS given (name, used) WHERE $1::uuid IS NOT NULL`,
  provider: `
INSERT INTO auth_account (account_id, provider_id, user_id, created_at, updated_at)
SELECT $3, 'google', $2, now(), now() WHERE $1::uuid IS NOT NULL`,
  session: `
INSERT INTO auth_session (expires_at, token, created_at, updated_at, ip_address, user_agent, user_id)
SELECT now() + interval '1 day', 'another-' || $3, now() - interval '1 day', now() - interval '1 day', '2001:db8::7',
  'Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36', $2 WHERE $1::uuid IS NOT NULL`,
};

/** A team with open invitations, tokens of programs, and every way to sign in. @param mark stands in every address, once in all accounts */
async function seedTeam(pool: Pool, own: { customerId: string; userId: string; mark: string }): Promise<void> {
  for (const statement of Object.values(SEED)) await pool.query(statement, [own.customerId, own.userId, own.mark]);
}

const INVITE = `
INSERT INTO invitation (customer_id, email, role, token_hash, invited_by, expires_at)
SELECT $1, $2, 'developer', sha256($3::text::bytea), (SELECT user_id FROM member WHERE customer_id = $1 AND role = 'owner' LIMIT 1),
  now() + interval '6 days'`;

/** @param customerId who invites. @param token opens the page of the invitation */
async function seedInvitation(pool: Pool, customerId: string, { email, token }: { email: string; token: string }): Promise<void> {
  await pool.query(INVITE, [customerId, email, token]);
}

/** Makes somebody a member of another organisation as well. */
async function seedMember(pool: Pool, customerId: string, { userId, role }: { userId: string; role: string }): Promise<void> {
  await pool.query('INSERT INTO member (customer_id, user_id, role) VALUES ($1, $2, $3)', [customerId, userId, role]);
}

/** Somebody who is signed in, and what the own organisation has. */
export interface Account {
  readonly email: string;
  readonly userId: string;
  readonly customerId: string;
  readonly cookie: string;
  /** Ids, in the order of the page. */
  readonly keys: readonly string[];
  /** Id of a request that was refused. */
  readonly refused: string;
  /** Id of one in use. */
  readonly webhook: string;
  /** Id of one that is due. */
  readonly invoice: string;
  /** Of an invitation into another organisation. */
  readonly invitation: string;
}

/**
 * `new`: on the first day. `usual`: with something on every page. `full`: with 10,000 keys, long names and more products. `reader`: of a usual
 * one, whose pages may only be read. `outsider`: in no organisation. `operator`: of the seller, with the ids of a full customer.
 */
export type AccountKind = 'new' | 'usual' | 'full' | 'reader' | 'outsider' | 'operator';

/** Who has no account. */
export const NOBODY: Account = {
  email: '',
  userId: '',
  customerId: '',
  cookie: '',
  keys: [],
  refused: '',
  webhook: '',
  invoice: '',
  invitation: 'nobody',
};

let accounts = 0;

async function signUp(dashboard: PageDashboard): Promise<Account> {
  const mark = String((accounts += 1));
  const email = `asha-${mark}@example.com`;
  const cookie = await dashboard.signIn(email);
  const { rows } = await dashboard.pool.query<{ userId: string; customerId: string }>(
    'SELECT u.id AS "userId", m.customer_id AS "customerId" FROM auth_user u JOIN member m ON m.user_id = u.id WHERE u.email = $1',
    [email],
  );
  const { userId = '', customerId = '' } = rows[0] ?? {};
  return { ...NOBODY, email, userId, customerId, cookie, invitation: `of-${mark}` };
}

/** An invoice that is due, and one that was credited. @returns the id of the first */
async function seedInvoice(pool: Pool, customerId: string): Promise<string> {
  const insert = async (month: string): Promise<string> => {
    const { rows } = await pool.query<{ id: string }>(
      `INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, content)
       VALUES ('INV', 'invoice', $1, $2, 'INR', 58882, now() + interval '10 days', $3) RETURNING id`,
      [customerId, `${month}-01`, JSON.stringify({ ...INVOICE_CONTENT, month })],
    );
    return rows[0]?.id ?? '';
  };
  const before = await insert('2026-02');
  await pool.query(
    `INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, corrects, reason, content)
     SELECT 'CN', 'credit_note', customer_id, month, currency, total, due_on, id, 'The plan was wrong.', content FROM invoice WHERE id = $1`,
    [before],
  );
  return insert('2026-03');
}

const OTHER = 'platform.engineering@a-rather-long-company-name.example';
const INVITING = 'birk@example.com';

/** The organisation of somebody beside the own account, the same for all accounts. @returns its id */
async function organisationOf(dashboard: PageDashboard, email: string): Promise<string> {
  const find = async (): Promise<string | undefined> =>
    (await dashboard.pool.query<{ id: string }>('SELECT id FROM customer WHERE email = $1', [email])).rows[0]?.id;
  const known = await find();
  if (known !== undefined) return known;
  await dashboard.signIn(email);
  return (await find()) ?? '';
}

async function seedUsual(dashboard: PageDashboard, account: Account, wanted = USUAL_KEYS): Promise<Account> {
  const { pool } = dashboard;
  const { customerId, userId, email, invitation } = account;
  const keys = await seedKeys(pool, customerId, wanted);
  await seedUse(pool, customerId, keys[0] ?? '');
  const webhook = await seedActivity(pool, customerId);
  const invoice = await seedInvoice(pool, customerId);
  await seedTeam(pool, { customerId, userId, mark: invitation });
  await seedMember(pool, await organisationOf(dashboard, OTHER), { userId, role: 'developer' });
  await seedInvitation(pool, await organisationOf(dashboard, INVITING), { email, token: invitation });
  return { ...account, keys, webhook, invoice, refused: await seedRequests(pool, customerId, keys) };
}

/** Opens the page of an invitation to an address that no account has. */
export const FOREIGN_INVITATION = 'of-somebody-else';

export async function inviteSomebodyElse(dashboard: PageDashboard): Promise<void> {
  const invitation = { email: 'somebody.else@example.com', token: FOREIGN_INVITATION };
  await seedInvitation(dashboard.pool, await organisationOf(dashboard, INVITING), invitation);
}

async function leaveOwn(dashboard: PageDashboard, { userId, customerId, email, invitation }: Account): Promise<void> {
  const heir = await signUp(dashboard);
  await seedMember(dashboard.pool, customerId, { userId: heir.userId, role: 'owner' });
  await dashboard.pool.query('DELETE FROM member WHERE user_id = $1', [userId]);
  await seedInvitation(dashboard.pool, heir.customerId, { email, token: invitation });
}

const MANY_KEYS = 10_000;
const LONG_NAME = 'Gesellschaft für Datenverarbeitung und Netzwerksicherheit Süddeutschland mit beschränkter Haftung';
const MORE_PRODUCTS = `
INSERT INTO subscription (customer_id, product_id, plan_name, state)
SELECT $1, product, 'Star', 'active' FROM unnest('{api-app,api-gdplay,api-grank,api-background-remover}'::text[]) AS product`;

async function seedFull(dashboard: PageDashboard, account: Account): Promise<Account> {
  const { pool } = dashboard;
  await pool.query('UPDATE customer SET display_name = $2 WHERE id = $1', [account.customerId, LONG_NAME]);
  const full = await seedUsual(dashboard, account, [...USUAL_KEYS, ...manyKeys(MANY_KEYS)]);
  await pool.query(MORE_PRODUCTS, [account.customerId]);
  return full;
}

/** Signed in with both factors, when the console has added up what there is. */
async function operatorOf(dashboard: PageDashboard, customer: Account): Promise<Account> {
  await seedUsual(dashboard, await signUp(dashboard));
  const email = `operations.${customer.invitation}@tollgate.example`;
  const { cookie } = await makeOperator(dashboard, email);
  const log = createLog('dashboard', { level: 'error' });
  await startConsoleJobs({ db: dashboard.db, log, clock: systemClock, timeZone: 'Asia/Kolkata' }).close();
  return { ...customer, email, cookie };
}

async function readerOf(dashboard: PageDashboard, usual: Account): Promise<Account> {
  const { email, userId, cookie } = await signUp(dashboard);
  await seedMember(dashboard.pool, usual.customerId, { userId, role: 'reader' });
  const body = { customerId: usual.customerId };
  const chosen = await dashboard.ask({ method: 'POST', path: '/api/organisation', cookie, body });
  return { ...usual, email, userId, cookie: `${cookie}; ${cookieOf(chosen)}` };
}

/** Somebody of that kind, with an address of their own. @param keys in place of the usual ones, on a new account */
export async function addAccount(dashboard: PageDashboard, kind: AccountKind, keys?: readonly SeedKey[]): Promise<Account> {
  const account = await signUp(dashboard);
  if (keys) return { ...account, keys: await seedKeys(dashboard.pool, account.customerId, keys) };
  if (kind === 'full') return seedFull(dashboard, account);
  if (kind === 'operator') return operatorOf(dashboard, await seedFull(dashboard, account));
  if (kind === 'usual') return seedUsual(dashboard, account);
  if (kind === 'reader') return readerOf(dashboard, await seedUsual(dashboard, account));
  if (kind === 'outsider') await leaveOwn(dashboard, account);
  return account;
}

/** Ends every session of somebody, as another device does. */
export async function endSessions(pool: Pool, { userId }: Account): Promise<void> {
  await pool.query('DELETE FROM auth_session WHERE user_id = $1', [userId]);
}
