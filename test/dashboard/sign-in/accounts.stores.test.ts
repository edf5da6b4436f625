import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { eventually } from '../../support/eventually';
import { cookieOf, linkOf, PASSWORD, tokenOf, useDashboard, verdict } from '../support/dashboard';

const dashboard = useDashboard();
/** Whose account is there from the start. */
const KNOWN = 'known@example.com';
beforeAll(() => dashboard.signIn(KNOWN));

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
const setUp = async (email: string): Promise<string> => {
  await dashboard.signIn(email);
  return cookieOf(await signIn(email));
};

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
    await setUp('taken@example.com');
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
    const [kept, other] = [await setUp('changer@example.com'), cookieOf(await signIn('changer@example.com'))];
    const body = { currentPassword: PASSWORD, newPassword: 'another long one', revokeOtherSessions: false };
    const changed = await post('/change-password', body, { cookie: kept });
    expect(changed.statusCode).toBe(200);
    expect((await dashboard.ask({ path: '/api/session', cookie: other })).statusCode).toBe(401);
    expect((await dashboard.ask({ path: '/api/session', cookie: cookieOf(changed) })).statusCode).toBe(200);
    expect((await signIn('changer@example.com')).statusCode).toBe(401);
  });

  it('are reset by mail, once a link; sessions end, and the address counts as verified', async () => {
    const email = 'forgetful@example.com';
    const before = await setUp(email);
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
    await secure.signIn('tls@example.com');
    const body = { email: 'tls@example.com', password: PASSWORD };
    const { cookies, headers } = await secure.ask({ method: 'POST', path: '/api/auth/sign-in/email', body });
    expect(cookies).toEqual([expect.objectContaining({ name: '__Secure-tollgate.session_token', secure: true, sameSite: 'Strict' })]);
    expect(headers['strict-transport-security']).toBeDefined();
  });

  it('are listed and ended one by one, or by signing out', async () => {
    const [one, two] = [await setUp('many@example.com'), cookieOf(await signIn('many@example.com'))];
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
    const cookie = await setUp('late@example.com');
    expect((await dashboard.ask({ path: '/api/session', cookie })).statusCode).toBe(200);
    await dashboard.pool.query("UPDATE auth_session SET expires_at = now() - interval '1 second'");
    expect(verdict(await dashboard.ask({ path: '/api/keys', cookie }))).toBe('401 not_signed_in');
  });

  it('of another customer cannot be ended', async () => {
    const [mine, theirs] = [await setUp('mine@example.com'), await setUp('theirs@example.com')];
    const { token } = (await dashboard.ask({ path: '/api/auth/get-session', cookie: theirs })).json().session;
    await post('/revoke-session', { token }, { cookie: mine });
    expect((await dashboard.ask({ path: '/api/session', cookie: theirs })).statusCode).toBe(200);
  });
});

describe('better-auth', () => {
  it.each(['/update-user', '/delete-user', '/change-email', '/link-social', '/sign-in/social', '/set-password'])(
    'is not reachable by %s',
    async (path) => {
      const cookie = await setUp(`${path.replaceAll('/', '')}@example.com`);
      expect((await post(path, { name: 'x', email: 'y@example.com' }, { cookie })).statusCode).toBe(404);
    },
  );
});
