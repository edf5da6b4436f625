import { compileWhitelist } from '../../plugins/core/access/whitelist';
import { bearer, call, recordOf } from './call-plugin';
import { type FakeRequest } from './fake-kong';

const PAGE = 'https://app.example.com';
const preflight = (changes: FakeRequest = {}): FakeRequest => ({
  method: 'OPTIONS',
  ...changes,
  headers: {
    origin: PAGE,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
    ...changes.headers,
  },
});
const withRules = (...rules: string[]) => ({ record: recordOf({ whitelist: compileWhitelist(rules) }) });
const from = (origin: string): FakeRequest => ({ headers: { ...bearer, origin } });

describe('a preflight', () => {
  it.each<[string, FakeRequest]>([
    ['without a key', preflight()],
    ['with a key in the query', preflight({ query: 'api_key=tg_live_any' })],
    ['of a page that no key names', preflight({ headers: { origin: 'null' } })],
    ['read by calls', preflight({ withoutVariable: true })],
  ])('%s is answered, charged to nobody and told to no store', async (_, request) => {
    const { exit, calls, decision, set } = await call(request, withRules('app.example.com'));
    expect(exit).toMatchObject({
      status: 200,
      headers: {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'Access-Control-Allow-Headers': 'authorization,content-type',
      },
    });
    expect(JSON.stringify(exit?.headers)).not.toContain('Credentials');
    expect([decision, set, calls.includes('set_headers')]).toEqual([undefined, {}, false]);
  });

  it('repeats no list of headers that is none', async () => {
    for (const list of ['a\tb', 'x'.repeat(1_001), 'a;b', '']) {
      const { exit } = await call(preflight({ headers: { 'access-control-request-headers': list } }));
      expect(exit?.headers).not.toHaveProperty('Access-Control-Allow-Headers');
    }
  });

  it.each<[string, FakeRequest]>([
    ['another method', preflight({ method: 'GET' })],
    ['no origin', { method: 'OPTIONS', headers: { 'access-control-request-method': 'GET' } }],
    ['no requested method', { method: 'OPTIONS', headers: { origin: PAGE } }],
    ['two origins', preflight({ headers: { origin: [PAGE, 'https://b.example'] } })],
    ['a requested method that is none', preflight({ headers: { 'access-control-request-method': 'GET, POST' } })],
  ])('is not one with %s: without a key it is refused', async (_, request) => {
    expect((await call(request)).code).toBe('key_missing');
  });
});

describe('an admitted answer', () => {
  it.each([
    ['https://app.example.com', ['app.example.com']],
    ['http://app.example.com:3000', ['app.example.com']],
    ['https://a.b.example.com', ['*.example.com', '10.0.0.0/8']],
    ['https://APP.example.com', ['203.0.113.7', 'app.example.com']],
  ])('may be read by a page of %s where the rules are %j', async (origin, rules) => {
    const { responseHeaders, calls, code } = await call(from(origin), withRules(...rules));
    expect(code).toBeUndefined();
    expect(responseHeaders).toMatchObject({ 'Access-Control-Allow-Origin': origin, Vary: 'Origin' });
    const exposed = String(responseHeaders['Access-Control-Expose-Headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['RateLimit', 'RateLimit-Policy', 'X-Tollgate-Charged', 'X-Tollgate-Mode']));
    expect(responseHeaders).not.toHaveProperty('Access-Control-Allow-Credentials');
    // One read, then the writes together: the budget of a request from elsewhere.
    expect(calls).toEqual(['get_var', 'set_headers', 'response.set_headers']);
  });

  it.each([
    ['of another origin, whose address is named', 'https://evil.example', ['app.example.com', '203.0.113.7'], { Vary: 'Origin' }],
    ['of no origin', 'null', ['app.example.com', '203.0.113.7'], { Vary: 'Origin' }],
    ['with a path behind its origin', 'https://app.example.com/x', ['app.example.com', '203.0.113.7'], { Vary: 'Origin' }],
    ['whose key names no domain', 'https://app.example.com', ['203.0.113.7'], {}],
    ['whose key has no rules', 'https://app.example.com', [], {}],
  ])('may not be read by a page %s', async (_, origin, rules, headers) => {
    const { responseHeaders, code } = await call(from(origin), withRules(...rules));
    expect([code, responseHeaders]).toEqual([undefined, headers]);
  });

  it('costs no call more where no key names a domain', async () => {
    expect((await call({ headers: bearer }, withRules('203.0.113.7'))).calls).toEqual(['get_var', 'set_headers']);
  });

  it('does not take Referer for an origin', async () => {
    const { responseHeaders } = await call({ headers: { ...bearer, referer: `${PAGE}/page` } }, withRules('app.example.com'));
    expect(responseHeaders).toEqual({ Vary: 'Origin' });
  });
});

describe('a refusal', () => {
  const rules = { whitelist: compileWhitelist(['app.example.com']) };
  const usedUp = { id: 's', product: 'api-ip', plan: null, state: 'active', limits: { daily: 0, monthly: 9 } } as const;

  it.each([
    ['an expired key', { ...rules, expiresAtMs: 1 }, 'key_expired'],
    ['another product', { ...rules, products: [] }, 'product_not_authorised'],
    ['a missing subscription', { ...rules, subscriptions: [] }, 'subscription_missing'],
    ['a used-up quota', { ...rules, subscriptions: [usedUp] }, 'quota_daily_exceeded'],
  ])('of %s may be read by the pages that the key names', async (_, changes, code) => {
    const answer = await call(from(PAGE), { record: recordOf(changes) });
    expect([answer.code, answer.exit?.headers['Access-Control-Allow-Origin']]).toEqual([code, PAGE]);
  });

  it.each([
    ['an inactive key, which reads as unknown', recordOf({ ...rules, state: 'inactive' })],
    ['an unknown key', undefined],
  ])('of %s tells pages nothing', async (_, record) => {
    const answer = await call(from(PAGE), { records: { findAccessRecord: () => Promise.resolve(record) } });
    expect(answer.code).toBe('key_unknown');
    expect(Object.keys(answer.exit?.headers ?? {}).filter((name) => /^(access-control|vary)/i.test(name))).toEqual([]);
  });

  it('of a page that no rule names tells it nothing', async () => {
    const answer = await call(from('https://evil.example'), { record: recordOf(rules) });
    expect([answer.code, answer.exit?.headers['Access-Control-Allow-Origin']]).toEqual(['caller_not_whitelisted', undefined]);
    expect(answer.exit?.headers['Vary']).toBe('Origin');
  });
});
