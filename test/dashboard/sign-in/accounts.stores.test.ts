import { signJWT } from 'better-auth/crypto';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { eventually } from '../../support/eventually';
import { cookieOf, linkOf, PASSWORD, tokenOf, useDashboard, verdict } from '../support/dashboard';
import { createCustomer } from '../../../services/selling/customers/create-customer';
import { createKey } from '../../../services/selling/keys/create-key';

const dashboard = useDashboard();

describe('accounts', () => {
  /** Whose account is there from the start. */
  const KNOWN = 'known@example.com';
  beforeAll(() => dashboard.signUp(KNOWN));

  const post = (path: string, body: unknown, rest: { cookie?: string; from?: string } = {}) =>
    dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, ...rest });
  const signIn = (email: string, password = PASSWORD, from = `192.0.2.${email.length}`) =>
    post('/sign-in/email', { email, password }, { from });
  const mailTo = async (address: string, subject: RegExp) => {
    const found = () => dashboard.mails.find((mail) => mail.to === address && subject.test(mail.subject));
    await eventually(() => found() !== undefined);
    const mail = found();
    if (!mail) throw new Error('the mail vanished');
    return mail;
  };
  const verify = (mail: Mail) => post('/verify-email', { token: tokenOf(mail), password: PASSWORD });

  describe('signing up', () => {
    it('gives nothing before the address is verified', async () => {
      const email = 'new@example.com';
      const signedUp = await post('/sign-up/email', { email, password: PASSWORD });
      // Nothing but what verify-email reads: no session.
      expect([signedUp.statusCode, signedUp.cookies.map(({ name }) => name)]).toEqual([200, ['tollgate.signed_up']]);
      const early = await signIn(email);
      expect([early.statusCode, early.json().code, early.cookies]).toEqual([403, 'email_not_verified', []]);
      const { rows } = await dashboard.pool.query('SELECT 1 FROM customer WHERE email = $1', [email]);
      expect(rows).toEqual([]);
      const verified = await verify(await mailTo(email, /Confirm/));
      expect(verified.statusCode).toBe(200);
      const session = await dashboard.ask({ path: '/api/session', cookie: cookieOf(verified) });
      expect(session.json()).toMatchObject({ email, hasOutbox: false, gatewayUrl: 'http://gateway.test' });
    });

    it('answers the same for an address that has an account, and tells only its owner', async () => {
      await dashboard.signIn('taken@example.com');
      const again = await post('/sign-up/email', { email: 'taken@example.com', password: `${PASSWORD} of another` });
      const fresh = await post('/sign-up/email', { email: 'free@example.com', password: PASSWORD });
      const shape = (body: Record<string, unknown>) => JSON.stringify(body).replace(/"(id|email|createdAt|updatedAt)":"[^"]*"/g, '');
      expect([again.statusCode, shape(again.json()), Object.keys(again.headers)]).toEqual([
        fresh.statusCode,
        shape(fresh.json()),
        Object.keys(fresh.headers),
      ]);
      await mailTo('taken@example.com', /already/);
      expect((await signIn('taken@example.com', `${PASSWORD} of another`)).statusCode).toBe(401);
    });

    it.each([
      ['a short password', { email: 'short@example.com', password: 'short' }, 'password_too_short'],
      ['an address that is none', { email: 'nobody', password: PASSWORD }, 'invalid_request'],
      ['no password', { email: 'none@example.com' }, 'invalid_request'],
    ])('refuses %s', async (_what, body, code) => {
      const answer = await post('/sign-up/email', body);
      expect(verdict(answer)).toBe(`400 ${code}`);
      expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    });
  });

  describe('passwords', () => {
    it('end all other sessions when they are changed', async () => {
      const [kept, other] = [await dashboard.signIn('changer@example.com'), cookieOf(await signIn('changer@example.com'))];
      const body = { currentPassword: PASSWORD, newPassword: 'another long one', revokeOtherSessions: false };
      const changed = await post('/change-password', body, { cookie: kept });
      expect(changed.statusCode).toBe(200);
      expect((await dashboard.ask({ path: '/api/session', cookie: other })).statusCode).toBe(401);
      expect((await dashboard.ask({ path: '/api/session', cookie: cookieOf(changed) })).statusCode).toBe(200);
      expect((await signIn('changer@example.com')).statusCode).toBe(401);
    });

    it('are reset by mail, once a link; sessions end, and the address counts as verified', async () => {
      const email = 'forgetful@example.com';
      const before = await dashboard.signIn(email);
      await post('/request-password-reset', { email });
      const link = new URL(linkOf(await mailTo(email, /Reset your Tollgate password/)), 'http://dashboard.test');
      expect(link.pathname).toBe('/reset-password');
      const reset = { token: link.searchParams.get('token'), newPassword: 'a new long password' };
      expect((await post('/reset-password', reset)).statusCode).toBe(200);
      expect(verdict(await post('/reset-password', reset))).toBe('400 invalid_token');
      expect((await dashboard.ask({ path: '/api/session', cookie: before })).statusCode).toBe(401);
      expect((await signIn(email, 'a new long password')).statusCode).toBe(200);
    });

    it('that are forgotten for an unknown address get the same answer', async () => {
      const known = await post('/request-password-reset', { email: KNOWN });
      const unknown = await post('/request-password-reset', { email: 'nobody@example.com' });
      expect([unknown.statusCode, unknown.body]).toEqual([known.statusCode, known.body]);
    });
  });

  describe('sessions', () => {
    it('travel in a cookie that scripts and other sites cannot use', async () => {
      const { cookies } = await signIn(KNOWN);
      const safe = { name: 'tollgate.session_token', httpOnly: true, sameSite: 'Strict', path: '/' };
      expect(cookies).toEqual([expect.objectContaining(safe)]);
    });

    const secure = useDashboard({ url: 'https://dashboard.test' });
    it('are secure cookies where the dashboard is reached by https', async () => {
      await secure.signUp('tls@example.com');
      const body = { email: 'tls@example.com', password: PASSWORD };
      const { cookies, headers } = await secure.ask({ method: 'POST', path: '/api/auth/sign-in/email', body });
      expect(cookies).toEqual([expect.objectContaining({ name: '__Secure-tollgate.session_token', secure: true, sameSite: 'Strict' })]);
      expect(headers['strict-transport-security']).toBeDefined();
    });

    it('are listed and ended one by one, or by signing out', async () => {
      const [one, two] = [await dashboard.signIn('many@example.com'), cookieOf(await signIn('many@example.com'))];
      const listed = await dashboard.ask({ path: '/api/auth/list-sessions', cookie: one });
      const own = (await dashboard.ask({ path: '/api/auth/get-session', cookie: one })).json().session.token;
      const others = listed.json().filter(({ token }: { token: string }) => token !== own);
      expect(others.length).toBeGreaterThan(0);
      for (const { token } of others) expect((await post('/revoke-session', { token }, { cookie: one })).statusCode).toBe(200);
      expect((await dashboard.ask({ path: '/api/session', cookie: two })).statusCode).toBe(401);
      expect((await post('/sign-out', {}, { cookie: one })).statusCode).toBe(200);
      expect((await dashboard.ask({ path: '/api/session', cookie: one })).statusCode).toBe(401);
    });

    it('cannot be made of what answers show: the token without its signature opens nothing', async () => {
      const answer = await signIn(KNOWN);
      const { token } = answer.json();
      const signed = decodeURIComponent(cookieOf(answer).split('=').slice(1).join('='));
      expect(signed.startsWith(`${token}.`)).toBe(true);
      for (const value of [token, `${token}.`, `${token}.AAAA`]) {
        expect((await dashboard.ask({ path: '/api/session', cookie: `tollgate.session_token=${value}` })).statusCode).toBe(401);
      }
    });

    it('that have expired read as signed out', async () => {
      const cookie = await dashboard.signIn('late@example.com');
      expect((await dashboard.ask({ path: '/api/session', cookie })).statusCode).toBe(200);
      await dashboard.pool.query("UPDATE auth_session SET expires_at = now() - interval '1 second'");
      expect(verdict(await dashboard.ask({ path: '/api/keys', cookie }))).toBe('401 not_signed_in');
    });

    it('of another customer cannot be ended', async () => {
      const [mine, theirs] = [await dashboard.signIn('mine@example.com'), await dashboard.signIn('theirs@example.com')];
      const { token } = (await dashboard.ask({ path: '/api/auth/get-session', cookie: theirs })).json().session;
      await post('/revoke-session', { token }, { cookie: mine });
      expect((await dashboard.ask({ path: '/api/session', cookie: theirs })).statusCode).toBe(200);
    });
  });

  describe('better-auth', () => {
    it('is not reachable by what the dashboard does itself, or not at all', async () => {
      const cookie = await dashboard.signIn(KNOWN);
      for (const path of ['/update-user', '/delete-user', '/change-email', '/link-social', '/sign-in/social', '/set-password']) {
        const { statusCode } = await post(path, { name: 'x', email: 'y@example.com' }, { cookie });
        expect([path, statusCode]).toEqual([path, 404]);
      }
    });
  });
});

describe('verifying an address', () => {
  const STRANGERS = 'only the stranger knows it';
  let asks = 0;
  const post = (path: string, body: unknown, from = `203.0.113.${(asks += 1)}`) =>
    dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, from });
  const verify = (token: string, password: string, from?: string) => post('/verify-email', { token, password }, from);
  const mailsTo = (email: string, subject: RegExp) => dashboard.mails.filter((mail) => mail.to === email && subject.test(mail.subject));
  const tokenFor = async (email: string, subject = /Confirm/) => {
    await eventually(() => mailsTo(email, subject).length > 0);
    return tokenOf(mailsTo(email, subject)[0]);
  };
  const signUp = async (email: string, password = PASSWORD): Promise<string> => {
    await post('/sign-up/email', { email, password });
    return tokenFor(email);
  };
  const isVerified = async (email: string): Promise<boolean | undefined> => {
    const { rows } = await dashboard.pool.query<{ verified: boolean }>(
      'SELECT email_verified AS verified FROM auth_user WHERE email = $1',
      [email],
    );
    return rows[0]?.verified;
  };
  /** Status, code, and whether there is a cookie. */
  const outcome = ({ statusCode, body, cookies }: Awaited<ReturnType<typeof verify>>) => [
    statusCode,
    (JSON.parse(body) as { code?: string }).code,
    cookies.length,
  ];

  describe('an account that a stranger began with the address of another', () => {
    const email = 'victim@example.com';
    let token: string;
    beforeAll(async () => {
      const customer = await createCustomer(dashboard.pool, { email, actor: 'cli' });
      await createKey(dashboard.pool, { customer: customer.id, products: ['api-ip'], actor: 'cli' });
      token = await signUp(email, STRANGERS);
    });

    it('is not verified by opening the link, nor by asking better-auth itself', async () => {
      for (const path of [`/verify?token=${token}`, `/api/auth/verify-email?token=${token}`]) {
        expect((await dashboard.ask({ path })).cookies).toEqual([]);
      }
      const direct = await dashboard.ask({ path: `/api/auth/verify-email?token=${token}&callbackURL=/` });
      expect(outcome(direct)).toEqual([404, 'route_unknown', 0]);
      expect(await isVerified(email)).toBe(false);
    });

    it('is not verified by the owner of the address without the password, who is told what to do', async () => {
      for (const password of ['the password of the owner', '', ' ', `${STRANGERS} `]) {
        expect(outcome(await verify(token, password))).toEqual([401, 'wrong_password', 0]);
      }
      expect((await verify(token, 'the password of the owner')).json().detail).toContain('If you did not sign up, do nothing');
      expect(outcome(await post('/verify-email', { token }))).toEqual([400, 'invalid_request', 0]);
      expect(await isVerified(email)).toBe(false);
    });

    it('is not verified by the stranger, who has no link of ours', async () => {
      const [header = '', , signature = ''] = token.split('.');
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = part({ email, exp: Math.ceil(Date.now() / 1_000) + 600 });
      const own = await signUp('stranger@example.com', STRANGERS);
      const forged = [
        '',
        'x',
        `${header}.${claims}.${signature}`,
        `${part({ alg: 'none' })}.${claims}.`,
        `${own.split('.')[0]}.${token.split('.')[1]}.${own.split('.')[2]}`,
        await signJWT({ email }, 'another secret of more than 32 characters'),
        await signJWT({ address: email }, dashboard.secret),
      ];
      for (const each of forged) expect(outcome(await verify(each, STRANGERS))).toEqual([400, 'link_unusable', 0]);
      expect((await verify(own, STRANGERS)).statusCode).toBe(200);
      expect(outcome(await post('/sign-in/email', { email, password: STRANGERS }))).toEqual([403, 'email_not_verified', 0]);
      expect(await isVerified(email)).toBe(false);
    });

    it('becomes its owner’s by a new password, after which the stranger’s opens nothing', async () => {
      await post('/request-password-reset', { email });
      const reset = await tokenFor(email, /Tollgate password/);
      expect((await post('/reset-password', { token: reset, newPassword: PASSWORD })).statusCode).toBe(200);
      expect(outcome(await verify(token, STRANGERS))).toEqual([401, 'wrong_password', 0]);
      expect((await post('/sign-in/email', { email, password: STRANGERS })).statusCode).toBe(401);
      const signedIn = await post('/sign-in/email', { email, password: PASSWORD });
      expect((await dashboard.ask({ path: '/api/keys', cookie: cookieOf(signedIn) })).json().keys).toHaveLength(1);
    });
  });

  describe('the browser that signed up', () => {
    const begin = async (email: string, password = PASSWORD) => {
      const cookie = cookieOf(await post('/sign-up/email', { email, password }));
      return { cookie, token: await tokenFor(email) };
    };
    const confirm = (token: string, cookie: string, headers: Record<string, string> = {}) =>
      dashboard.ask({ method: 'POST', path: '/api/auth/verify-email', body: { token }, cookie, headers, from: `203.0.113.${(asks += 1)}` });

    it('confirms with the link alone, once, for it has shown the password', async () => {
      const { cookie, token } = await begin('here@example.com');
      const answer = await confirm(token, cookie);
      expect(answer.statusCode).toBe(200);
      expect((await dashboard.ask({ path: '/api/session', cookie: cookieOf(answer) })).json().email).toBe('here@example.com');
      expect(answer.cookies).toContainEqual(expect.objectContaining({ name: 'tollgate.signed_up', value: '', maxAge: 0 }));
      expect(outcome(await confirm(token, cookie))).toEqual([400, 'invalid_request', 0]);
    });

    it('keeps the proof from scripts, other sites and other routes', async () => {
      const answer = await post('/sign-up/email', { email: 'kept@example.com', password: PASSWORD });
      expect(answer.cookies).toEqual([
        expect.objectContaining({
          name: 'tollgate.signed_up',
          httpOnly: true,
          sameSite: 'Strict',
          path: '/api/auth/verify-email',
          maxAge: 3_600,
        }),
      ]);
      expect(answer.body + dashboard.log()).not.toContain(answer.cookies[0]?.value);
    });

    it('confirms nothing for another address, nor with a proof that was changed or is too old', async () => {
      const own = await begin('own@example.com', STRANGERS);
      const other = await begin('other@example.com');
      const [, until = '', signature = ''] = /=(\d+)\.([\w-]+)/.exec(other.cookie) ?? [];
      const later = `tollgate.signed_up=${Number(until) + 60}.${signature}`;
      const past = `tollgate.signed_up=${Math.floor(Date.now() / 1_000) - 1}.${signature}`;
      for (const cookie of [own.cookie, later, past, `tollgate.signed_up=${until}.${'A'.repeat(43)}`, 'tollgate.signed_up=', 'a=b']) {
        expect(outcome(await confirm(other.token, cookie))).toEqual([400, 'invalid_request', 0]);
      }
      expect(await isVerified('other@example.com')).toBe(false);
      expect(outcome(await confirm(other.token, other.cookie, { origin: 'https://evil.example' }))).toEqual([403, 'forbidden', 0]);
    });

    it('has no proof of an account that somebody else began with the address, and is not told so', async () => {
      const email = 'begun@example.com';
      const stranger = await begin(email, STRANGERS);
      const again = await post('/sign-up/email', { email, password: PASSWORD });
      const [proof] = again.cookies;
      expect([again.statusCode, proof?.value.length]).toEqual([200, stranger.cookie.length - 'tollgate.signed_up='.length]);
      expect(outcome(await confirm(stranger.token, cookieOf(again)))).toEqual([400, 'invalid_request', 0]);
      expect(await isVerified(email)).toBe(false);
    });

    it('has no proof any more once the password is another', async () => {
      const email = 'changed@example.com';
      const { cookie, token } = await begin(email, STRANGERS);
      await post('/request-password-reset', { email });
      const reset = await tokenFor(email, /Tollgate password/);
      await post('/reset-password', { token: reset, newPassword: PASSWORD });
      expect(outcome(await confirm(token, cookie))).toEqual([400, 'invalid_request', 0]);
    });
  });

  describe('the link and the password together', () => {
    it('verify the address and sign in', async () => {
      const answer = await verify(await signUp('both@example.com'), PASSWORD);
      expect([answer.statusCode, answer.json()]).toEqual([200, { status: true }]);
      expect(answer.cookies).toEqual([expect.objectContaining({ name: 'tollgate.session_token', httpOnly: true, sameSite: 'Strict' })]);
      expect(await isVerified('both@example.com')).toBe(true);
      const session = await dashboard.ask({ path: '/api/session', cookie: cookieOf(answer) });
      expect(session.json().email).toBe('both@example.com');
    });

    it('used again sign in, and the link alone does nothing', async () => {
      const token = await signUp('again@example.com');
      const answers = await Promise.all([verify(token, PASSWORD), verify(token, PASSWORD)]);
      for (const answer of [...answers, await verify(token, PASSWORD)]) {
        expect((await dashboard.ask({ path: '/api/session', cookie: cookieOf(answer) })).json().email).toBe('again@example.com');
      }
      expect(outcome(await verify(token, 'a wrong password'))).toEqual([401, 'wrong_password', 0]);
    });
  });

  describe('a link that is too old', () => {
    it('is refused readably, and a new one works', async () => {
      const email = 'slow@example.com';
      await signUp(email);
      const answer = await verify(await signJWT({ email }, dashboard.secret, -1), PASSWORD);
      expect(outcome(answer)).toEqual([400, 'link_unusable', 0]);
      expect(answer.json().detail).toContain('more than an hour old');
      expect(await isVerified(email)).toBe(false);
      await post('/send-verification-email', { email });
      await eventually(() => mailsTo(email, /Confirm/).length === 2);
      expect((await verify(tokenOf(mailsTo(email, /Confirm/)[1]), PASSWORD)).statusCode).toBe(200);
    });
  });

  describe('wrong passwords', () => {
    it('count as attempts to sign in, by link and by address', async () => {
      const email = 'guessed@example.com';
      const token = await signUp(email);
      const guesses = await Promise.all(Array.from({ length: 12 }, () => verify(token, 'a wrong password', '198.18.0.1')));
      expect(guesses.map(({ statusCode }) => statusCode).sort()).toEqual([...Array<number>(10).fill(401), 429, 429]);
      expect((await verify(token, PASSWORD, '198.18.0.1')).statusCode).toBe(429);
      expect((await post('/sign-in/email', { email, password: PASSWORD }, '198.18.0.1')).statusCode).toBe(429);
      expect((await verify(token, PASSWORD, '198.18.0.2')).statusCode).toBe(200);
    });

    it('are limited from one address whatever the account', async () => {
      const tokens = await Promise.all(
        Array.from({ length: 24 }, (_, index) => signJWT({ email: `no${index}@example.com` }, dashboard.secret)),
      );
      const answers = await Promise.all(tokens.map((token) => verify(token, PASSWORD, '198.18.0.9')));
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([...Array<number>(20).fill(401), 429, 429, 429, 429]);
    });
  });

  describe('mail for verifying', () => {
    it('is sent for signing up and for asking, not for attempts to verify or to sign in', async () => {
      const email = 'quiet@example.com';
      const token = await signUp(email);
      for (const password of ['a wrong password', PASSWORD])
        expect((await post('/sign-in/email', { email, password })).cookies).toEqual([]);
      await verify(token, 'a wrong password');
      expect((await verify(token, PASSWORD)).statusCode).toBe(200);
      // Mail goes out in order: whatever the attempts had caused would be here before this.
      await post('/request-password-reset', { email });
      await tokenFor(email, /Tollgate password/);
      expect(mailsTo(email, /./).map(({ subject }) => subject)).toEqual([
        'Confirm your email address for Tollgate',
        'Reset your Tollgate password',
      ]);
    });
  });
});
