import { randomBytes } from 'node:crypto';
import { type AccessLayerDeps } from '../../plugins/access-layer/access-request';
import { createInstance, memoryQuota, NOW_MS, runEvent, type FakeOutcome, type FakeRequest } from './fake-kong';
import { generateApiKey, hashApiKey } from '../../plugins/core/api-key';
import { verifyContext } from '../../plugins/core/context-token';
import { StoreUnavailable, type AccessRecord, type AccessRecords, type QuotaCounter } from '../../plugins/core/ports';
import { compileWhitelist } from '../../plugins/core/whitelist';

const key = generateApiKey('live');
const signingKey = { id: 'k', secret: randomBytes(32) };

function recordOf(changes: Partial<AccessRecord> = {}): AccessRecord {
  return {
    credentialId: 'cred-1',
    customerId: 'cust-1',
    mode: 'live',
    state: 'active',
    expiresAtMs: null,
    products: ['api-ip'],
    whitelist: compileWhitelist([]),
    subscriptions: [{ id: 'sub-1', product: 'api-ip', plan: 'Star', state: 'active', limits: { daily: 2, monthly: 3 } }],
    ...changes,
  };
}

function recordsOf(record: AccessRecord | undefined): AccessRecords & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    findAccessRecord: (hash) => {
      asked.push(hash);
      return Promise.resolve(hash === hashApiKey(key) ? record : undefined);
    },
  };
}

const failing = (error: Error): AccessRecords => ({ findAccessRecord: () => Promise.reject(error) });

async function call(
  request: FakeRequest,
  setup: {
    config?: Record<string, unknown>;
    record?: AccessRecord;
    records?: AccessRecords;
    quota?: QuotaCounter;
    readBodyFile?: AccessLayerDeps['readBodyFile'];
  } = {},
): Promise<FakeOutcome & { code: unknown; decision: unknown }> {
  const { instance, decisions } = createInstance(
    { products: ['api-ip'], ...setup.config },
    {
      records: setup.records ?? recordsOf('record' in setup ? setup.record : recordOf()),
      quota: setup.quota ?? memoryQuota(),
      signingKey,
      ...(setup.readBodyFile ? { readBodyFile: setup.readBodyFile } : {}),
    },
  );
  const outcome = await runEvent(instance, request);
  return { ...outcome, code: outcome.exit?.body['code'], decision: decisions[0] };
}

const bearer = { authorization: `Bearer ${key}` };

describe('an admitted request', () => {
  it('carries a proof that names key, customer, subscription, mode, charged day and what is left', async () => {
    const { set, exit } = await call({ headers: bearer });
    expect(exit).toBeUndefined();
    const verdict = verifyContext(set['X-Tollgate-Context'] as string, [signingKey], NOW_MS / 1000);
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

  it('costs one batch of four reads and two writes', async () => {
    const { calls } = await call({ headers: bearer });
    expect(calls).toEqual(['get_headers', 'get_raw_query', 'get_forwarded_ip', 'get_var', 'clear_header', 'set_headers']);
  });

  it('is stripped of every credential and of whatever the client sent in the gateway name space', async () => {
    const headers = { ...bearer, 'x-api-key': key, 'x-tollgate-context': 'forged', x_tollgate_context: 'forged' };
    const { cleared, query } = await call({ headers, query: `ip=8.8.8.8&api_key=${key}&x=%20` });
    expect(cleared.sort()).toEqual(['authorization', 'x-api-key', 'x-tollgate-context', 'x_tollgate_context']);
    expect(query).toBe('ip=8.8.8.8&x=%20');
  });

  it('loses the key from its form and nothing else', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '60' };
    const { body, exit } = await call({ headers, body: Buffer.from(`a=1&api_key=${key}&b=%ff`) });
    expect(exit).toBeUndefined();
    expect(body?.toString()).toBe('a=1&b=%ff');
  });

  it('may have its form spooled to a file', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'transfer-encoding': 'chunked' };
    const readBodyFile = (path: string): Promise<Buffer> => Promise.resolve(Buffer.from(path === '/spool/1' ? `api_key=${key}` : ''));
    expect((await call({ headers, body: { filePath: '/spool/1' } }, { readBodyFile })).exit).toBeUndefined();
    expect((await call({ headers, body: { filePath: '/spool/1' } })).code).toBe('access_layer_unavailable');
    const tooLarge = (): Promise<undefined> => Promise.resolve(undefined);
    expect((await call({ headers, body: { filePath: '/spool/1' } }, { readBodyFile: tooLarge })).code).toBe('key_missing');
  });

  it('gets the RateLimit fields from the gateway where the configuration says so', async () => {
    const { responseHeaders } = await call({ headers: bearer }, { config: { rate_limit_headers: 'gateway' } });
    expect(responseHeaders['RateLimit']).toMatch(/^"daily";r=1;t=\d+, "monthly";r=2;t=\d+$/);
  });

  it('spends nothing where the configuration switches the quota off', async () => {
    const quota = memoryQuota();
    const { set } = await call({ headers: bearer }, { config: { quota: false }, quota });
    expect(quota.used.size).toBe(0);
    expect(verifyContext(set['X-Tollgate-Context'] as string, [signingKey], NOW_MS / 1000)).toMatchObject({
      context: { chargedDay: null, quota: null },
    });
  });
});

describe('the key', () => {
  it.each<[string, FakeRequest]>([
    ['Authorization', { headers: bearer }],
    ['X-API-Key', { headers: { 'x-api-key': key } }],
    ['the query', { query: `api_key=${key}` }],
  ])('is taken from %s without reading the body', async (_, request) => {
    const { exit, calls } = await call({
      ...request,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '9', ...request.headers },
    });
    expect(exit).toBeUndefined();
    expect(calls).not.toContain('get_raw_body');
  });

  it('is not looked up when it cannot be a key', async () => {
    const records = recordsOf(recordOf());
    const wrongChecksum = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    expect((await call({ headers: { 'x-api-key': wrongChecksum } }, { records })).code).toBe('key_unknown');
    expect(records.asked).toEqual([]);
  });

  it('is not sought in a form over the limit, in another content type, or when the product does not take forms', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const tooLong = await call({ headers: { ...form, 'content-length': '1048577' }, body: Buffer.from(`api_key=${key}`) });
    expect(tooLong.code).toBe('key_missing');
    expect(tooLong.exit?.body['detail']).toContain('1048576');
    expect(tooLong.calls).not.toContain('get_raw_body');
    expect((await call({ headers: { 'content-type': 'application/json', 'content-length': '60' } })).calls).not.toContain('get_raw_body');
    const headerOnly = await call({ headers: { ...form, 'content-length': '60' } }, { config: { key_in: ['x-api-key'] } });
    expect(headerOnly.calls).not.toContain('get_raw_body');
  });

  it('must be in X-API-Key for a product that takes it there only, and the refusal says so', async () => {
    const { exit, code } = await call({ headers: bearer, query: `api_key=${key}` }, { config: { key_in: ['x-api-key'] } });
    expect(code).toBe('key_missing');
    expect(exit?.body['detail']).toContain('X-API-Key header only');
    expect(exit?.headers['WWW-Authenticate']).toContain('X-API-Key');
  });
});

describe('a refusal', () => {
  const subscription = recordOf().subscriptions[0];
  it.each<[string, FakeRequest, AccessRecord | undefined]>([
    ['key_missing', {}, recordOf()],
    ['ambiguous_key', { headers: { ...bearer, 'x-api-key': 'other-key-123' } }, recordOf()],
    ['key_unknown', { headers: bearer }, undefined],
    ['key_unknown', { headers: bearer }, recordOf({ state: 'inactive' })],
    ['key_unknown', { headers: bearer }, recordOf({ state: 'revoked' })],
    ['key_expired', { headers: bearer }, recordOf({ expiresAtMs: NOW_MS })],
    ['product_not_authorised', { headers: bearer }, recordOf({ products: ['api-gst'] })],
    ['subscription_missing', { headers: bearer }, recordOf({ subscriptions: [] })],
    ['subscription_inactive', { headers: bearer }, recordOf({ subscriptions: subscription ? [{ ...subscription, state: 'paused' }] : [] })],
    ['caller_not_whitelisted', { headers: bearer }, recordOf({ whitelist: compileWhitelist(['10.0.0.0/8']) })],
  ])('is a 401 %s as problem+json with the request id and a challenge', async (code, request, record) => {
    const { exit, set } = await call(request, record ? { record } : { records: recordsOf(undefined) });
    expect(exit).toMatchObject({ status: 401, body: { code, status: 401, request_id: 'req-1', type: 'about:blank' } });
    expect(exit?.headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'WWW-Authenticate': expect.stringContaining('realm="tollgate"'),
    });
    expect(set).toEqual({});
    expect(JSON.stringify(exit)).not.toContain(key);
  });

  it('comes in the order of the checks when several would refuse', async () => {
    const nothingRight = recordOf({
      state: 'inactive',
      expiresAtMs: 0,
      products: [],
      subscriptions: [],
      whitelist: compileWhitelist(['10.0.0.0/8']),
    });
    const codes: unknown[] = [];
    for (const mend of [
      {},
      { state: 'active' as const },
      { expiresAtMs: null },
      { products: ['api-ip'] },
      { subscriptions: recordOf().subscriptions },
    ]) {
      Object.assign(nothingRight, mend);
      codes.push((await call({ headers: bearer }, { record: nothingRight })).code);
    }
    expect(codes).toEqual(['key_unknown', 'key_expired', 'product_not_authorised', 'subscription_missing', 'caller_not_whitelisted']);
  });

  it('is the same for an unknown and an inactive key, and only the decision tells them apart', async () => {
    const unknown = await call({ headers: bearer }, { records: recordsOf(undefined) });
    const inactive = await call({ headers: bearer }, { record: recordOf({ state: 'inactive' }) });
    expect(inactive.exit).toEqual(unknown.exit);
    expect(inactive.decision).toMatchObject({ outcome: 'key_inactive', credentialId: 'cred-1' });
    expect(unknown.decision).toMatchObject({ outcome: 'key_unknown', credentialId: undefined });
  });

  it('over the day is a 429 with Retry-After and the RateLimit fields, and is not counted', async () => {
    const quota = memoryQuota();
    for (let spent = 0; spent < 2; spent++) expect((await call({ headers: bearer }, { quota })).exit).toBeUndefined();
    for (let again = 0; again < 2; again++) {
      const { exit } = await call({ headers: bearer }, { quota });
      // Noon in Kolkata: twelve hours to midnight.
      expect(exit).toMatchObject({
        status: 429,
        body: { code: 'quota_daily_exceeded', retry_after: 43_200, limit: 2, resets_at: '2026-11-20T18:30:00.000Z' },
      });
      expect(exit?.headers).toMatchObject({
        'Retry-After': '43200',
        RateLimit: expect.stringMatching(/^"daily";r=0;t=43200, "monthly";r=1/),
      });
    }
    expect(quota.used.get('sub-1')).toBe(2);
  });

  it('comes before the quota is touched', async () => {
    const quota = memoryQuota();
    await call({ headers: bearer }, { record: recordOf({ whitelist: compileWhitelist(['10.0.0.0/8']) }), quota });
    expect(quota.used.size).toBe(0);
  });

  it('of a request with as many headers as Kong hands over is a 400, because more could hide behind them', async () => {
    const headers = Object.fromEntries(Array.from({ length: 999 }, (_, index) => [`h${index}`, 'x']));
    expect((await call({ headers: { ...headers, ...bearer } })).code).toBe('request_not_readable');
    expect((await call({ headers: { a: Array.from({ length: 999 }, () => 'x'), ...bearer } })).code).toBe('request_not_readable');
  });
});

describe('when something breaks the request is refused', () => {
  it('with 503 when the key store is away or fails', async () => {
    for (const error of [new StoreUnavailable('postgres'), new Error('boom')]) {
      const { exit } = await call({ headers: bearer }, { records: failing(error) });
      expect(exit).toMatchObject({ status: 503, body: { code: 'access_layer_unavailable' }, headers: { 'Retry-After': '1' } });
    }
  });

  it('with 503 when no quota store answers, unless the product chose to allow; then nothing is charged', async () => {
    const quota: QuotaCounter = { ...memoryQuota(), spend: () => Promise.reject(new StoreUnavailable('both')) };
    expect((await call({ headers: bearer }, { quota })).code).toBe('quota_unavailable');
    const allowed = await call({ headers: bearer }, { quota, config: { on_quota_store_error: 'allow' } });
    expect(allowed.exit).toBeUndefined();
    expect(verifyContext(allowed.set['X-Tollgate-Context'] as string, [signingKey], NOW_MS / 1000)).toMatchObject({
      context: { chargedDay: null },
    });
  });

  it('even where the product allows when its counter is away: a fault of the counter is no absence', async () => {
    const quota: QuotaCounter = { ...memoryQuota(), spend: () => Promise.reject(new Error('bug')) };
    expect((await call({ headers: bearer }, { quota, config: { on_quota_store_error: 'allow' } })).code).toBe('access_layer_unavailable');
  });

  it('and a configuration that cannot be understood makes no instance', () => {
    for (const config of [
      {},
      { products: [] },
      { products: ['api-nope'] },
      { products: ['api-ip'], on_quota_store_error: 'maybe' },
      { products: ['api-ip'], key_in: [] },
    ]) {
      expect(() => createInstance(config, { records: recordsOf(undefined), quota: memoryQuota(), signingKey })).toThrow();
    }
  });
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
