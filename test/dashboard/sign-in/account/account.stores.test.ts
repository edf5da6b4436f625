import { PERSONAL_PARTS } from '../../../../services/selling/customers/personal-parts';
import { EXPORT_SECTIONS, exportPerson } from '../../../../services/selling/customers/export-person';
import { PASSWORD, useDashboard, cookieOf, linkOf, tokenOf } from '../../support/dashboard';
import { makeBelongings } from '../../support/endpoint-samples';
import { fillEveryTable, idsOfCustomer } from '../../support/own-rows';
import { eventually } from '../../../support/eventually';

const dashboard = useDashboard({}, true);

describe('exporting an account', () => {
  const EMAIL = 'asha@example.com';
  const NEIGHBOUR = 'neighbour@example.com';
  const ask = (cookie: string, body: unknown = { password: PASSWORD }) =>
    dashboard.ask({ method: 'POST', path: '/api/account/export', body, cookie, from: '192.0.2.44' });

  describe('the export of what is known of a person', () => {
    it('has something for every part that the account page names', () => {
      const parts = new Set(EXPORT_SECTIONS.map(({ part }) => part));
      expect([...parts].sort()).toEqual(Object.keys(PERSONAL_PARTS).sort());
    });

    it('holds everything of this person, no secret, and nothing of anybody else', async () => {
      const own = await makeBelongings(dashboard, EMAIL);
      await fillEveryTable(dashboard.pool, EMAIL);
      const other = await makeBelongings(dashboard, NEIGHBOUR);
      await fillEveryTable(dashboard.pool, NEIGHBOUR);
      const answer = await ask(own.cookie);
      expect([answer.statusCode, answer.headers['content-disposition']]).toEqual([200, 'attachment; filename="tollgate-account.json"']);
      const file: Record<string, unknown> = answer.json();
      expect(Object.keys(file)).toEqual(['exported_at', ...EXPORT_SECTIONS.map(({ name }) => name), 'cut_off']);
      for (const { name } of EXPORT_SECTIONS) expect([name, file[name]]).toEqual([name, expect.arrayContaining([expect.anything()])]);
      expect(file).toMatchObject({
        account: [{ email: EMAIL, ways_to_sign_in: ['credential'] }],
        keys: [{ id: own.key.id, name: 'own', products: ['api-ip'], rules: ['203.0.113.77'] }],
        cut_off: [],
      });
      for (const each of [NEIGHBOUR, ...(await idsOfCustomer(dashboard.pool, NEIGHBOUR))]) expect(answer.body).not.toContain(each);
      const { rows } = await dashboard.pool.query<{ secret: string }>(
        `SELECT secret FROM webhook UNION SELECT token FROM auth_session UNION SELECT password FROM auth_account
       UNION SELECT encode(hash, 'hex') FROM credential UNION SELECT encode(hash, 'hex') FROM admin_token UNION SELECT 'sealed'`,
      );
      for (const { secret } of [...rows, own, own.token, other]) expect(answer.body).not.toContain(secret);
      expect(answer.body).not.toContain('op@example.com');
    });

    it('names every organisation that the person is a member of, with the role, and no other member of it', async () => {
      const cookie = await dashboard.signIn(EMAIL);
      await dashboard.signIn(NEIGHBOUR);
      await dashboard.signIn('stranger@example.com');
      await dashboard.pool.query(
        `INSERT INTO member (customer_id, user_id, role)
       SELECT c.id, u.id, 'reader' FROM customer c, auth_user u WHERE c.email = $1 AND u.email IN ($2, 'stranger@example.com')`,
        [NEIGHBOUR, EMAIL],
      );
      const answer = await ask(cookie);
      const { memberships } = answer.json<{ memberships: { organisation: string; role: string }[] }>();
      expect(memberships.map(({ organisation, role }) => [organisation, role]).sort()).toEqual([
        [EMAIL, 'owner'],
        [NEIGHBOUR, 'reader'],
      ]);
      expect(memberships[0]).toEqual({
        organisation_id: expect.any(String),
        organisation: expect.any(String),
        role: expect.any(String),
        since: expect.any(String),
      });
      expect(answer.body).not.toContain('stranger@example.com');
    });

    it('gives a founder who is no owner any more the own account alone', async () => {
      const own = await makeBelongings(dashboard, EMAIL);
      await fillEveryTable(dashboard.pool, EMAIL);
      await dashboard.pool.query("UPDATE member SET role = 'owner' FROM auth_user u WHERE u.id = user_id AND u.email <> $1", [EMAIL]);
      await dashboard.pool.query("UPDATE member SET role = 'admin' FROM auth_user u WHERE u.id = user_id AND u.email = $1", [EMAIL]);
      const file: Record<string, unknown[]> = (await ask(own.cookie)).json();
      const ofPerson = EXPORT_SECTIONS.filter(({ part }) => part === 'account').map(({ name }) => name);
      for (const { name } of EXPORT_SECTIONS) expect([name, (file[name] ?? []).length > 0]).toEqual([name, ofPerson.includes(name)]);
      expect(file['account']).toMatchObject([{ email: EMAIL, customer_id: null, organisation_name: null }]);
    });

    it('asks for the password, and may be had three times an hour', async () => {
      const cookie = await dashboard.signIn(EMAIL);
      expect((await ask(cookie, { password: 'not the password' })).json().code).toBe('invalid_password');
      expect((await ask(cookie, {})).json().code).toBe('invalid_password');
      for (let time = 0; time < 3; time++) expect((await ask(cookie)).statusCode).toBe(200);
      const limited = await ask(cookie);
      expect([limited.statusCode, Number(limited.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
      const { rows } = await dashboard.pool.query("SELECT actor FROM audit_log WHERE action = 'account.export'");
      expect(rows).toEqual(Array(3).fill({ actor: `dashboard:${EMAIL}` }));
    });

    it('is read page by page, loses and repeats no row, and says what it cut off', async () => {
      const cookie = await dashboard.signIn(EMAIL);
      const { customerId } = (await dashboard.ask({ path: '/api/session', cookie })).json();
      const { rows } = await dashboard.pool.query<{ id: string }>('SELECT id FROM auth_user');
      await dashboard.pool.query(
        `INSERT INTO decision (request_id, at, outcome, products, customer_id)
       SELECT 'request ' || n, now(), 'admitted', '{api-ip}', $1 FROM generate_series(1, 1201) n`,
        [customerId],
      );
      const read = async (most?: number) => {
        const options = { userId: rows[0]?.id ?? '', customerId, at: new Date(), ...(most !== undefined && { most }) };
        let text = '';
        for await (const piece of exportPerson(dashboard.db, options)) text += piece;
        const file: { requests: { request_id: string }[]; cut_off: string[] } = JSON.parse(text);
        return file;
      };
      const whole = await read();
      expect([whole.requests.length, new Set(whole.requests.map((each) => each.request_id)).size, whole.cut_off]).toEqual([1201, 1201, []]);
      const cut = await read(700);
      expect([cut.requests.length, cut.cut_off]).toEqual([700, ['requests']]);
    });
  });
});

describe('changing the address', () => {
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

  describe('a change of the email address', () => {
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
});
