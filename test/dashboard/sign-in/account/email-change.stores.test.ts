import { eventually } from '../../../support/eventually';
import { cookieOf, linkOf, PASSWORD, useDashboard, tokenOf } from '../../support/dashboard';
import { makeBelongings } from '../../support/endpoint-samples';

const dashboard = useDashboard({}, true);

const OLD = 'asha@example.com';
const NEW = 'asha.new@example.com';
const ALLOW = 'Allow a new email address for your Tollgate account';
const PROVE = 'Confirm your new email address for Tollgate';

const post = (path: string, body: unknown, cookie?: string) => dashboard.ask({ method: 'POST', path, body, cookie, from: '192.0.2.44' });
const ask = (cookie: string, body: unknown = { email: NEW, password: PASSWORD }) => post('/api/account/email', body, cookie);
const confirm = (token: unknown) => post('/api/account/email/confirm', { token });
const signIn = (email: string) => post('/api/auth/sign-in/email', { email, password: PASSWORD });
const session = async (cookie: string) => dashboard.ask({ path: '/api/session', cookie });

async function tokenIn(subject: string): Promise<string> {
  await eventually(() => dashboard.mails.some((mail) => mail.subject === subject));
  return tokenOf(dashboard.mails.findLast((mail) => mail.subject === subject));
}

describe('a change of the e-mail address', () => {
  it('leaves an organisation that was handed to somebody else its name', async () => {
    const from = 'handed.over@example.com';
    const cookie = await dashboard.signIn(from);
    await session(await dashboard.signIn('heir@example.com'));
    const { customerId } = (await session(cookie)).json();
    const setRole = `INSERT INTO member (customer_id, user_id, role) SELECT $1, id, $3 FROM auth_user WHERE email = $2
      ON CONFLICT (customer_id, user_id) DO UPDATE SET role = excluded.role`;
    await dashboard.pool.query(setRole, [customerId, 'heir@example.com', 'owner']);
    await dashboard.pool.query(setRole, [customerId, from, 'developer']);
    dashboard.mails.length = 0;
    await ask(cookie, { email: `new.${from}`, password: PASSWORD });
    await confirm(await tokenIn(ALLOW));
    expect((await confirm(await tokenIn(PROVE))).json()).toEqual({ state: 'changed' });
    expect((await session(cookie)).json()).toMatchObject({ email: `new.${from}`, organisation: from });
  });

  it('happens once both addresses have confirmed it, in either order, and leaves everything else to its owner', async () => {
    for (const order of [
      [ALLOW, PROVE],
      [PROVE, ALLOW],
    ] as const) {
      const from = order[0] === ALLOW ? OLD : 'second@example.com';
      const to = `new.${from}`;
      const own = await makeBelongings(dashboard, from);
      const other = cookieOf(await signIn(from));
      const before = (await session(own.cookie)).json();
      dashboard.mails.length = 0;
      expect((await ask(own.cookie, { email: to.toUpperCase(), password: PASSWORD })).json()).toEqual({ email: to });
      expect((await confirm(await tokenIn(order[0]))).json()).toEqual({ state: 'waiting' });
      expect((await session(other)).json().email).toBe(from);
      expect((await confirm(await tokenIn(order[1]))).json()).toEqual({ state: 'changed' });
      expect((await session(own.cookie)).json()).toEqual({
        ...before,
        email: to,
        organisation: to,
        organisations: [{ ...before.organisations[0], organisation: to }],
      });
      expect((await session(other)).statusCode).toBe(401);
      expect((await signIn(from)).statusCode).toBe(401);
      expect((await signIn(to)).statusCode).toBe(200);
      expect((await dashboard.ask({ path: `/api/keys/${own.key.id}`, cookie: own.cookie })).statusCode).toBe(200);
      await eventually(() => dashboard.mails.filter(({ subject }) => subject.includes('was changed')).length === 2);
    }
  });

  it('is mailed to both, each with a link of its own, and is in the audit log', async () => {
    const cookie = await dashboard.signIn(OLD);
    await ask(cookie);
    await tokenIn(PROVE);
    const mails = dashboard.mails.filter(({ subject }) => [ALLOW, PROVE].includes(subject));
    expect(mails.map(({ to, subject }) => [to, subject]).sort()).toEqual([
      [NEW, PROVE],
      [OLD, ALLOW],
    ]);
    expect(new Set(mails.map(linkOf)).size).toBe(2);
    for (const mail of mails) expect(dashboard.log()).not.toContain(tokenOf(mail));
    for (const mail of mails) await confirm(tokenOf(mail));
    const { rows } = await dashboard.pool.query("SELECT actor, details FROM audit_log WHERE action = 'account.email_change'");
    expect(rows).toEqual([{ actor: `dashboard:${OLD}`, details: { before: OLD, after: NEW } }]);
  });

  it('does not tell whether the new address has an account: both are answered alike, and it is never taken over', async () => {
    await dashboard.signIn(NEW);
    const cookie = await dashboard.signIn(OLD);
    dashboard.mails.length = 0;
    const taken = await ask(cookie);
    expect([taken.statusCode, taken.json()]).toEqual([200, { email: NEW }]);
    expect((await confirm(await tokenIn(ALLOW))).json()).toEqual({ state: 'waiting' });
    await eventually(() => dashboard.mails.some(({ to }) => to === NEW));
    expect(dashboard.mails.filter(({ to }) => to === NEW).map(({ subject }) => subject)).toEqual(['You already have a Tollgate account']);
  });

  it('fails like an old link when somebody took the address meanwhile', async () => {
    const cookie = await dashboard.signIn(OLD);
    await ask(cookie);
    const tokens = [await tokenIn(ALLOW), await tokenIn(PROVE)];
    await dashboard.pool.query('INSERT INTO customer (email) VALUES ($1)', [NEW.toUpperCase()]);
    await confirm(tokens[0]);
    expect((await confirm(tokens[1])).json().code).toBe('link_unusable');
    expect((await session(cookie)).json().email).toBe(OLD);
  });

  it('takes links for an hour, once, and only those of the last request', async () => {
    const cookie = await dashboard.signIn(OLD);
    await ask(cookie);
    const first = await tokenIn(ALLOW);
    await ask(cookie);
    await eventually(() => dashboard.mails.filter(({ subject }) => subject === ALLOW).length === 2);
    expect((await confirm(first)).json().code).toBe('link_unusable');
    await dashboard.pool.query("UPDATE email_change SET expires_at = now() - interval '1 second'");
    expect((await confirm(await tokenIn(ALLOW))).json().code).toBe('link_unusable');
    await ask(cookie);
    await eventually(() => dashboard.mails.filter(({ subject }) => subject === PROVE).length === 3);
    const tokens = [await tokenIn(ALLOW), await tokenIn(PROVE)];
    for (const token of tokens) expect((await confirm(token)).statusCode).toBe(200);
    for (const token of tokens) expect((await confirm(token)).json().code).toBe('link_unusable');
  });

  it('ends links for a new password that were mailed to the old address', async () => {
    const cookie = await dashboard.signIn(OLD);
    await post('/api/auth/request-password-reset', { email: OLD });
    await eventually(() => dashboard.mails.some(({ subject }) => subject.startsWith('Reset')));
    const reset = tokenOf(dashboard.mails.find(({ subject }) => subject.startsWith('Reset')));
    await ask(cookie);
    for (const subject of [ALLOW, PROVE]) await confirm(await tokenIn(subject));
    const answer = await post('/api/auth/reset-password', { token: reset, newPassword: 'another long password' });
    expect(answer.statusCode).toBe(400);
  });

  it('asks for the password, and sends no more than five mails an hour to an address', async () => {
    const cookie = await dashboard.signIn(OLD);
    expect((await ask(cookie, { email: NEW, password: 'not the password' })).json().code).toBe('invalid_password');
    expect((await ask(cookie, { email: OLD, password: PASSWORD })).json().code).toBe('invalid_request');
    const codes: number[] = [];
    for (let time = 0; time < 6; time++) codes.push((await ask(cookie)).statusCode);
    expect(codes.at(-1)).toBe(429);
  });
});
