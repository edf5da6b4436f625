import { type LightMyRequestResponse } from 'fastify';
import { eventually } from '../../support/eventually';
import { firstOf } from '../../support/scenes';
import { cookieOf, empty, ORIGIN, PASSWORD, tokenOf, verdict } from '../support/dashboard';
import { livingCookies as living } from '../support/operator';
import { secretOf, unusedTotpOf } from '../support/totp';
import { expectRefused, hasSession, leadsTo, useProviders } from './fake-provider';
import { CLIENT, EMAIL, type Fault, other, own, published, type Said, SECRET } from './fake-provider';

/** One dashboard for all that leave their provider as it is. */
const kept = useProviders(beforeAll, afterAll);
beforeEach(() => empty(kept.dashboard()));

describe('signing in by a provider', () => {
  const { provider, dashboard, post, actions, accounts, begin, comeBack, signIn, connect, session } = kept;

  it('makes an account of whom the provider has verified, and leads back by a page of ours', async () => {
    const signedIn = await signIn({}, '/keys?mode=test');
    expect(leadsTo(signedIn)).toBe('303 /signed-in?then=%2Fkeys%3Fmode%3Dtest');
    expect((await session(living(signedIn))).json()).toMatchObject({ email: EMAIL, role: 'owner' });
    expect(await accounts()).toEqual([`${EMAIL} acme`]);
    expect(await actions()).toEqual([['account.sign_in', { with: 'Acme' }]]);
  });

  it('asks with state, nonce and a challenge, for no more than the address, in a lax cookie that goes to the way back only', async () => {
    const begun = await post('/auth/sign-in/social', { provider: 'acme' });
    const { origin, searchParams } = new URL(begun.json<{ url: string }>().url);
    expect(origin).toBe(provider().issuer);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: CLIENT,
      response_type: 'code',
      redirect_uri: `${ORIGIN}/api/auth/callback/acme`,
      scope: 'openid email',
      state: expect.stringMatching(/.{30}/),
      nonce: expect.stringMatching(/.{40}/),
      code_challenge: expect.stringMatching(/.{40}/),
      code_challenge_method: 'S256',
    });
    expect(begun.cookies).toEqual([
      expect.objectContaining({ name: 'tollgate.state', sameSite: 'Lax', httpOnly: true, path: '/api/auth/callback' }),
    ]);
    expect(await signIn().then(({ cookies }) => cookies.find(({ name }) => name === 'tollgate.session_token'))).toMatchObject({
      sameSite: 'Strict',
      httpOnly: true,
    });
  });

  it('knows the person again, even where the provider knows another address by now', async () => {
    await signIn();
    const again = await signIn({ claims: { email: 'new@example.com', email_verified: false } });
    expect((await session(living(again))).json().email).toBe(EMAIL);
    expect(await accounts()).toEqual([`${EMAIL} acme`]);
  });

  it('keeps none of the provider’s tokens, and logs neither token nor secret', async () => {
    await signIn();
    const { rows } = await dashboard().pool.query('SELECT * FROM auth_account');
    expect(rows).toEqual([expect.objectContaining({ access_token: null, refresh_token: null, id_token: null, scope: null })]);
    for (const each of ['opaque-access-token', SECRET, 'code-0']) expect(dashboard().log()).not.toContain(each);
  });

  it('never opens an account that has the same address and was not connected', async () => {
    await dashboard().signIn(EMAIL);
    expectRefused(await signIn(), 'exists');
    expect(await accounts()).toEqual([`${EMAIL} credential`]);
  });

  it('works once, in the browser that began it, at the provider that it began with', async () => {
    const begun = await begin();
    expectRefused(await comeBack(begun, { code: provider().consent(begun.url, {}) }), 'expired');
    const elsewhere = await begin();
    expectRefused(
      await comeBack(elsewhere, { code: provider().consent(elsewhere.url, {}), cookie: elsewhere.cookie, at: 'other' }),
      'failed',
    );
    const good = await begin();
    const code = provider().consent(good.url, {});
    expect(hasSession(await comeBack(good, { code, cookie: good.cookie }))).toBe(true);
    expectRefused(await comeBack(good, { code, cookie: good.cookie }), 'expired');
  });

  it('leads nowhere but to pages of ours, and shows none of the provider’s words', async () => {
    const outside = await signIn({}, 'https://evil.example/');
    expect(outside.headers.location).toBe('/signed-in?then=https%3A%2F%2Fevil.example%2F');
    const { url, cookie } = await begin('/keys');
    const state = new URL(url).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error: 'access_denied', error_description: 'call +1 555 0100', state });
    const denied = await dashboard().ask({ path: `/api/auth/callback/acme?${query.toString()}`, cookie });
    expect(leadsTo(denied)).toBe('303 /sign-in?then=%2Fkeys&provider=denied');
  });

  it('asks whoever has a second factor for it', async () => {
    const cookie = await dashboard().signIn(EMAIL);
    await connect(cookie);
    const begun = await post('/auth/two-factor/enable', { password: PASSWORD }, cookie);
    const secret = secretOf(begun.json<{ totpURI: string }>().totpURI);
    await post('/auth/two-factor/verify-totp', { code: await unusedTotpOf(secret) }, cookie);
    const half = await signIn({}, '/keys');
    expect([leadsTo(half), hasSession(half)]).toEqual(['303 /second-step?then=%2Fkeys', false]);
    expect((await session(living(half))).statusCode).toBe(401);
    const whole = await post('/auth/two-factor/verify-totp', { code: await unusedTotpOf(secret) }, living(half));
    expect((await session(living(whole))).json()).toMatchObject({ email: EMAIL, hasSecondFactor: true });
  });

  it('keeps an account within the grace of its deletion, as a password does', async () => {
    const cookie = await dashboard().signIn(EMAIL);
    await connect(cookie);
    expect((await post('/account/delete', { password: PASSWORD }, cookie)).statusCode).toBe(200);
    expect(hasSession(await signIn())).toBe(true);
    expect((await actions()).map(([action]) => action)).toContain('account.keep');
  });

  it('opens no operator’s account, whatever the provider says', async () => {
    const cookie = await dashboard().signIn(EMAIL);
    await connect(cookie);
    await dashboard().pool.query('INSERT INTO operator (user_id) SELECT id FROM auth_user');
    expectRefused(await signIn(), 'operator');
    expect((await post('/account/ways', { provider: 'other', password: PASSWORD }, cookie)).json().code).toBe('customers_only');
  });

  it('asks GitHub, which signs nothing, for the primary address of the account and whether it is verified', async () => {
    const at = 'github';
    const signInAt = async (said: Said): Promise<LightMyRequestResponse> => {
      const begun = await begin(undefined, at);
      expect(begun.url).toMatch(/\/login\/oauth\/authorize\?.*scope=read%3Auser\+user%3Aemail.*code_challenge_method=S256/);
      return comeBack(begun, { code: provider().consent(begun.url, said), cookie: begun.cookie, at });
    };
    expect(leadsTo(await signInAt({ claims: { email_verified: false } }))).toBe('303 /sign-in?provider=unverified');
    expect((await session(living(await signInAt({})))).json().email).toBe(EMAIL);
    expect(await accounts()).toEqual([`${EMAIL} github`]);
  });

  it('gives a person nobody else’s account whose address the provider says by now, and says the same of an unverified one that has an account', async () => {
    await signIn();
    await dashboard().signIn('birk@example.com');
    const moved = await signIn({ claims: { email: 'birk@example.com' } });
    expect((await session(living(moved))).json().email).toBe(EMAIL);
    for (const email of ['birk@example.com', 'nobody@example.com']) {
      expectRefused(await signIn({ claims: { sub: 'person-3', email, email_verified: false } }), 'unverified');
    }
    expect(await accounts()).toEqual([`${EMAIL} acme`, 'birk@example.com credential']);
  });

  it('knows no provider that is not configured', async () => {
    expect((await post('/auth/sign-in/social', { provider: 'google' })).statusCode).toBe(404);
    expect((await dashboard().ask({ path: '/api/auth/callback/google?code=x&state=y' })).statusCode).toBe(404);
    expect((await dashboard().ask({ path: '/api/installation' })).json().providers).toEqual([
      { id: 'acme', name: 'Acme' },
      { id: 'other', name: 'Other' },
      { id: 'github', name: 'GitHub' },
    ]);
  });
});

describe('signing in with what nobody is let in with', () => {
  const { accounts, signIn } = kept;

  it.each<[string, Said]>([
    ['another audience', { claims: { aud: 'somebody else' } }],
    ['another issuer', { claims: { iss: 'https://issuer.example' } }],
    ['another nonce', { claims: { nonce: 'of another sign-in' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['a time that is over', { claims: { exp: 1_000 } }],
    ['a signature of another key', { isForged: true }],
    ['several audiences and another party', { claims: { aud: [CLIENT, 'somebody else'], azp: 'somebody else' } }],
    ['a time that has not come', { claims: { nbf: Date.now() / 1_000 + 600 } }],
    ['a time of ten minutes ago', { claims: { iat: Date.now() / 1_000 - 660, exp: Date.now() / 1_000 - 600 } }],
    ['an audience that is one of its own clients', { claims: { aud: ['tollgate-other'] } }],
    ['another issuer that begins alike', { claims: { iss: 'http://127.0.0.1.evil.example' } }],
    ['no signature', { alg: 'none' }],
    [
      'a signature by its public key as a secret',
      { alg: 'HS256', secret: own.publicKey.export({ type: 'spki', format: 'pem' }).toString() },
    ],
    ['a signature by its public key as it publishes it', { alg: 'HS256', secret: JSON.stringify(published(own, 'one')) }],
    ['a key that the token brings along', { isForged: true, header: { jwk: published(other, 'one') } }],
    ['a key at an address that the token names', { isForged: true, header: { jku: 'https://evil.example/jwks' } }],
    ['a key that it does not publish by name', { isForged: true, header: { kid: 'two' } }],
    ['an interface of its own, and nobody’s identity', { hasNoIdentity: true }],
    ['a signature by the secret that both know', { alg: 'HS256' }],
    ['no id of the person', { claims: { sub: '' } }],
    ['an id that no provider may give', { claims: { sub: 'p'.repeat(256) } }],
    ['an id that cannot be kept', { claims: { sub: 'person\0one' } }],
  ])('is refused with what the provider signed for %s', async (_what, said) => {
    expectRefused(await signIn(said), 'failed');
    expect(await accounts()).toEqual([]);
  });

  it.each([
    ['not verified', { email_verified: false }],
    ['of which nothing is said', { email_verified: undefined }],
    ['verified in another type', { email_verified: 'true' }],
    ['with a letter that small letters make another', { email: '\u212Aate@example.com' }],
    ['that turns its reader’s direction', { email: 'asha\u202Emoc.elpmaxe@evil.example' }],
    ['that cannot be kept', { email: 'asha\0@example.com' }],
    ['that is a list', { email: 'asha@example.com,birk@example.com' }],
    ['that is longer than mail can go', { email: `${'a'.repeat(250)}@example.com` }],
  ])('is refused with an address %s', async (_what, claims) => {
    expectRefused(await signIn({ claims }), 'unverified');
    expect(await accounts()).toEqual([]);
  });
});

describe('connecting a provider to an account', () => {
  const { dashboard, post, actions, accounts, signIn, connect, session } = kept;
  const ways = async (cookie: string) => (await dashboard().ask({ path: '/api/account/ways', cookie })).json();

  it('takes the password, tells the owner by mail, and is in the audit log', async () => {
    const cookie = await dashboard().signIn(EMAIL);
    expect(verdict(await post('/account/ways', { provider: 'acme', password: 'not the password' }, cookie))).toBe('400 invalid_password');
    const connected = await connect(cookie, { claims: { email: 'asha@work.example' } });
    expect(leadsTo(connected)).toBe('303 /account?provider=connected');
    expect(await ways(cookie)).toEqual({
      hasPassword: true,
      connected: [{ id: expect.any(String), name: 'Acme', since: expect.any(String) }],
      passkeys: [],
      offered: [
        { id: 'other', name: 'Other' },
        { id: 'github', name: 'GitHub' },
      ],
    });
    expect(await actions()).toContainEqual(['account.provider_connect', { provider: 'Acme' }]);
    expect(dashboard().mails.at(-1)).toMatchObject({ to: EMAIL, subject: 'Your Tollgate account is connected to Acme' });
    expect((await session(living(await signIn()))).json().email).toBe(EMAIL);
  });

  it('is refused for a person of the provider who opens another account, and for an address that is not verified', async () => {
    await signIn();
    const cookie = await dashboard().signIn('birk@example.com');
    expect(leadsTo(await connect(cookie))).toBe('303 /account?provider=elsewhere');
    const unverified = await connect(cookie, { claims: { sub: 'person-2', email_verified: false } });
    expect(leadsTo(unverified)).toBe('303 /account?provider=unverified');
    expect((await ways(cookie)).connected).toEqual([]);
  });

  it('is undone with every other session, and never takes the last way in', async () => {
    const cookie = await dashboard().signIn(EMAIL);
    await connect(cookie);
    const other = living(await signIn());
    const { id } = (await ways(cookie)).connected[0];
    const remove = (by: string, body: unknown) => dashboard().ask({ method: 'DELETE', path: `/api/account/ways/${id}`, body, cookie: by });
    const stranger = await dashboard().signIn('birk@example.com');
    expect((await remove(stranger, { password: PASSWORD })).statusCode).toBe(404);
    expect((await remove(cookie, {})).statusCode).toBe(400);
    expect((await remove(cookie, { password: PASSWORD })).statusCode).toBe(200);
    expect([(await session(other)).statusCode, (await session(cookie)).statusCode]).toEqual([401, 200]);
    expect(await actions()).toContainEqual(['account.provider_disconnect', { provider: 'Acme' }]);
  });

  it('leaves an account without a password its only provider, until a password is set by mail', async () => {
    const cookie = living(await signIn());
    const { hasPassword, connected } = await ways(cookie);
    expect(hasPassword).toBe(false);
    const remove = (by: string, body: unknown) =>
      dashboard().ask({ method: 'DELETE', path: `/api/account/ways/${connected[0].id}`, body, cookie: by });
    expect(verdict(await remove(cookie, {}))).toBe('409 last_way');
    await post('/auth/request-password-reset', { email: EMAIL });
    await eventually(() => dashboard().mails.length > 0);
    const token = tokenOf(dashboard().mails.at(-1));
    expect((await post('/auth/reset-password', { newPassword: PASSWORD, token })).statusCode).toBe(200);
    const again = cookieOf(await post('/auth/sign-in/email', { email: EMAIL, password: PASSWORD }));
    expect((await remove(again, { password: PASSWORD })).statusCode).toBe(200);
    expect(await accounts()).toEqual([`${EMAIL} credential`]);
  });
});

/** What is known of a provider is kept, so each begins with another. */
describe('a provider at which somebody signs in', () => {
  const { provider, dashboard, post, accounts, signIn } = useProviders();

  it('says that a provider is away, and passwords go on; once it is back it works without a restart', async () => {
    provider().faults['*'] = 'down';
    const away = await post('/auth/sign-in/social', { provider: 'acme' });
    expect([verdict(away), away.json().detail]).toEqual(['503 provider_unavailable', expect.stringContaining('Acme does not answer')]);
    await dashboard().signIn('other@example.com');
    delete provider().faults['*'];
    expect(hasSession(await signIn())).toBe(true);
  });

  // Each fault at what it says of itself and at its tokens; at its keys and the person's address in `npm run test:all`.
  describe.each<[Fault, string]>([
    ['endless', 'reads no more than a bounded answer'],
    ['silent', 'waits a bounded time for an answer'],
    ['redirect', 'follows no answer to another address'],
  ])('of a provider that is %s', (fault, does) => {
    beforeEach(() => {
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      // Five seconds, which no test need wait for: they are over a moment after the provider is silent, and not before on a busy machine.
      const overAt = new AbortController();
      jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => (ms === 5_000 ? overAt.signal : timeout(ms)));
      provider().onSilence = () => void setTimeout(() => overAt.abort(new DOMException('', 'TimeoutError')), 50);
    });
    afterEach(() => {
      jest.restoreAllMocks();
      expect(provider().asked).not.toContain('GET /internal');
      expect(provider().asked).not.toContain('POST /internal');
    });

    it(`${does}: of what it says of itself`, async () => {
      provider().faults['*'] = fault;
      expect((await post('/auth/sign-in/social', { provider: 'acme' })).json().code).toBe('provider_unavailable');
    });

    it.each(
      firstOf([
        ['its tokens', '/token', {}],
        ['its keys', '/jwks', {}],
        ['the address of the person', '/userinfo', { claims: { email: undefined } }],
      ] as const),
    )(`${does}: of %s`, async (_what, path, said) => {
      provider().faults[path] = fault;
      expectRefused(await signIn(said), 'failed');
      expect(provider().asked.filter((each) => each.endsWith(path))).toHaveLength(1);
      delete provider().faults[path];
      jest.restoreAllMocks();
      expect(hasSession(await signIn(said))).toBe(true);
    });
  });

  it('takes the address that the provider says of the same person on request, and of no other', async () => {
    provider().userinfo = { sub: 'person-2', email: 'birk@example.com', email_verified: true };
    expectRefused(await signIn({ claims: { email: undefined } }), 'failed');
    provider().userinfo = { sub: 'person-1', email: EMAIL, email_verified: 'yes' };
    expectRefused(await signIn({ claims: { email: undefined } }), 'unverified');
    expect(await accounts()).toEqual([]);
  });

  it('finds the key among thousands, and asks for keys no more often for tokens of keys that nobody has', async () => {
    const many = Array.from({ length: 2_000 }, (_, number) => published(other, `old-${number}`));
    provider().keys = { ...provider().keys, published: [...many, published(own, 'one')] };
    expect(hasSession(await signIn())).toBe(true);
    for (const kid of ['two', 'three', 'four']) expectRefused(await signIn({ isForged: true, header: { kid } }), 'failed');
    expect(provider().asked.filter((each) => each === 'GET /jwks')).toHaveLength(1);
  });

  it('takes the provider’s next key within a minute of its change, and the one before no more', async () => {
    expect(hasSession(await signIn())).toBe(true);
    provider().keys = { kid: 'two', signing: other, published: [published(other, 'two')] };
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 61_000);
    try {
      expect(hasSession(await signIn())).toBe(true);
      provider().keys = { ...provider().keys, kid: 'one', signing: own };
      expectRefused(await signIn(), 'failed');
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('takes a token of a clock that is 20 seconds off', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    expect(hasSession(await signIn({ claims: { iat: seconds + 20, nbf: seconds + 20, exp: seconds + 80 } }))).toBe(true);
    expect(hasSession(await signIn({ claims: { iat: seconds - 80, exp: seconds - 20 } }))).toBe(true);
  });

  it.each([
    ['script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['another issuer', { issuer: 'https://issuer.example' }],
  ])('leads nobody to a provider that describes itself with %s', async (_what, metadata) => {
    Object.assign(provider().metadata, metadata);
    const begun = await post('/auth/sign-in/social', { provider: 'acme' });
    expect([begun.statusCode >= 400, begun.body.includes('javascript')]).toEqual([true, false]);
  });

  it('sends a code and a secret to no address without TLS but on its own machine', async () => {
    provider().metadata['token_endpoint'] = 'http://169.254.169.254/token';
    expectRefused(await signIn(), 'failed');
    expect(provider().asked).not.toContain('POST /token');
  });
});
