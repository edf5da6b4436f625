import { bearer, call, key, recordOf, recordsOf, proofIn } from './call-plugin';
import { memoryQuota, NOW_MS } from './fake-kong';

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
