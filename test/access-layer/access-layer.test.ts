import { bearer, call, key, recordOf, recordsOf, proofIn, signContext, failing } from './call-plugin';
import { memoryQuota, NOW_MS, createInstance, runEvent, type FakeRequest } from './fake-kong';
import { readRequestVariable, requestIdIn } from '../../plugins/core/access/request-variable';
import { fc, propertyRuns } from '../support/fast-check';
import { StoreUnavailable } from '../../plugins/core/ports';
import { denialOf } from '../../plugins/core/problems';
import { explainRequest } from '../../services/selling/requests/explain';

describe('an admitted request', () => {
  it('carries a proof that names key, customer, subscription, mode, charged day and what is left', async () => {
    const { set, exit } = await call({ headers: bearer });
    expect(exit).toBeUndefined();
    const verdict = proofIn({ set });
    expect(verdict).toMatchObject({
      ok: true,
      context: {
        requestId: 'req-1',
        credentialId: 'cred-1',
        customerId: 'cust-1',
        subscriptionId: 'sub-1',
        product: 'api-ip',
        mode: 'live',
        callerAddress: '203.0.113.7',
        chargedDay: '2026-11-20',
        expiresAt: NOW_MS / 1000 + 60,
        quota: { daily: { limit: 2, remaining: 1 }, monthly: { limit: 3, remaining: 2 } },
      },
    });
  });

  it('of a test key counts by itself, and shows what is left of its own limits', async () => {
    const quota = memoryQuota();
    const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, id: '6f1de1a8-41cf-4e0c-9a5d-3d9e0f8a2b7c' }));
    const left = async (mode: 'live' | 'test'): Promise<number | undefined> => {
      const verdict = proofIn(await call({ headers: bearer }, { quota, record: recordOf({ mode, subscriptions }) }));
      return verdict.ok ? verdict.context.quota?.daily.remaining : undefined;
    };
    expect([await left('test'), await left('test'), await left('test')]).toEqual([1, 0, undefined]);
    expect([await left('live'), await left('live'), await left('live')]).toEqual([1, 0, undefined]);
    expect([...quota.used.keys()]).toEqual(['6f1de1a8-41cf-ce0c-9a5d-3d9e0f8a2b7c', '6f1de1a8-41cf-4e0c-9a5d-3d9e0f8a2b7c']);
  });

  it.each(['hs256', 'eddsa', undefined] as const)('has its proof signed in the form that the product’s record names: %s', async (proof) => {
    const forms: unknown[] = [];
    const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, ...(proof && { proof }) }));
    const signContext = (_context: unknown, form?: string): string => String(forms.push(form));
    await call({ headers: bearer }, { record: recordOf({ subscriptions }), deps: { signContext } });
    expect(forms).toEqual([proof]);
  });

  it('is stripped of every credential and of whatever the client sent in the gateway name space', async () => {
    const forged = { 'x-tollgate-context': 'forged', x_tollgate_context: 'forged', 'x-tollgate_mode': 'x' };
    const headers = { ...bearer, 'x-api-key': key, ...forged, 'x-other': '1' };
    const { cleared, query, set } = await call({ headers, query: `ip=8.8.8.8&api_key=${key}&x=%20` });
    expect(cleared.sort()).toEqual([
      'authorization',
      'x-api-key',
      'x-api_key',
      'x-tollgate_mode',
      'x_api-key',
      'x_api_key',
      'x_tollgate_context',
    ]);
    // One name in one spelling: of two, Kong takes either first.
    expect(Object.keys(set)).toEqual(['X-Tollgate-Context']);
    expect(query).toBe('ip=8.8.8.8&x=%20');
  });

  it('loses the key from its form and nothing else', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '60' };
    const { body, exit } = await call({ headers, body: Buffer.from(`a=1&api_key=${key}&b=%ff`) });
    expect(exit).toBeUndefined();
    expect(body?.toString()).toBe('a=1&b=%ff');
  });

  it.each([
    ['a header', { headers: bearer }],
    ['the query', { query: `api_key=${key}` }],
  ])('in %s is the one that holds: a form, which may have another, is not read', async (_, request) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '60', ...('headers' in request && bearer) };
    const answer = await call({ ...request, headers, body: Buffer.from('api_key=tg_live_of_somebody_else') });
    expect([answer.code, answer.calls.includes('get_raw_body'), answer.body]).toEqual([undefined, false, undefined]);
    expect(answer.decision).toMatchObject({ outcome: 'admitted', credentialId: 'cred-1' });
  });

  it('may have its form spooled to a file', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '60' };
    const readBodyFile = (path: string): Promise<Buffer> => Promise.resolve(Buffer.from(path === '/spool/1' ? `api_key=${key}` : ''));
    expect((await call({ headers, body: { filePath: '/spool/1' } }, { deps: { readBodyFile } })).exit).toBeUndefined();
    expect((await call({ headers, body: { filePath: '/spool/1' } })).code).toBe('access_layer_unavailable');
    const tooLarge = (): Promise<undefined> => Promise.resolve(undefined);
    expect((await call({ headers, body: { filePath: '/spool/1' } }, { deps: { readBodyFile: tooLarge } })).code).toBe('key_missing');
  });

  it('gets the RateLimit fields from the gateway where the configuration says so', async () => {
    const { responseHeaders } = await call({ headers: bearer }, { config: { rate_limit_headers: 'gateway' } });
    expect(responseHeaders['RateLimit']).toMatch(/^"daily";r=1;t=\d+, "monthly";r=2;t=\d+$/);
  });

  it('goes to the product’s own sandbox with a test key, and with no other', async () => {
    const [subscription] = recordOf().subscriptions;
    const subscriptions = subscription ? [{ ...subscription, sandbox: { host: '127.0.0.1', port: 9001 } }] : [];
    const byTest = await call({ headers: bearer }, { record: recordOf({ mode: 'test', subscriptions }) });
    expect([byTest.exit, byTest.target]).toEqual([undefined, '127.0.0.1:9001']);
    expect((await call({ headers: bearer }, { record: recordOf({ mode: 'live', subscriptions }) })).target).toBeUndefined();
    expect((await call({ headers: bearer }, { record: recordOf({ mode: 'test' }) })).target).toBeUndefined();
  });

  it('costs as many units as the configuration says of a POST, and one by any other method', async () => {
    const limits = { daily: 250, monthly: 1_000 };
    const setup = {
      config: { post_units: 100 },
      quota: memoryQuota(),
      record: recordOf({ subscriptions: recordOf().subscriptions.map((each) => ({ ...each, limits })) }),
    };
    const post = await call({ headers: bearer, method: 'POST' }, setup);
    expect(proofIn(post)).toMatchObject({ context: { units: 100, quota: { daily: { remaining: 150 } } } });
    const get = proofIn(await call({ headers: bearer, method: 'GET' }, setup));
    expect([get.ok && get.context.units, get.ok && get.context.quota?.daily.remaining]).toEqual([undefined, 149]);
    expect(proofIn(await call({ headers: bearer, method: 'POST' }, setup)).ok).toBe(true);
    const refused = await call({ headers: bearer, method: 'POST' }, setup);
    expect(refused.exit).toMatchObject({ status: 429, body: { detail: 'This request needs 100 units, and 49 are left.' } });
    expect([...setup.quota.used.values()]).toEqual([201]);
  });

  it('takes the reserve where answers say what they cost, by any method, whatever the configuration says', async () => {
    const own = { limits: { daily: 250, monthly: 1_000 }, unitsByAnswer: { reserve: 5, most: 40 } };
    const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, ...own }));
    const setup = { config: { post_units: 100 }, quota: memoryQuota(), record: recordOf({ subscriptions }) };
    for (const method of ['GET', 'POST']) {
      const asked = await call({ headers: bearer, method }, setup);
      expect(proofIn(asked)).toMatchObject({ context: { units: 5 } });
      expect(asked.decision).toMatchObject({ charge: { units: 5, mostUnits: 40 } });
    }
    expect([...setup.quota.used.values()]).toEqual([10]);
  });

  it('spends nothing where the configuration switches the quota off', async () => {
    const quota = memoryQuota();
    const { set } = await call({ headers: bearer }, { config: { quota: false }, quota });
    expect(quota.used.size).toBe(0);
    expect(proofIn({ set })).toMatchObject({
      context: { chargedDay: null, quota: null },
    });
  });
});

it('a key that cannot be one is not looked up', async () => {
  const records = recordsOf(recordOf());
  const wrongChecksum = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
  expect((await call({ headers: { 'x-api-key': wrongChecksum } }, { records })).code).toBe('key_unknown');
  expect(records.asked).toEqual([]);
});

it('a key must be in X-API-Key for a product that takes it there only, and the refusal says so', async () => {
  const { exit, code } = await call({ headers: bearer, query: `api_key=${key}` }, { config: { key_in: ['x-api-key'] } });
  expect([code, exit?.body['detail']]).toEqual(['key_missing', expect.stringContaining('X-API-Key header only')]);
  expect(exit?.headers['WWW-Authenticate']).toContain('X-API-Key');
});

describe('a route that admits several products', () => {
  const config = { products: ['api-image', 'api-background-remover'] };
  const sub = (product: string, state: 'active' | 'paused' = 'active') => ({
    id: `sub-${product}`,
    product,
    plan: null,
    state,
    limits: { daily: 9, monthly: 9 },
  });

  it('admits a key authorised and subscribed for either, and spends that subscription', async () => {
    const quota = memoryQuota();
    const legacy = recordOf({ products: ['api-background-remover'], subscriptions: [sub('api-background-remover')] });
    expect((await call({ headers: bearer }, { config, record: legacy, quota })).exit).toBeUndefined();
    const both = recordOf({ products: config.products, subscriptions: [sub('api-image', 'paused'), sub('api-background-remover')] });
    expect((await call({ headers: bearer }, { config, record: both, quota })).exit).toBeUndefined();
    expect([...quota.used]).toEqual([['sub-api-background-remover', 2]]);
  });

  it('refuses a key that is authorised for one and subscribed for the other', async () => {
    const crossed = recordOf({ products: ['api-image'], subscriptions: [sub('api-background-remover')] });
    expect((await call({ headers: bearer }, { config, record: crossed })).code).toBe('subscription_missing');
  });
});

const READ_BY_CALLS = ['get_headers', 'get_raw_query', 'get_forwarded_ip', 'get_var', 'get_var', 'get_var'];

const readCalls = async (request: FakeRequest): Promise<string[]> => {
  const { calls } = await call(request);
  return calls.filter((name) => name.startsWith('get_'));
};

describe('the request is asked for by calls', () => {
  it.each<[string, FakeRequest]>([
    ['when a credential was sent twice', { headers: { 'x-api-key': [key, 'other'] } }],
    ['when an underscore twin came beside it', { headers: { 'x-api-key': key, x_api_key: 'other' } }],
    ['when the proof was forged', { headers: { ...bearer, 'x-tollgate-context': 'forged' } }],
    ['when a claim about the caller was forged', { headers: { ...bearer, 'x-tollgate-customer': 'somebody' } }],
    ['when an underscore twin of the proof was forged', { headers: { ...bearer, x_tollgate_context: 'forged' } }],
    ['when it has so many bytes that it may have too many headers', { headers: { ...bearer, cookie: 'c'.repeat(3_000) } }],
    ['when its query ends at a fragment for nginx', { headers: bearer, query: `a=1#api_key=${key}` }],
    ['when its origin was sent twice', { headers: { ...bearer, origin: ['https://a.example', 'https://b.example'] } }],
  ])('%s', async (_, request) => {
    expect(await readCalls(request)).toEqual(['get_var', ...READ_BY_CALLS]);
  });

  it('with the header that the route names for its key, in the same write, and by calls where that came twice', async () => {
    const config = { key_in: ['x-api-key', 'header:shop-key'] };
    const once = await call({ headers: { 'shop-key': key } }, { config });
    expect([once.calls, once.cleared]).toEqual([['get_var', 'get_var', 'set_headers'], ['shop-key']]);
    const elsewhere = await call({ headers: { 'x-api-key': key, 'shop-key': key } }, { config });
    expect(elsewhere.cleared).toContain('shop-key');
    const twice = await call({ headers: { 'shop-key': [key, key] } }, { config });
    expect([twice.calls.slice(0, 8), twice.code]).toEqual([['get_var', 'get_var', ...READ_BY_CALLS], 'ambiguous_key']);
    const without = await call({ headers: { 'shop-key': key }, withoutVariable: true }, { config });
    expect([without.exit, without.cleared]).toEqual([undefined, ['shop-key']]);
  });

  it('always once kong.conf turns out to set no variable, without asking for it again', async () => {
    const records = { findAccessRecord: () => Promise.resolve(recordOf()) };
    const quota = memoryQuota();
    const { instance } = createInstance({ products: ['api-ip'] }, { records, quota, signContext });
    const request = { headers: bearer, withoutVariable: true };
    const first = await runEvent(instance, request);
    const second = await runEvent(instance, request);
    expect(first.calls).toEqual(['get_var', ...READ_BY_CALLS, 'set_headers']);
    expect(second.calls).toEqual([...READ_BY_CALLS, 'set_headers']);
  });
});

it('a request is decided the same, and sent on the same, whether it is read from the variable or by calls', async () => {
  const value = fc.constantFrom(
    key,
    `Bearer ${key}`,
    'Basic dTpw',
    '',
    'tg_live_wrong',
    'https://a.example',
    'https://b.example/a, b',
    'close, X-Tollgate-Context',
    '1',
    'x'.repeat(2_000),
  );
  const name = fc.constantFrom(
    'authorization',
    'x-api-key',
    'x-tollgate-context',
    'x_tollgate_context',
    'x-tollgate-customer-id',
    'origin',
    'referer',
    'x-other',
    'traceparent',
    'connection',
    'cookie',
  );
  const headers = fc.dictionary(name, fc.oneof(value, fc.array(value, { minLength: 2, maxLength: 3 })), { maxKeys: 5 });
  const query = fc.constantFrom('', `api_key=${key}`, `other=${key}&api_key=${key}`, 'a=1&b=%0a', `a=1&%61pi_key=${key}&api_key=x`);
  await fc.assert(
    fc.asyncProperty(headers, query, fc.constantFrom('/ip', '/ip/..%2fgst'), async (given, rawQuery, path) => {
      const request: FakeRequest = { headers: given, query: rawQuery, path };
      const [one, other] = [await call(request), await call({ ...request, withoutVariable: true })];
      const told = ({ exit, set, cleared, query: sent, decision }: typeof one): unknown => ({
        exit,
        set: Object.keys(set),
        // What is not there need not be removed.
        cleared: cleared.filter((each) => given[each] !== undefined && given[each] !== '').sort(),
        sent,
        decision,
      });
      expect(told(one)).toEqual(told(other));
    }),
    { numRuns: propertyRuns(300), examples: [[{ origin: '', referer: 'https://a.example' }, '', '/ip']] },
  );
});

describe('the variable', () => {
  const lines = ['4', '192.0.2.1', '100', '', 'GET', '', 'k', '', '', '', '', '', '', '', '', '', '/ip/x?a=1?b', 'id'];

  it('tells caller, id, query and the headers that are there', () => {
    expect(readRequestVariable(lines.join('\n'))).toEqual({
      callerAddress: '192.0.2.1',
      requestId: 'id',
      rawPath: '/ip/x',
      rawQuery: 'a=1?b',
      method: 'GET',
      headers: { 'x-api-key': 'k' },
    });
    expect(requestIdIn(lines.join('\n'))).toBe('id');
    expect(requestIdIn('')).toBe('');
  });

  it.each([
    ['of another layout', ['3', ...lines.slice(1)]],
    ['with a line too few', lines.slice(0, -1)],
    ['with a line too many', [...lines, '']],
    ['without an address', ['4', '', ...lines.slice(2)]],
    ['without a length', ['4', '192.0.2.1', 'many', ...lines.slice(3)]],
  ])('%s is not believed', (_, given) => {
    expect(readRequestVariable(given.join('\n'))).toBe('unclear');
  });
});

const config = { enforce: false };

describe('a route that does not enforce', () => {
  it('lets an admitted request through without a proof, and spends nothing', async () => {
    const quota = memoryQuota();
    const { exit, set, cleared, decision } = await call({ headers: bearer }, { config, quota });
    expect({ exit, set, cleared, used: quota.used.size }).toEqual({ exit: undefined, set: {}, cleared: ['authorization'], used: 0 });
    expect(decision).toMatchObject({ outcome: 'admitted', customerId: 'cust-1', product: 'api-ip' });
    expect(decision?.charge).toBeUndefined();
  });

  it.each([
    ['without a key', {}, {}, 'key_missing'],
    ['with two keys', { headers: { ...bearer, 'x-api-key': 'another-key-of-mine' } }, {}, 'ambiguous_key'],
    ['with an unknown key', { headers: bearer }, { record: undefined }, 'key_unknown'],
    ['with an inactive key', { headers: bearer }, { record: recordOf({ state: 'inactive' }) }, 'key_inactive'],
    ['without a subscription', { headers: bearer }, { record: recordOf({ subscriptions: [] }) }, 'subscription_missing'],
    ['with a hidden dot segment', { headers: bearer, path: '/a/..%2fb' }, {}, 'ambiguous_path'],
    ['whose key cannot be looked up', { headers: bearer }, { records: failing(new Error('gone')) }, 'access_layer_unavailable'],
  ] as const)('lets a request %s through, and records the refusal', async (_, request, setup, code) => {
    const { exit, set, decision } = await call(request, { config, ...setup });
    expect({ exit, set }).toEqual({ exit: undefined, set: {} });
    expect(decision?.outcome).toBe(`would_refuse:${code}`);
    expect(denialOf(decision?.outcome ?? 'admitted')).toBe(code);
  });

  it('records what the quota would refuse, without a unit taken, also where its store is away', async () => {
    const quota = memoryQuota();
    quota.used.set('sub-1', 2);
    expect((await call({ headers: bearer }, { config, quota })).decision?.outcome).toBe('would_refuse:quota_daily_exceeded');
    expect(quota.used.get('sub-1')).toBe(2);
    const away = { ...quota, readStanding: () => Promise.reject(new StoreUnavailable('redis')) };
    const { exit, decision } = await call({ headers: bearer }, { config, quota: away });
    expect([exit, decision?.outcome]).toEqual([undefined, 'would_refuse:access_layer_unavailable']);
  });

  it('removes what the client forged, and keys from headers and query, but not what the API itself reads', async () => {
    const headers = { 'x-tollgate-context': 'forged', 'x-tollgate-customer': 'me', 'x-api-key': 'k', authorization: 'Basic YTpi' };
    const { cleared, query, set } = await call({ headers, query: `api_key=${key}&a=1` }, { config });
    expect(cleared).toEqual(expect.arrayContaining(['x-tollgate-context', 'x-tollgate-customer', 'x-api-key']));
    expect(cleared).not.toContain('authorization');
    expect([query, set]).toEqual(['a=1', {}]);
  });

  it('never sends a test key’s request to a sandbox, and leaves preflights to the API', async () => {
    const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, sandbox: { host: 'sandbox.example', port: 81 } }));
    expect((await call({ headers: bearer }, { config, record: recordOf({ mode: 'test', subscriptions }) })).target).toBeUndefined();
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    expect((await call({ method: 'OPTIONS', headers: preflight }, { config })).exit).toBeUndefined();
  });

  it('still refuses what cannot be read in full', async () => {
    const { exit, decision } = await call({ headers: { ...bearer, connection: 'x-tollgate-context' } }, { config });
    expect([exit?.status, decision?.outcome]).toEqual([400, 'request_not_readable']);
  });

  it('says so once in the log, when it starts', async () => {
    const warn = jest.fn();
    await call({}, { config, deps: { log: { error: () => undefined, warn } } });
    expect(warn.mock.calls).toEqual([[{ products: ['api-ip'] }, expect.stringContaining('does not enforce')]]);
    expect(warn.mock.calls[0]?.[1]).toContain('a Bearer token of the API itself');
    await call({}, { config: { ...config, key_in: ['x-api-key'] }, deps: { log: { error: () => undefined, warn } } });
    expect(warn.mock.calls[1]?.[1]).not.toContain('Bearer');
  });

  it('is counted at every request that it lets through, and a route that enforces never', async () => {
    const onUnenforced = jest.fn();
    await call({}, { config, deps: { onUnenforced } });
    await call({}, { deps: { onUnenforced } });
    expect(onUnenforced.mock.calls).toEqual([[['api-ip']]]);
  });
});

it('an explanation names the check that would have refused', async () => {
  const { decision } = await call({}, { config });
  if (!decision) throw new Error('nothing was recorded');
  const { outcome, checks, remedy } = explainRequest(decision, { reader: 'customer', nowMs: 0 });
  expect([outcome, checks[0]?.outcome]).toEqual(['would_refuse:key_missing', 'failed']);
  expect(remedy).toContain('The request was let through: its route does not enforce');
});
