import crypto from 'node:crypto';
import { StoreUnavailable, type AccessRecord, type KeyMode, type QuotaCounter, type SubscriptionAccess } from '../../plugins/core/ports';
import { compileWhitelist } from '../../plugins/core/access/whitelist';
import { bearer, call, failing, key, recordOf, recordsOf, proofIn, signContext } from './call-plugin';
import { createInstance, memoryQuota, NOW_MS, type FakeRequest } from './fake-kong';
import { generateApiKey, hashApiKey } from '../../plugins/core/access/api-key';
import { AccessRecordCache } from '../../plugins/stores/cache/access-record-cache';
import { type Change } from '../../plugins/stores/cache/change-feed';
import { KnownHashes } from '../../plugins/stores/cache/known-hashes';
import { eventually } from '../support/eventually';

/** Of a product that does not say what answers its test keys. */
function withoutSandbox(mode: KeyMode): AccessRecord {
  const subscriptions = recordOf().subscriptions.map(({ takesTestKeys: _, ...subscription }) => subscription);
  return recordOf({ mode, subscriptions });
}

describe('a refusal', () => {
  const subscription = recordOf().subscriptions[0];
  it.each<[string, FakeRequest, AccessRecord | undefined]>([
    ['key_missing', {}, recordOf()],
    ['ambiguous_key', { headers: { ...bearer, 'x-api-key': 'other-key-123' } }, recordOf()],
    ['key_unknown', { headers: bearer }, undefined],
    ['key_unknown', { headers: bearer }, recordOf({ state: 'inactive' })],
    ['key_unknown', { headers: bearer }, recordOf({ state: 'revoked' })],
    ['key_expired', { headers: bearer }, recordOf({ expiresAtMs: NOW_MS })],
    ['key_expired', { headers: bearer }, recordOf({ expiresAtMs: NaN })],
    ['product_not_authorised', { headers: bearer }, recordOf({ products: ['api-gst'] })],
    ['subscription_missing', { headers: bearer }, recordOf({ subscriptions: [] })],
    ['subscription_inactive', { headers: bearer }, recordOf({ subscriptions: subscription ? [{ ...subscription, state: 'paused' }] : [] })],
    ['caller_not_whitelisted', { headers: bearer }, recordOf({ whitelist: compileWhitelist(['10.0.0.0/8']) })],
    ['sandbox_missing', { headers: bearer }, withoutSandbox('test')],
  ])('is a 401 %s as problem+json with the request id and a challenge, and nothing is counted', async (code, request, record) => {
    const quota = memoryQuota();
    const { exit, set } = await call(request, { record, quota });
    expect(quota.used.size).toBe(0);
    expect(exit).toMatchObject({ status: 401, body: { code, status: 401, request_id: 'req-1', type: 'about:blank' } });
    expect(exit?.headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'WWW-Authenticate': expect.stringContaining('realm="tollgate"'),
    });
    expect(set).toEqual({});
    expect(JSON.stringify(exit)).not.toContain(key);
  });

  it('names the realm of the setting', async () => {
    const { exit } = await call({}, { deps: { realm: 'Acme Weather' } });
    expect(exit?.headers['WWW-Authenticate']).toBe('Bearer realm="Acme Weather"');
    const own = await call({}, { config: { key_in: ['x-api-key'] }, deps: { realm: 'Acme Weather' } });
    expect(own.exit?.headers['WWW-Authenticate']).toBe('ApiKey realm="Acme Weather", header="X-API-Key"');
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
    const unknown = await call({ headers: bearer }, { record: undefined });
    const inactive = await call({ headers: bearer }, { record: recordOf({ state: 'inactive' }) });
    expect(inactive.exit).toEqual(unknown.exit);
    expect(inactive.decision).toMatchObject({ outcome: 'key_inactive', credentialId: 'cred-1' });
    expect(unknown.decision).toMatchObject({ outcome: 'key_unknown', credentialId: undefined });
  });

  it('by a limit leads to a larger plan where one is sold, unless the limit is the customer’s own', async () => {
    const readOn = {
      errors: 'https://d.example/reference/errors#',
      explain: 'https://d.example/explain?request=',
      plans: 'https://d.example/plans?product=',
    };
    const refused = async (extra: Partial<SubscriptionAccess>): Promise<unknown> => {
      const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, limits: { daily: 0, monthly: 3 }, ...extra }));
      return (await call({ headers: bearer }, { record: recordOf({ subscriptions }), deps: { readOn } })).exit?.body;
    };
    const upgrade = 'https://d.example/plans?product=api-ip';
    expect(await refused({ isUpgradable: true })).toMatchObject({
      upgrade,
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      help: 'https://d.example/explain?request=req-1',
    });
    expect(await refused({})).not.toHaveProperty('upgrade');
    expect(await refused({ isUpgradable: true, isCapped: true })).not.toHaveProperty('upgrade');
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

  it('over the daily cap of a customer is refused as any other over the day, and says what it is', async () => {
    const quota = memoryQuota();
    const [own] = recordOf().subscriptions;
    const record = recordOf({ subscriptions: own ? [{ ...own, limits: { ...own.limits, daily: 1 }, isCapped: true }] : [] });
    await call({ headers: bearer }, { quota, record });
    const { exit, decision } = await call({ headers: bearer }, { quota, record });
    expect(exit).toMatchObject({ status: 429, body: { code: 'quota_daily_exceeded', detail: expect.stringContaining('daily cap') } });
    expect(decision).toMatchObject({ outcome: 'quota_daily_exceeded', quota: { daily: 1, isCapped: true } });
  });

  it('that comes too fast is a 429 rate_exceeded, with whole seconds to wait and a policy of its own', async () => {
    const rate = { limit: 10, windowSeconds: 1, burst: 20 } as const;
    const [own] = recordOf().subscriptions;
    const record = recordOf({ subscriptions: own ? [{ ...own, limits: { ...own.limits, rate }, isUpgradable: true }] : [] });
    const memory = memoryQuota();
    const standing = { ...(await memory.readStanding('sub-1')), rate: { remaining: 0, waitUs: 99_999 } };
    const quota: QuotaCounter = { ...memory, spend: () => Promise.resolve({ granted: false, exceeded: 'rate', standing }) };
    const { exit, decision } = await call({ headers: bearer }, { quota, record });
    expect(exit).toMatchObject({ status: 429, body: { code: 'rate_exceeded', retry_after: 1, limit: 10, window_seconds: 1 } });
    expect(exit?.body).not.toHaveProperty('upgrade');
    expect(exit?.headers).toMatchObject({
      'Retry-After': '1',
      'RateLimit-Policy': expect.stringMatching(/^"daily";q=2;w=86400, "monthly";q=3;w=\d+, "rate";q=10;w=1$/),
      RateLimit: expect.stringMatching(/, "rate";r=0;t=1$/),
    });
    expect(decision).toMatchObject({ outcome: 'rate_exceeded', charge: undefined, quota: { rate, exceeded: 'rate' } });
    expect(memory.used.size).toBe(0);
  });

  it('within the rate goes on with a proof that says where it stands', async () => {
    const rate = { limit: 60, windowSeconds: 60, burst: 5 } as const;
    const [own] = recordOf().subscriptions;
    const record = recordOf({ subscriptions: own ? [{ ...own, limits: { ...own.limits, rate } }] : [] });
    const memory = memoryQuota();
    const spend: QuotaCounter['spend'] = async (request) => {
      const result = await memory.spend(request);
      return { ...result, standing: { ...result.standing, rate: { remaining: 4, waitUs: 1 } } };
    };
    const admitted = await call({ headers: bearer }, { quota: { ...memory, spend }, record });
    const stands = { limit: 60, windowSeconds: 60, remaining: 4, waitSeconds: 1 };
    expect(proofIn(admitted)).toMatchObject({ ok: true, context: { quota: { rate: stands } } });
  });

  it('over the day tells a test key that it is one, as every other answer does', async () => {
    const modes: unknown[] = [];
    for (const mode of ['test', 'live'] as const) {
      const [quota, record] = [memoryQuota(), recordOf({ mode })];
      for (let spent = 0; spent < 2; spent++) await call({ headers: bearer }, { quota, record });
      const { exit } = await call({ headers: bearer }, { quota, record });
      modes.push([exit?.status, exit?.headers['X-Tollgate-Mode']]);
    }
    expect(modes).toEqual([
      [429, 'test'],
      [429, undefined],
    ]);
  });

  it('meets test keys of a product without a sandbox before anything is counted or goes on, and never live keys', async () => {
    const quota = memoryQuota();
    const refused = await call({ headers: bearer }, { quota, record: withoutSandbox('test') });
    expect([refused.code, refused.target, refused.set, quota.used.size]).toEqual(['sandbox_missing', undefined, {}, 0]);
    expect(refused.decision).toMatchObject({ outcome: 'sandbox_missing', product: 'api-ip', subscriptionId: 'sub-1' });
    expect((await call({ headers: bearer }, { quota, record: withoutSandbox('live') })).exit).toBeUndefined();
    expect((await call({ headers: bearer }, { quota, record: recordOf({ mode: 'test' }) })).exit).toBeUndefined();
  });

  it('of a request with so many headers that a service could not read the proof behind them is a 400, and nothing is counted', async () => {
    const quota = memoryQuota();
    const many = (length: number): Record<string, string> => Object.fromEntries(Array.from({ length }, (_, at) => [`h${at}`, 'x']));
    for (const length of [950, 994, 998, 999]) {
      expect((await call({ headers: { ...many(length), ...bearer } }, { quota })).code).toBe('request_not_readable');
      expect((await call({ headers: { a: Array.from({ length }, () => 'x'), ...bearer } }, { quota })).code).toBe('request_not_readable');
    }
    expect(quota.used.size).toBe(0);
    expect((await call({ headers: { ...many(949), ...bearer } }, { quota })).exit).toBeUndefined();
  });

  it.each(['close, X-Tollgate-Context', 'x-tollgate-context', 'keep-alive,X-Kong-Request-Id', 'X_Forwarded_For'])(
    'of a request whose Connection would take a header of the gateway off it is a 400, and nothing is counted: %s',
    async (connection) => {
      for (const withoutVariable of [true, false]) {
        const quota = memoryQuota();
        expect((await call({ headers: { ...bearer, connection }, withoutVariable }, { quota })).code).toBe('request_not_readable');
        expect(
          (await call({ headers: { ...bearer, connection: 'keep-alive, Upgrade' }, withoutVariable }, { quota })).exit,
        ).toBeUndefined();
        expect(quota.used.size).toBe(1);
      }
    },
  );

  it.each([
    '/ip/..%2fgst',
    '/ip/..%5Cgst',
    '/ip/%2e%2E%2Fgst',
    '/ip/a%2f..',
    '/ip/..\\gst',
    '/ip/.%2f',
    '/ip/..;/gst',
    '/ip/%2e%2e;a=b/gst',
  ])('of a path that leads elsewhere once it is decoded is a 400, and nothing is counted: %s', async (path) => {
    for (const withoutVariable of [true, false]) {
      const quota = memoryQuota();
      const { exit, code } = await call({ headers: bearer, path, withoutVariable }, { quota });
      expect([exit?.status, code, quota.used.size]).toEqual([400, 'ambiguous_path', 0]);
    }
  });

  it.each(['/ip/a%2Fb', '/ip/a..%2fb', '/ip/...', '/ip/a%5cb', '/ip/a;b=..', '/ip/..a%2fb', '/ip/..?next=..%2f'])(
    'is none of a path that is one path to every server: %s',
    async (path) => {
      for (const withoutVariable of [true, false]) expect((await call({ headers: bearer, path, withoutVariable })).exit).toBeUndefined();
    },
  );

  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  it.each<[string, FakeRequest, RegExp]>([
    ['of unknown length', { headers: { ...form, 'transfer-encoding': 'chunked' } }, /without Content-Length/],
    ['that is too large', { headers: { ...form, 'content-length': '1048577' } }, /over 1048576 bytes/],
    ['of another type', { headers: { 'content-type': 'application/json', 'content-length': '60' } }, /query or form parameter api_key/],
    ['without a body', { headers: { ...form, 'content-length': '0' } }, /Send your API key/],
  ])('of a form %s says so without asking for its body', async (_, request, reason) => {
    const { calls, exit, code } = await call(request);
    expect([code, exit?.body['detail']]).toEqual(['key_missing', expect.stringMatching(reason)]);
    expect(calls).not.toContain('get_raw_body');
  });

  it('of a form that does not arrive in time comes without it', async () => {
    const body = new Promise<Buffer>(() => undefined);
    const { exit, code } = await call({ headers: { ...form, 'content-length': '60' }, body }, { config: { form_key_timeout_ms: 20 } });
    expect([code, exit?.body['detail']]).toEqual(['key_missing', expect.stringMatching(/did not arrive within 0.02 s/)]);
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
    expect(proofIn(allowed)).toMatchObject({
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
      { products: ['no id of a product'] },
      { products: ['api-ip'], on_quota_store_error: 'maybe' },
      { products: ['api-ip'], key_in: [] },
    ]) {
      expect(() => createInstance(config, { records: recordsOf(undefined), quota: memoryQuota(), signContext })).toThrow();
    }
  });
});

const unknown = generateApiKey('live');
const KEYS = {
  'ours with a wrong checksum': unknown.slice(0, -1) + (unknown.endsWith('A') ? 'B' : 'A'),
  'ours, and unknown': unknown,
  'of a foreign form, and unknown': 'shop-9-7f4e11c09ab2d35586Zq',
  'of a foreign form, imported and revoked': 'shop-1-7f4e11c09ab2d35586Zq',
  'of a foreign form, imported and inactive': 'shop-2-7f4e11c09ab2d35586Zq',
  'of a foreign form, imported and expired': 'shop-3-7f4e11c09ab2d35586Zq',
} as const;
type Which = keyof typeof KEYS;

/** What one request costs beyond the work of every request. */
interface Work {
  /** SHA-256 of the key. */
  readonly hashes: number;
  /** Records read from the database. */
  readonly reads: number;
  /** Questions whether all changes have been reported; requests that ask together share one. */
  readonly proofs: number;
  /** Exchanges with the store of the quota. */
  readonly spends: number;
}

const imported = new Map<string, AccessRecord>([
  [hashApiKey(KEYS['of a foreign form, imported and revoked']), recordOf({ credentialId: 'one', state: 'revoked' })],
  [hashApiKey(KEYS['of a foreign form, imported and inactive']), recordOf({ credentialId: 'two', state: 'inactive' })],
  [hashApiKey(KEYS['of a foreign form, imported and expired']), recordOf({ credentialId: 'three', expiresAtMs: NOW_MS - 1 })],
]);

/** The records as a node has them: a cache before a store, and the list of keys that exist. */
async function openNode() {
  const work = { hashes: 0, reads: 0, proofs: 0, spends: 0 };
  const listeners: ((change: Change) => void)[] = [];
  const feed = {
    isHealthy: () => true,
    lastHealthyAt: () => 0,
    caughtUp: () => Promise.resolve(++work.proofs > 0),
    subscribe: (listener: (change: Change) => void) => (listeners.push(listener), () => undefined),
  };
  const starts = Buffer.from([...imported.keys()].map((each) => each.slice(0, 16)).join(''), 'hex');
  const hashes = new KnownHashes({ source: { readHashes: () => Promise.resolve({ starts, next: undefined }) }, feed });
  const source = { findAccessRecord: (hash: string) => (work.reads++, Promise.resolve(imported.get(hash))) };
  const clock = { now: () => NOW_MS, monotonic: () => 0 };
  const records = new AccessRecordCache({ source, feed, hashes, clock });
  listeners.forEach((listener) => listener({ kind: 'gap' }));
  await eventually(() => hashes.stats().isComplete);
  const counted = memoryQuota();
  const quota = { ...counted, spend: (...given: Parameters<typeof counted.spend>) => (work.spends++, counted.spend(...given)) };
  const ask = async (which: Which) => {
    const before = { ...work };
    const hash = jest.spyOn(crypto, 'hash');
    const { exit } = await call({ headers: { 'x-api-key': KEYS[which] } }, { records, quota });
    const spent: Work = {
      hashes: hash.mock.calls.length,
      reads: work.reads - before.reads,
      proofs: work.proofs - before.proofs,
      spends: work.spends - before.spends,
    };
    hash.mockRestore();
    return { exit, spent };
  };
  return { ask };
}

const NOTHING: Work = { hashes: 0, reads: 0, proofs: 0, spends: 0 };

describe('a key that admits nothing', () => {
  it.each<[Which, Work]>([
    ['ours with a wrong checksum', NOTHING],
    ['ours, and unknown', { ...NOTHING, hashes: 1, proofs: 1 }],
    ['of a foreign form, and unknown', { ...NOTHING, hashes: 1, proofs: 1 }],
    ['of a foreign form, imported and revoked', { ...NOTHING, hashes: 1, reads: 1 }],
    ['of a foreign form, imported and inactive', { ...NOTHING, hashes: 1, reads: 1 }],
    ['of a foreign form, imported and expired', { ...NOTHING, hashes: 1, reads: 1 }],
  ])(
    'is refused for the same work whatever its form, one exchange with the database at most, and then from memory: %s',
    async (which, first) => {
      const { ask } = await openNode();
      expect((await ask(which)).spent).toEqual(first);
      expect((await ask(which)).spent).toEqual({ ...NOTHING, hashes: first.hashes });
    },
  );

  it('is refused alike where it is unknown, inactive or revoked', async () => {
    const { ask } = await openNode();
    const refusal = async (which: Which) => (await ask(which)).exit;
    const expected = await refusal('ours with a wrong checksum');
    expect(expected).toMatchObject({ status: 401, body: { code: 'key_unknown' } });
    const alike: Which[] = ['ours, and unknown', 'of a foreign form, and unknown', 'of a foreign form, imported and revoked', 'of a foreign form, imported and inactive']; // prettier-ignore
    for (const which of alike) expect([which, await refusal(which)]).toEqual([which, expected]);
    expect(await refusal('of a foreign form, imported and expired')).toMatchObject({ body: { code: 'key_expired' } });
  });
});
