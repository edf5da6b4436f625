import { signJWT } from 'better-auth/crypto';
import { createCustomer } from '../../../services/selling/customers/create-customer';
import { createKey } from '../../../services/selling/keys/create-key';
import { eventually } from '../../support/eventually';
import { cookieOf, PASSWORD, useDashboard, tokenOf } from '../support/dashboard';

const dashboard = useDashboard();

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
  const { rows } = await dashboard.pool.query<{ verified: boolean }>('SELECT email_verified AS verified FROM auth_user WHERE email = $1', [
    email,
  ]);
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
    const email = 'late@example.com';
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
    for (const password of ['a wrong password', PASSWORD]) expect((await post('/sign-in/email', { email, password })).cookies).toEqual([]);
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
