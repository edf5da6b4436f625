import { randomUUID } from 'node:crypto';
import { eraseDueAccounts } from '../../../../services/selling/members/account-deletion';
import { eraseDuePeople } from '../../../../services/selling/members/person-deletion';
import { endpointsFor } from '../../../../services/dashboard/contract/endpoints';
import { PERSONAL_PARTS } from '../../../../services/selling/customers/personal-parts';
import { erasedAddress, TABLE_PARTS } from '../../support/personal-data';
import { cookieOf, PASSWORD, useDashboard, verdict } from '../../support/dashboard';
import { askEndpoint, type Belongings, digestEverything, makeBelongings, samples } from '../../support/endpoint-samples';
import { fillEveryTable, idsOfCustomer, rowsAbout, tableNames } from '../../support/own-rows';
import { secretOf, totpOf } from '../../support/totp';

const dashboard = useDashboard({}, true);

const EMAIL = 'asha@example.com';
const HEIR = 'birk@example.com';
const ADDRESS = '192.0.2.44';

const post = (path: string, body: unknown, cookie?: string) => dashboard.ask({ method: 'POST', path, body, cookie, from: ADDRESS });
const remove = (cookie: string, body: unknown = { password: PASSWORD }) => post('/api/account/delete', body, cookie);
const signIn = () => post('/api/auth/sign-in/email', { email: EMAIL, password: PASSWORD });
const askedDaysAgo = (days: number) => dashboard.pool.query("UPDATE account_deletion SET asked_at = now() - $1 * interval '1 day'", [days]);
const statesOf = async (table: 'credential' | 'subscription') =>
  (await dashboard.pool.query<{ state: string }>(`SELECT state FROM ${table} ORDER BY id`)).rows.map(({ state }) => state);
const customerIdOf = async (cookie: string): Promise<string> => (await dashboard.ask({ path: '/api/session', cookie })).json().customerId;

/** Somebody whose account is deleted, and who asked for that so many days ago. @returns the id of the organisation */
async function leave(daysAgo: number): Promise<string> {
  const cookie = await dashboard.signIn(EMAIL);
  const customerId = await customerIdOf(cookie);
  await remove(cookie);
  await askedDaysAgo(daysAgo);
  return customerId;
}

describe('deleting an account', () => {
  it('knows of every table what it holds of a person', async () => {
    expect(Object.keys(TABLE_PARTS).sort()).toEqual(await tableNames(dashboard.pool));
  });

  it('stops keys, subscriptions, tokens and every session at once, and confirms it by mail', async () => {
    const own = await makeBelongings(dashboard, EMAIL, 'alone');
    const other = cookieOf(await signIn());
    const answer = await remove(own.cookie);
    expect(answer.statusCode).toBe(200);
    expect(Math.round((Date.parse(answer.json().erasedAt) - Date.now()) / 86_400_000)).toBe(14);
    expect([await statesOf('credential'), await statesOf('subscription')]).toEqual([['inactive'], ['paused']]);
    for (const cookie of [own.cookie, other]) expect((await dashboard.ask({ path: '/api/session', cookie })).statusCode).toBe(401);
    const headers = { authorization: `Bearer ${own.token.secret}` };
    expect((await dashboard.ask({ path: '/api/v1/keys', headers })).json().code).toBe('token_not_valid');
    const mail = dashboard.mails.find(({ subject }) => subject === 'Your Tollgate account is being deleted');
    expect(mail).toMatchObject({ to: EMAIL, text: expect.stringContaining('/sign-in') });
  });

  it('asks for the password, and limits guesses at it', async () => {
    const cookie = await dashboard.signIn(EMAIL);
    for (const body of [{ password: 'not the password' }, { password: '' }, {}]) {
      expect((await remove(cookie, body)).json().code).toBe('invalid_password');
    }
    for (let guess = 0; guess < 7; guess++) await remove(cookie, { password: 'not the password' });
    expect(verdict(await remove(cookie))).toBe('429 too_many_attempts');
    expect((await dashboard.pool.query('SELECT 1 FROM account_deletion')).rows).toEqual([]);
  });

  it('is carried out once, however many ask at the same moment', async () => {
    const own = await makeBelongings(dashboard, EMAIL, 'alone');
    const answers = await Promise.all([1, 2, 3, 4].map(() => remove(own.cookie)));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    for (const { statusCode } of answers) expect([200, 401, 409]).toContain(statusCode);
  });
});

describe('an organisation with others in it', () => {
  it('is not deleted with an account, nor is an account on which others depend', async () => {
    const own = await makeBelongings(dashboard, EMAIL);
    expect(verdict(await remove(own.cookie))).toBe('409 account_shared');
    expect([await statesOf('credential'), await statesOf('subscription')]).toEqual([['active'], ['active']]);
    const path = `/api/team/members/${own.memberId}`;
    expect((await dashboard.ask({ method: 'DELETE', path, cookie: own.cookie })).statusCode).toBe(204);
    expect((await remove(own.cookie)).statusCode).toBe(200);
    expect((await dashboard.pool.query('SELECT 1 FROM invitation')).rows).toEqual([]);
  });

  it('is not deleted by somebody who only works in it', async () => {
    const own = await makeBelongings(dashboard, EMAIL);
    await post('/api/team/transfer', { userId: own.memberId }, own.cookie);
    expect((await remove(own.cookie)).json().code).toBe('account_shared');
    expect(await statesOf('credential')).toEqual(['active']);
  });
});

describe('signing in within the grace', () => {
  it('keeps the account: what the deletion stopped runs again, and nothing else does', async () => {
    const { cookie, key } = await makeBelongings(dashboard, EMAIL, 'alone');
    const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], name: 'off before' };
    const made = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body })).json();
    await dashboard.pool.query("UPDATE credential SET state = 'inactive' WHERE id = $1", [made.key.id]);
    await remove(cookie);
    await post('/api/auth/sign-in/email', { email: EMAIL, password: 'not the password' });
    expect(await statesOf('subscription')).toEqual(['paused']);
    const back = cookieOf(await signIn());
    const { rows } = await dashboard.pool.query('SELECT id, state FROM credential ORDER BY state');
    expect(rows).toEqual([
      { id: key.id, state: 'active' },
      { id: made.key.id, state: 'inactive' },
    ]);
    expect(await statesOf('subscription')).toEqual(['active']);
    expect(dashboard.mails.some(({ subject }) => subject === 'Your Tollgate account is kept')).toBe(true);
    await askedDaysAgo(15);
    expect(await eraseDueAccounts(dashboard.db)).toBe(0);
    const { entries } = (await dashboard.ask({ path: '/api/audit', cookie: back })).json();
    expect(entries.map(({ action }: { action: string }) => action).slice(0, 3)).toEqual([
      'account.sign_in',
      'account.keep',
      'account.delete',
    ]);
  });

  it('counts by the session alone, when the process ended before it could say so', async () => {
    await leave(15);
    await dashboard.pool.query(
      `INSERT INTO auth_session (expires_at, token, created_at, updated_at, user_id)
       SELECT now() + interval '1 day', 'token', now(), now(), id FROM auth_user`,
    );
    expect(await eraseDueAccounts(dashboard.db)).toBe(0);
    expect((await dashboard.pool.query('SELECT 1 FROM account_deletion')).rows).toEqual([]);
  });
});

describe('when the grace is over', () => {
  it('everything is gone that the page says, and what stays does not say whose it was', async () => {
    const own = await makeBelongings(dashboard, EMAIL, 'alone');
    await fillEveryTable(dashboard.pool, EMAIL);
    const neighbour = 'neighbour@example.com';
    await makeBelongings(dashboard, neighbour, 'alone');
    await fillEveryTable(dashboard.pool, neighbour);
    const theirs = [neighbour, ...(await idsOfCustomer(dashboard.pool, neighbour))];
    const untouched = await rowsAbout(dashboard.pool, theirs);
    const customerId = await customerIdOf(own.cookie);
    const ids = await idsOfCustomer(dashboard.pool, EMAIL);
    const before = await rowsAbout(dashboard.pool, [EMAIL, ...ids]);
    await remove(own.cookie);
    const withSomething = Object.keys(TABLE_PARTS).filter((table) => TABLE_PARTS[table] !== 'none' && table !== 'account_deletion');
    expect(Object.keys(before).sort()).toEqual(expect.arrayContaining(withSomething.sort()));

    await askedDaysAgo(15);
    await dashboard.db.query("UPDATE customer SET display_name = 'A name' WHERE id = $1", [customerId]);
    expect(await eraseDueAccounts(dashboard.db)).toBe(1);
    const after = await rowsAbout(dashboard.pool, [EMAIL, ...ids]);
    const gone = Object.entries(TABLE_PARTS).filter(([, part]) => part !== 'none' && PERSONAL_PARTS[part] === 'erased');
    expect(gone.filter(([table]) => after[table] !== undefined)).toEqual([]);
    expect(await rowsAbout(dashboard.pool, [EMAIL, ADDRESS, '203.0.113.77', 'hooks.example/own'])).toEqual({
      // A neighbour's rule.
      whitelist_rule: 1,
    });
    expect(await rowsAbout(dashboard.pool, theirs)).toEqual(untouched);
    const { rows } = await dashboard.pool.query('SELECT email, display_name FROM customer WHERE id = $1', [customerId]);
    expect(rows).toEqual([{ email: erasedAddress(customerId), display_name: null }]);
  });

  it('mail to others that names the account is gone too, though nobody was sent any since', async () => {
    await leave(15);
    await dashboard.pool.query(
      `INSERT INTO outbox_mail (recipient, subject, body, at) VALUES
       ('ravi@example.com', 'Invitation', $1 || ' invites you', now() - interval '15 days'), ('ravi@example.com', 'News', '', now())`,
      [EMAIL],
    );
    expect(await eraseDueAccounts(dashboard.db)).toBe(1);
    expect(await rowsAbout(dashboard.pool, [EMAIL])).toEqual({});
    expect((await dashboard.pool.query('SELECT subject FROM outbox_mail')).rows).toEqual([{ subject: 'News' }]);
  });

  it('the seller’s deliveries name the account by its number alone', async () => {
    const customerId = await leave(15);
    await dashboard.pool.query("INSERT INTO webhook (url, secret) VALUES ('https://seller.example/', repeat('s', 32))");
    await dashboard.pool.query(
      `INSERT INTO webhook_delivery (webhook_id, event_id, event, event_at, data)
       SELECT id, gen_random_uuid(), 'customer.created', now(), jsonb_build_object('customer_id', $1::text, 'customer', $2::text) FROM webhook`,
      [customerId, EMAIL],
    );
    await eraseDueAccounts(dashboard.db);
    const { rows } = await dashboard.pool.query('SELECT data FROM webhook_delivery');
    expect(rows).toEqual([{ data: { customer_id: customerId, customer: erasedAddress(customerId) } }]);
  });

  it('the audit log keeps what was done and when, by nobody in particular', async () => {
    const customerId = await leave(14);
    const read = async (columns: string) =>
      (await dashboard.pool.query(`SELECT ${columns} FROM audit_log WHERE customer_id = $1 ORDER BY id`, [customerId])).rows;
    const done = await read('id, at, action, subject_id');
    await eraseDueAccounts(dashboard.db);
    expect((await read('id, at, action, subject_id')).slice(0, done.length)).toEqual(done);
    const actors = (await read('actor, from_address, details')).slice(0, done.length);
    for (const line of actors) {
      expect(line).toEqual({ actor: `dashboard:${erasedAddress(customerId)}`, from_address: null, details: {} });
    }
  });

  it('is not a day earlier, whatever the dashboard asks', async () => {
    const customerId = await leave(13.9);
    expect(await eraseDueAccounts(dashboard.db)).toBe(0);
    const { rows } = await dashboard.db.query('SELECT erase_account($1) AS outcome', [customerId]);
    expect(rows).toEqual([{ outcome: 'waiting' }]);
    await expect(dashboard.db.query("UPDATE account_deletion SET asked_at = now() - interval '1 year'")).rejects.toThrow(
      'permission denied',
    );
    await expect(dashboard.db.query("SELECT erase_from_audit_log($1, '', '')", [customerId])).rejects.toThrow('permission denied');
  });

  it('several processes erase each account once, and again does nothing', async () => {
    await leave(15);
    const erased = await Promise.all([1, 2, 3].map(() => eraseDueAccounts(dashboard.db)));
    expect(erased.sort()).toEqual([0, 0, 1]);
    expect(await eraseDueAccounts(dashboard.db)).toBe(0);
  });

  it('the address is free: whoever signs up with it begins anew', async () => {
    const own = await makeBelongings(dashboard, EMAIL, 'alone');
    const customerId = await customerIdOf(own.cookie);
    await remove(own.cookie);
    await askedDaysAgo(15);
    await eraseDueAccounts(dashboard.db);
    dashboard.mails.length = 0;
    const cookie = await dashboard.signIn(EMAIL);
    expect(await customerIdOf(cookie)).not.toBe(customerId);
    expect((await dashboard.ask({ path: '/api/keys', cookie })).json().keys).toEqual([]);
  });
});

describe('the audit log', () => {
  it('takes no other change, not even from its owner', async () => {
    await dashboard.signIn(EMAIL);
    await expect(dashboard.pool.query("UPDATE audit_log SET actor = 'x'")).rejects.toThrow('only ever appended to');
    await expect(
      dashboard.pool.query("BEGIN; SET LOCAL tollgate.erasing = 'on'; UPDATE audit_log SET action = 'x'; COMMIT"),
    ).rejects.toThrow('only ever appended to');
  });
});

describe('without an organisation', () => {
  const endpoints = endpointsFor('members');
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
  const postOwn = (path: string, body: unknown, cookie = gone.cookie) =>
    dashboard.ask({ method: 'POST', path: `/api${path}`, body, cookie });
  const leaveNow = () => postOwn('/account/delete', { password: PASSWORD });
  const personAskedDaysAgo = (days: number) =>
    dashboard.pool.query("UPDATE person_deletion SET asked_at = now() - $1 * interval '1 day'", [days]);

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
      const begun = await postOwn('/auth/two-factor/enable', { password: PASSWORD });
      const on = await postOwn('/auth/two-factor/verify-totp', { code: totpOf(secretOf(begun.json().totpURI)) });
      const cookie = cookieOf(on);
      expect((await get('/account', cookie)).json().hasSecondFactor).toBe(true);
      expect((await postOwn('/account/email', { email: 'asha.new@example.com', password: PASSWORD }, cookie)).statusCode).toBe(200);
      const body = { currentPassword: PASSWORD, newPassword: 'another long password' };
      expect((await postOwn('/auth/change-password', body, cookie)).statusCode).toBe(200);
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
      expect(verdict(await postOwn('/account/export', { password: 'not the password' }))).toBe('400 invalid_password');
      const file = await postOwn('/account/export', { password: PASSWORD });
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
      expect((await postOwn(`/account/invitations/${id}/accept`, {})).statusCode).toBe(200);
      expect((await get('/session')).json()).toMatchObject({ organisation: EMAIL, role: 'reader' });
      expect(verdict(await postOwn(`/account/invitations/${id}/accept`, {}))).toBe('404 invitation_unknown');
    });

    it('is neither shown to nor accepted by anybody else, nor once it has expired', async () => {
      const id = await inviteAgain('somebody.else@example.com');
      expect((await get('/account')).json().invitations).toEqual([]);
      expect(verdict(await postOwn(`/account/invitations/${id}/accept`, {}))).toBe('404 invitation_unknown');
      const own = await inviteAgain();
      await dashboard.pool.query("UPDATE invitation SET sent_at = now() - interval '8 days', expires_at = now() - interval '1 day'");
      expect((await get('/account')).json().invitations).toEqual([]);
      expect(verdict(await postOwn(`/account/invitations/${own}/accept`, {}))).toBe('404 invitation_unknown');
    });
  });

  describe('deleting the account of whoever is in no organisation', () => {
    it('takes the password, ends every session, and touches nothing of the former organisation', async () => {
      expect(verdict(await postOwn('/account/delete', { password: 'not the password' }))).toBe('400 invalid_password');
      const before = await digestEverything(dashboard.pool);
      const other = cookieOf(await signIn());
      const answer = await leaveNow();
      expect(Math.round((Date.parse(answer.json().erasedAt) - Date.now()) / 86_400_000)).toBe(14);
      for (const cookie of [gone.cookie, other]) expect((await get('/account', cookie)).statusCode).toBe(401);
      expect(await digestEverything(dashboard.pool)).toEqual(before);
      const mail = dashboard.mails.find(({ subject }) => subject === 'Your Tollgate account is being deleted');
      expect(mail?.text).not.toContain('keys');
    });

    it('is undone by signing in', async () => {
      await leaveNow();
      const back = cookieOf(await signIn());
      expect((await get('/account', back)).statusCode).toBe(200);
      await personAskedDaysAgo(15);
      expect(await eraseDuePeople(dashboard.db)).toBe(0);
      expect(dashboard.mails.some(({ subject }) => subject === 'Your Tollgate account is kept')).toBe(true);
    });

    it('waits 14 days, which nothing in the dashboard can shorten', async () => {
      await leaveNow();
      await personAskedDaysAgo(13);
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
      await leaveNow();
      await personAskedDaysAgo(15);
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
      await leaveNow();
      await dashboard.pool.query(
        `INSERT INTO member (customer_id, user_id, role) SELECT c.id, u.id, 'reader' FROM customer c, auth_user u WHERE c.email = $1 AND u.email = $1`,
        [EMAIL],
      );
      await personAskedDaysAgo(15);
      expect(await eraseDuePeople(dashboard.db)).toBe(0);
      expect((await dashboard.pool.query('SELECT FROM person_deletion')).rowCount).toBe(0);
    });
  });
});
