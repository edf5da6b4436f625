import { verdict } from '../support/dashboard';
import { expectRefused, hasSession, useProviders } from './at-provider';
import { EMAIL, type Fault, other, own, published } from './fake-provider';

const { provider, dashboard, post, accounts, signIn } = useProviders();

describe('a provider at which somebody signs in', () => {
  it('says that a provider is away, and passwords go on; once it is back it works without a restart', async () => {
    provider().faults['*'] = 'down';
    const away = await post('/auth/sign-in/social', { provider: 'acme' });
    expect([verdict(away), away.json().detail]).toEqual(['503 provider_unavailable', expect.stringContaining('Acme does not answer')]);
    await dashboard().signIn('other@example.com');
    delete provider().faults['*'];
    expect(hasSession(await signIn())).toBe(true);
  });

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

    it.each([
      ['its tokens', '/token', {}],
      ['its keys', '/jwks', {}],
      ['the address of the person', '/userinfo', { claims: { email: undefined } }],
    ])(`${does}: of %s`, async (_what, path, said) => {
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
