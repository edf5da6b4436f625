import { eraseDuePeople } from '../../../../services/selling/members/person-deletion';
import { endpointsFor } from '../../../../services/dashboard/contract/endpoints';
import { cookieOf, PASSWORD, useDashboard, verdict } from '../../support/dashboard';
import { askEndpoint, type Belongings, makeBelongings, digestEverything, samples } from '../../support/endpoint-samples';
import { idsOfCustomer, rowsAbout } from '../../support/own-rows';
import { secretOf, totpOf } from '../../support/totp';

const endpoints = endpointsFor('members');

const EMAIL = 'asha@example.com';
const HEIR = 'birk@example.com';

const dashboard = useDashboard({}, true);
/** Of somebody who built an organisation up, handed it over, and was removed from it. */
let gone: Belongings;
let heir: string;
beforeEach(async () => {
  gone = await makeBelongings(dashboard, EMAIL);
  heir = await dashboard.signIn(HEIR);
  await dashboard.pool.query(
    `INSERT INTO member (customer_id, user_id, role) SELECT c.id, u.id, 'owner' FROM customer c, auth_user u WHERE c.email = $1 AND u.email = $2`,
    [EMAIL, HEIR],
  );
  await dashboard.pool.query('DELETE FROM member USING auth_user u WHERE u.id = user_id AND u.email = $1', [EMAIL]);
});

const get = (path: string, cookie = gone.cookie) => dashboard.ask({ path: `/api${path}`, cookie });
const post = (path: string, body: unknown, cookie = gone.cookie) => dashboard.ask({ method: 'POST', path: `/api${path}`, body, cookie });
const remove = () => post('/account/delete', { password: PASSWORD });
const signIn = () => post('/auth/sign-in/email', { email: EMAIL, password: PASSWORD }, '');
const askedDaysAgo = (days: number) => dashboard.pool.query("UPDATE person_deletion SET asked_at = now() - $1 * interval '1 day'", [days]);

/** As an owner of the organisation does, from which the person was removed. @returns its id */
async function inviteAgain(email = EMAIL): Promise<string> {
  const { rows } = await dashboard.pool.query<{ id: string }>(
    `INSERT INTO invitation (customer_id, email, role, token_hash, invited_by, expires_at)
     SELECT c.id, $1::text, 'reader', sha256(convert_to($1::text, 'UTF8')), u.id, now() + interval '7 days'
     FROM customer c, auth_user u WHERE c.email = $2 AND u.email = $3 RETURNING id`,
    [email, EMAIL, HEIR],
  );
  return rows[0]?.id ?? '';
}

describe('whoever is in no organisation', () => {
  it('sees the own account, its ways in and its sessions', async () => {
    expect((await get('/account')).json()).toEqual({
      email: EMAIL,
      hasSecondFactor: false,
      quotaTimeZone: 'Asia/Kolkata',
      isMember: false,
      invitations: [],
    });
    expect((await get('/account', heir)).json()).toMatchObject({ email: HEIR, isMember: true });
    expect((await get('/account/ways')).json()).toMatchObject({ hasPassword: true, connected: [] });
    expect((await get('/auth/list-sessions')).statusCode).toBe(200);
  });

  it('changes password, second factor and address', async () => {
    const begun = await post('/auth/two-factor/enable', { password: PASSWORD });
    const on = await post('/auth/two-factor/verify-totp', { code: totpOf(secretOf(begun.json().totpURI)) });
    const cookie = cookieOf(on);
    expect((await get('/account', cookie)).json().hasSecondFactor).toBe(true);
    expect((await post('/account/email', { email: 'asha.new@example.com', password: PASSWORD }, cookie)).statusCode).toBe(200);
    const body = { currentPassword: PASSWORD, newPassword: 'another long password' };
    expect((await post('/auth/change-password', body, cookie)).statusCode).toBe(200);
  });

  it('reaches nothing of any organisation, the former one included', async () => {
    const before = await digestEverything(dashboard.pool);
    for (const endpoint of endpoints) {
      const answer = await askEndpoint(dashboard, endpoint, { sample: samples[endpoint.name]?.(gone), cookie: gone.cookie });
      expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, '403 organisation_missing']);
    }
    expect(await digestEverything(dashboard.pool)).toEqual(before);
  });

  it('exports what is known of the person, and nothing of the former organisation', async () => {
    expect(verdict(await post('/account/export', { password: 'not the password' }))).toBe('400 invalid_password');
    const file = await post('/account/export', { password: PASSWORD });
    const { account, sessions, exported_at, cut_off, ...lists } = file.json();
    expect([account, sessions]).toEqual([[expect.objectContaining({ email: EMAIL, customer_id: null })], [expect.anything()]]);
    expect([exported_at, cut_off]).toEqual([expect.any(String), []]);
    expect(Object.values(lists).every((list) => Array.isArray(list) && list.length === 0)).toBe(true);
    const theirs = (await idsOfCustomer(dashboard.pool, EMAIL)).filter((id) => id !== account[0].id);
    expect(theirs.length).toBeGreaterThan(3);
    for (const each of [HEIR, ...theirs.filter((id) => !JSON.stringify(account).includes(id))]) expect(file.body).not.toContain(each);
  });
});

describe('an invitation to whoever is in no organisation', () => {
  it('is shown, and accepted without its mail', async () => {
    const id = await inviteAgain();
    expect((await get('/account')).json().invitations).toEqual([
      { id, organisation: EMAIL, role: 'reader', invitedBy: HEIR, expiresAt: expect.any(String) },
    ]);
    expect((await post(`/account/invitations/${id}/accept`, {})).statusCode).toBe(200);
    expect((await get('/session')).json()).toMatchObject({ organisation: EMAIL, role: 'reader' });
    expect(verdict(await post(`/account/invitations/${id}/accept`, {}))).toBe('404 invitation_unknown');
  });

  it('is neither shown to nor accepted by anybody else, nor once it has expired', async () => {
    const id = await inviteAgain('somebody.else@example.com');
    expect((await get('/account')).json().invitations).toEqual([]);
    expect(verdict(await post(`/account/invitations/${id}/accept`, {}))).toBe('404 invitation_unknown');
    const own = await inviteAgain();
    await dashboard.pool.query("UPDATE invitation SET sent_at = now() - interval '8 days', expires_at = now() - interval '1 day'");
    expect((await get('/account')).json().invitations).toEqual([]);
    expect(verdict(await post(`/account/invitations/${own}/accept`, {}))).toBe('404 invitation_unknown');
  });
});

describe('deleting the account of whoever is in no organisation', () => {
  it('takes the password, ends every session, and touches nothing of the former organisation', async () => {
    expect(verdict(await post('/account/delete', { password: 'not the password' }))).toBe('400 invalid_password');
    const before = await digestEverything(dashboard.pool);
    const other = cookieOf(await signIn());
    const answer = await remove();
    expect(Math.round((Date.parse(answer.json().erasedAt) - Date.now()) / 86_400_000)).toBe(14);
    for (const cookie of [gone.cookie, other]) expect((await get('/account', cookie)).statusCode).toBe(401);
    expect(await digestEverything(dashboard.pool)).toEqual(before);
    const mail = dashboard.mails.find(({ subject }) => subject === 'Your Tollgate account is being deleted');
    expect(mail?.text).not.toContain('keys');
  });

  it('is undone by signing in', async () => {
    await remove();
    const back = cookieOf(await signIn());
    expect((await get('/account', back)).statusCode).toBe(200);
    await askedDaysAgo(15);
    expect(await eraseDuePeople(dashboard.db)).toBe(0);
    expect(dashboard.mails.some(({ subject }) => subject === 'Your Tollgate account is kept')).toBe(true);
  });

  it('waits 14 days, which nothing in the dashboard can shorten', async () => {
    await remove();
    await askedDaysAgo(13);
    expect(await eraseDuePeople(dashboard.db)).toBe(0);
    const { rows } = await dashboard.db.query<{ outcome: string }>('SELECT erase_person(user_id) AS outcome FROM person_deletion');
    expect(rows).toEqual([{ outcome: 'waiting' }]);
    await expect(dashboard.db.query("UPDATE person_deletion SET asked_at = now() - interval '20 days'")).rejects.toThrow(
      'permission denied',
    );
  });

  it('leaves nothing of the person but the name of the organisation and what it wrote down', async () => {
    const { rows } = await dashboard.pool.query<{ id: string }>('SELECT id FROM auth_user WHERE email = $1', [EMAIL]);
    await inviteAgain();
    await dashboard.pool.query("INSERT INTO outbox_mail (recipient, subject, body) VALUES ($1, 'Reset', 'link')", [EMAIL]);
    await remove();
    await askedDaysAgo(15);
    expect(await eraseDuePeople(dashboard.db)).toBe(1);
    expect(await rowsAbout(dashboard.pool, [EMAIL])).toEqual({ customer: 1, audit_log: 1 });
    const { rows: named } = await dashboard.pool.query('SELECT action FROM audit_log WHERE position($1 IN details::text) > 0', [EMAIL]);
    expect(named).toEqual([{ action: 'customer.create' }]);
    const { rows: actors } = await dashboard.pool.query<{ actor: string }>('SELECT DISTINCT actor FROM audit_log ORDER BY 1');
    expect(actors).toContainEqual({ actor: `dashboard:deleted-${rows[0]?.id}@deleted.invalid` });
    expect((await dashboard.pool.query('SELECT state FROM credential')).rows).toEqual([{ state: 'active' }]);
    expect((await get('/session', heir)).statusCode).toBe(200);
  });

  it('keeps whoever became a member meanwhile', async () => {
    await remove();
    await dashboard.pool.query(
      `INSERT INTO member (customer_id, user_id, role) SELECT c.id, u.id, 'reader' FROM customer c, auth_user u WHERE c.email = $1 AND u.email = $1`,
      [EMAIL],
    );
    await askedDaysAgo(15);
    expect(await eraseDuePeople(dashboard.db)).toBe(0);
    expect((await dashboard.pool.query('SELECT FROM person_deletion')).rowCount).toBe(0);
  });
});
