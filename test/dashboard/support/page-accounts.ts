import { type Pool } from 'pg';
import { cookieOf } from './dashboard';
import { type PageDashboard } from './page-dashboard';
import { INVOICE_CONTENT } from './endpoint-samples';
import { seedActivity, seedRequests } from './seed-activity';
import { type SeedKey, seedKeys, USUAL_KEYS } from './seed-keys';
import { seedInvitation, seedMember, seedTeam } from './seed-team';
import { seedUse } from './seed-use';

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

/** `new`: on the first day. `usual`: with something on every page. `reader`: of a usual one, whose pages may only be read. `outsider`: in no organisation. */
export type AccountKind = 'new' | 'usual' | 'reader' | 'outsider';

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
  const mark = `${process.pid}-${(accounts += 1)}`;
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

async function seedUsual(dashboard: PageDashboard, account: Account): Promise<Account> {
  const { pool } = dashboard;
  const { customerId, userId, email, invitation } = account;
  const keys = await seedKeys(pool, customerId, USUAL_KEYS);
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
  if (kind === 'usual') return seedUsual(dashboard, account);
  if (kind === 'reader') return readerOf(dashboard, await seedUsual(dashboard, account));
  if (kind === 'outsider') await leaveOwn(dashboard, account);
  return account;
}

/** Ends every session of somebody, as another device does. */
export async function endSessions(pool: Pool, { userId }: Account): Promise<void> {
  await pool.query('DELETE FROM auth_session WHERE user_id = $1', [userId]);
}
