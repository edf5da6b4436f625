import { compileWhitelist } from '../../plugins/core/access/whitelist';
import { bearer, call, recordOf, contextKeys, key } from './call-plugin';
import { type FakeRequest, type FakeOutcome, memoryQuota, NOW_MS } from './fake-kong';
import { type AccessLink, createLinkKeys, openLink, sealLink } from '../../plugins/core/proof/access-link';
import { hashApiKey } from '../../plugins/core/access/api-key';
import { CONTEXT_HEADER } from '../../plugins/core/proof/context-token';
import { type AccessRecord, StoreUnavailable, type DecisionTracer } from '../../plugins/core/ports';
import { explainRequest } from '../../services/selling/requests/explain';
import { verifyContext } from '../../plugins/core/proof/verify-context';

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

const keys = createLinkKeys([{ id: 'k1', secret: Buffer.alloc(32, 1) }]);
const NOW = NOW_MS / 1000;

const link: AccessLink = {
  product: 'api-gdplay',
  credentialId: 'cred-1',
  subscriptionId: 'sub-1',
  grant: { viewing: 'viewing-1', resource: 'file-1', allowance: 1_000, expiresAt: NOW + 60 },
};
const tokenOf = (changes: Partial<AccessLink> = {}): string => sealLink({ ...link, ...changes }, keys);

const subscription = { id: 'sub-1', product: 'api-gdplay', plan: 'Star', state: 'active', limits: { daily: 1, monthly: 1 } } as const;
const gdplayRecord = (changes: Partial<AccessRecord> = {}): AccessRecord =>
  recordOf({ products: ['api-gdplay'], subscriptions: [subscription], ...changes });

interface Setup {
  readonly record?: AccessRecord | undefined;
  readonly products?: string[];
  readonly findKeyHash?: (credentialId: string) => Promise<string | undefined>;
  readonly isOff?: boolean;
}

const ownKeyHash = (id: string) => Promise.resolve(id === 'cred-1' ? hashApiKey(key) : undefined);
const open = (token: string, nowSeconds: number) => openLink(token, keys, nowSeconds);

async function byLink(request: FakeRequest, { products = ['api-gdplay'], findKeyHash = ownKeyHash, isOff = false, ...setup }: Setup = {}) {
  const quota = memoryQuota();
  const record = 'record' in setup ? setup.record : gdplayRecord();
  const outcome = await call(request, { config: { products }, record, quota, deps: isOff ? {} : { links: { open, findKeyHash } } });
  return { ...outcome, used: quota.used };
}

const withLink = (token = tokenOf(), more: FakeRequest = {}): FakeRequest => ({ query: `link=${token}`, ...more });

const proofOf = ({ set }: FakeOutcome, links: boolean) =>
  verifyContext(String(set[CONTEXT_HEADER]), contextKeys, { products: ['api-gdplay'], links, nowSeconds: NOW });

describe('a request with a link in place of a key', () => {
  it('is admitted for its resource alone, charged nothing, and its service never sees the link', async () => {
    const outcome = await byLink({ query: `a=1&link=${tokenOf()}&b=2` });
    expect(outcome.exit).toBeUndefined();
    expect(outcome.query).toBe('a=1&b=2');
    expect(proofOf(outcome, true)).toMatchObject({
      ok: true,
      context: { credentialId: 'cred-1', subscriptionId: 'sub-1', chargedDay: null, quota: null, link: link.grant },
    });
    expect(outcome.used.size).toBe(0);
  });

  it('has a proof that counts for nothing where links are not expected', async () => {
    expect(proofOf(await byLink(withLink()), false)).toEqual({ ok: false, reason: 'misdirected' });
  });

  it('is recorded without the link, and explained', async () => {
    const { decision } = await byLink(withLink());
    expect(JSON.stringify(decision)).not.toContain('tgl_');
    expect(decision).toMatchObject({ outcome: 'admitted', keyPlace: 'link', credentialId: 'cred-1', quota: undefined });
    if (!decision) throw new Error('nothing was recorded');
    const saw = explainRequest(decision, { reader: 'customer', nowMs: 0 }).checks.map((check) => check.saw);
    expect([saw[0], saw.at(-1)]).toEqual(['a link in its place', 'counted when the link was made']);
  });

  it.each([
    ['a revoked key', gdplayRecord({ state: 'revoked' }), 'key_unknown'],
    ['a switched-off key', gdplayRecord({ state: 'inactive' }), 'key_unknown'],
    ['a suspended key', gdplayRecord({ suspended: 'abuse' }), 'key_unknown'],
    ['an expired key', gdplayRecord({ expiresAtMs: NOW_MS }), 'key_expired'],
    ['a key that the store has no longer', undefined, 'key_unknown'],
    ['a key without the product', gdplayRecord({ products: ['api-ip'] }), 'product_not_authorised'],
    ['a subscription that ended', gdplayRecord({ subscriptions: [] }), 'subscription_missing'],
    ['a paused subscription', gdplayRecord({ subscriptions: [{ ...subscription, state: 'paused' }] }), 'subscription_inactive'],
    ['a suspended subscription', gdplayRecord({ subscriptions: [{ ...subscription, suspended: '' }] }), 'subscription_inactive'],
    ['another subscription than paid for it', gdplayRecord({ subscriptions: [{ ...subscription, id: 'sub-2' }] }), 'link_not_valid'],
    ['a caller whom the rules do not name', gdplayRecord({ whitelist: compileWhitelist(['10.0.0.0/8']) }), 'caller_not_whitelisted'],
  ])('is refused as its key would be: %s', async (_, record, code) => {
    const { exit, used } = await byLink(withLink(), { record });
    expect([exit?.status, exit?.body['code'], used.size]).toEqual([401, code, 0]);
  });

  it('is admitted from a page that a domain rule of the key names', async () => {
    const record = gdplayRecord({ whitelist: compileWhitelist(['shop.example.com']) });
    const from = (referer: string) => byLink(withLink(tokenOf(), { headers: { referer } }), { record });
    expect((await from('https://shop.example.com/film')).code).toBeUndefined();
    expect((await from('https://elsewhere.example.com/')).code).toBe('caller_not_whitelisted');
  });

  it.each([
    ['expired', tokenOf({ grant: { ...link.grant, expiresAt: NOW } })],
    ['of another product', tokenOf({ product: 'api-ip' })],
    ['forged', `${tokenOf().slice(0, -3)}AAA`],
    ['for another address', tokenOf({ address: '203.0.113.8' })],
  ])('is refused when the link is %s', async (_, token) => {
    const { exit } = await byLink(withLink(token));
    expect([exit?.status, exit?.body['code']]).toEqual([401, 'link_not_valid']);
  });

  it('holds for its one address in any spelling of it', async () => {
    const token = tokenOf({ address: '203.0.113.7' });
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7']) expect((await byLink(withLink(token, { address }))).code).toBeUndefined();
  });

  it('is refused with two links, and on a route of another product', async () => {
    expect((await byLink({ query: `link=${tokenOf()}&link=${tokenOf()}` })).code).toBe('link_not_valid');
    expect((await byLink(withLink(), { products: ['api-ip'] })).code).toBe('link_not_valid');
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', ''])('changes nothing: with the method "%s" it is no link', async (method) => {
    expect((await byLink(withLink(tokenOf(), { method }))).code).toBe('key_missing');
  });

  it('is refused where links are not set up', async () => {
    expect((await byLink(withLink(), { isOff: true })).code).toBe('link_not_valid');
  });

  it('is refused when the key cannot be looked up', async () => {
    const findKeyHash = () => Promise.reject(new StoreUnavailable('gone'));
    expect((await byLink(withLink(), { findKeyHash })).exit?.status).toBe(503);
  });

  it('costs no look-up unless its seal holds', async () => {
    let asked = 0;
    const findKeyHash = () => Promise.resolve(void (asked += 1));
    await byLink(withLink(`${tokenOf().slice(0, -3)}AAA`), { findKeyHash });
    expect(asked).toBe(0);
  });
});

describe('a request with a key', () => {
  it('is judged by its key alone, and a parameter called link stays', async () => {
    const outcome = await byLink(withLink(tokenOf(), { headers: { 'x-api-key': key } }));
    expect([outcome.code, outcome.query, outcome.used.get('sub-1')]).toEqual([undefined, undefined, 1]);
  });

  it('is not offered a link in place of a missing one when the parameter is something else', async () => {
    expect((await byLink({ query: 'link=https://example.com' })).code).toBe('key_missing');
  });
});

const refusal = async (type: string, headers: Record<string, string> = {}, record = recordOf()) =>
  (await call({ headers: { 'content-type': type, ...headers } }, { record })).exit;

describe('a refusal of a client that speaks gRPC', () => {
  it.each(['application/grpc', 'application/grpc+proto', 'application/grpc;charset=utf-8', 'Application/gRPC'])(
    'is a head with status 200 that gRPC reads, and no body: %s',
    async (type) => {
      expect(await refusal(type)).toEqual({
        status: 200,
        body: {},
        headers: expect.objectContaining({
          'Content-Type': 'application/grpc',
          'grpc-status': '16',
          'grpc-message': expect.stringMatching(/^key_missing: Send your API key/),
          'WWW-Authenticate': 'Bearer realm="tollgate"',
        }),
      });
    },
  );

  it.each(['application/grpc-web', 'application/grpc-web+proto', 'application/grpcish', 'text/application/grpc', 'application/json'])(
    'is one of HTTP for any other: %s',
    async (type) => expect(await refusal(type)).toMatchObject({ status: 401, body: { code: 'key_missing' } }),
  );

  it('names the limit that is reached, and has no bytes that a message of gRPC may not have', async () => {
    const limits = { daily: 0, monthly: 3 };
    const [subscription] = recordOf().subscriptions;
    const record = recordOf({ subscriptions: subscription ? [{ ...subscription, limits }] : [] });
    const request = { headers: { ...bearer, 'content-type': 'application/grpc' } };
    const { exit } = await call(request, { record });
    expect(exit?.headers).toMatchObject({ 'grpc-status': '8', 'Retry-After': expect.any(String), RateLimit: expect.any(String) });
    expect(exit?.headers['grpc-message']).toMatch(/^quota_daily_exceeded: [ -~]*$/);
  });

  it('never ends a request that is admitted', async () => {
    const { exit, set } = await call({ headers: { ...bearer, 'content-type': 'application/grpc' } });
    expect([exit, Object.keys(set)]).toEqual([undefined, ['X-Tollgate-Context']]);
  });
});

const config = { consumer: true };
const named = (customerName?: string) => ({ config, record: recordOf({ customerName }) });
const FORGED = {
  'x-consumer-id': 'somebody',
  'x-consumer-custom-id': 'somebody',
  'x-consumer-groups': 'admins',
  x_consumer_username: 'somebody',
  'x-anonymous-consumer': 'true',
};

describe('a route that hands over the consumer', () => {
  it('tells Kong the customer and the key, and the service the same in Kong’s headers', async () => {
    const { client, set } = await call({ headers: bearer }, named('Acme Ltd'));
    const { credentialId, customerId } = recordOf();
    expect(client).toEqual({
      consumer: { id: customerId, username: 'Acme Ltd' },
      credential: { id: credentialId, consumer_id: customerId },
    });
    expect(set).toMatchObject({ 'x-consumer-id': customerId, 'x-consumer-username': 'Acme Ltd', 'x-credential-identifier': credentialId });
  });

  it.each([
    ['no name', undefined, recordOf().customerId],
    ['a name of control characters', '\r\n\u0000', recordOf().customerId],
    ['a name with a line feed', 'Acme\r\nX-Admin: 1', 'Acme X-Admin: 1'],
    ['a name in another script', 'Größe 株式会社', 'Größe 株式会社'],
  ])('takes %s', async (_what, name, username) => {
    expect((await call({ headers: bearer }, named(name))).set).toMatchObject({ 'x-consumer-username': username });
  });

  it('removes what the client says of a consumer, in either spelling', async () => {
    const { cleared, set } = await call({ headers: { ...bearer, ...FORGED }, withoutVariable: true }, named('Acme'));
    expect(cleared).toEqual(
      expect.arrayContaining(['x-consumer-custom-id', 'x-consumer-groups', 'x_consumer_username', 'x-anonymous-consumer']),
    );
    expect(Object.keys(set).filter((name) => /consumer/.test(name))).toEqual(['x-consumer-id', 'x-consumer-username']);
  });

  it('makes no call more when it is off, and none for a request that is refused or not enforced', async () => {
    const off = await call({ headers: bearer });
    const refused = await call({}, { config });
    const tried = await call({ headers: bearer }, { config: { ...config, enforce: false } });
    for (const { calls, set } of [off, refused, tried]) {
      expect(calls).not.toContain('authenticate');
      expect(Object.keys(set).some((name) => name.includes('consumer'))).toBe(false);
    }
    const on = await call({ headers: bearer }, { config });
    expect(on.calls).toEqual([...off.calls, 'authenticate']);
  });
});

const theirs = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const ours = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
const headers = { 'x-api-key': key, traceparent: theirs };

/** Writes down what it is told. */
function notingTracer(): DecisionTracer & { readonly notes: unknown[] } {
  const notes: unknown[] = [];
  return {
    notes,
    begin(given) {
      notes.push(given);
      return { traceparent: ours, addStep: (step) => notes.push(step), end: (decision) => notes.push(decision?.outcome) };
    },
  };
}

describe('a traced request', () => {
  it("tells the service our place in the trace instead of the caller's, in the write that carries the proof", async () => {
    const tracer = notingTracer();
    const { set, calls } = await call({ headers }, { deps: { tracer } });
    expect(set['traceparent']).toBe(ours);
    expect(calls.filter((name) => name === 'set_headers')).toHaveLength(1);
    expect(tracer.notes).toEqual([theirs, 'resolve_key', 'check_access', 'spend_quota', 'admitted']);
  });

  it('that is refused ends with the code and the steps that were reached', async () => {
    const tracer = notingTracer();
    const steps: string[] = [];
    const { exit } = await call({}, { deps: { tracer, onStep: (step) => steps.push(step) } });
    expect(exit?.status).toBe(401);
    expect(tracer.notes).toEqual([undefined, 'resolve_key', 'key_missing']);
    expect(steps).toEqual(['resolve_key']);
  });
});

it('without tracing the headers of the trace are left as they came', async () => {
  const { set, cleared } = await call({ headers });
  expect(set).not.toHaveProperty('traceparent');
  expect(cleared).not.toContain('traceparent');
});
