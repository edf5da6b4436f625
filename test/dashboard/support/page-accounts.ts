import { type Pool } from 'pg';
import { systemClock } from '../../../plugins/core/ports';
import { startConsoleJobs } from '../../../services/dashboard/seller/console/start-console-jobs';
import { createLog } from '../../../services/kit/log';
import { cookieOf } from './dashboard';
import { makeOperator } from './operator';
import { type PageDashboard } from './page-dashboard';
import { INVOICE_CONTENT } from './endpoint-samples';
import { seedActivity, seedRequests } from './seed-activity';
import { manyKeys, type SeedKey, seedKeys, USUAL_KEYS } from './seed-keys';
import { seedUse } from './seed-use';

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
