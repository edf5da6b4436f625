import { explainRequest, type Explanation, type Reader } from '../../../services/selling/requests/explain';
import { asStrangersSee, type KnownRequest } from '../../../services/selling/requests/known-request';
import { type Decision } from '../../../plugins/core/ports';
import { listProblems, type DenialCode } from '../../../plugins/core/problems';
import { someDecision } from '../../support/some-decision';

const decision = someDecision({
  keyPlace: 'query',
  maskedKey: 'tg_live…abcd',
  credentialId: 'c1',
  subscriptionId: 's1',
  product: 'api-ip',
  callerAddress: '203.0.113.7',
  matchedRule: '203.0.113.0/24',
  quota: { day: '2026-11-20', usedDaily: 3, usedMonthly: 9, daily: 10, monthly: 30, exceeded: undefined },
});

const NOW_MS = 10_000;
const explain = (request: KnownRequest, reader: Reader = 'customer', nowMs = NOW_MS): Explanation =>
  explainRequest(request, { reader, nowMs });

const DENIALS: DenialCode[] = [
  'request_not_readable',
  'ambiguous_path',
  'key_missing',
  'ambiguous_key',
  'key_unknown',
  'key_inactive',
  'key_expired',
  'product_not_authorised',
  'subscription_missing',
  'subscription_inactive',
  'caller_not_whitelisted',
  'sandbox_missing',
  'quota_daily_exceeded',
  'quota_monthly_exceeded',
  'rate_exceeded',
  'access_layer_unavailable',
  'quota_unavailable',
];

describe('an explanation', () => {
  it('says of the count of a test key whose it is', () => {
    const saw = (maskedKey: string) => explain({ ...decision, maskedKey }).checks.at(-1)?.saw;
    expect(saw('tg_live…abcd')).toBe('day 2026-11-20: 3 of 10, month: 9 of 30');
    expect(saw('tg_test…abcd')).toBe('of test keys, day 2026-11-20: 3 of 10, month: 9 of 30');
  });

  it('of a daily cap says whose it is, and not that a plan would help', () => {
    const quota = { day: '2026-11-20', usedDaily: 10, usedMonthly: 10, daily: 10, monthly: 30, exceeded: 'daily', isCapped: true } as const;
    const { checks, remedy } = explain({ ...decision, outcome: 'quota_daily_exceeded', quota });
    expect(checks.at(-1)).toMatchObject({ outcome: 'failed', saw: 'day 2026-11-20: 10 of 10 (your own cap), month: 10 of 30' });
    expect(remedy).toMatch(/cap that you set yourself/);
    expect(remedy).not.toContain('plan');
  });

  it('of a request that came too fast says what the rate is, and that requests should be spread', () => {
    const rate = { limit: 10, windowSeconds: 1, burst: 20 } as const;
    const quota = { day: '2026-11-20', usedDaily: 3, usedMonthly: 9, daily: 10, monthly: 30, exceeded: 'rate', rate } as const;
    const { checks, remedy } = explain({ ...decision, outcome: 'rate_exceeded', quota });
    const saw = 'day 2026-11-20: 3 of 10, month: 9 of 30; 10 requests a second, bursts of 20';
    expect(checks.at(-1)).toMatchObject({ outcome: 'failed', saw });
    expect(remedy).toContain('spread');
  });

  it('shows every check of an admitted request as passed, with what it saw', () => {
    const { checks, remedy } = explain(decision);
    expect(checks.every((check) => check.outcome === 'passed')).toBe(true);
    expect(checks.map((check) => check.saw).join('\n')).toContain('address 203.0.113.7, origin none, rule 203.0.113.0/24');
    expect(checks.at(-1)?.saw).toBe('day 2026-11-20: 3 of 10, month: 9 of 30');
    expect(remedy).toBe('');
  });

  it.each<[DenialCode, string, string]>([
    ['key_inactive', 'unpaid', 'key c1, suspended by the seller: unpaid'],
    ['key_inactive', '', 'key c1, suspended by the seller'],
    ['subscription_inactive', 'unpaid', 'none that is active, suspended by the seller: unpaid'],
  ])('of %s says that the seller suspended it, why, and to contact him or do what that asks for', (outcome, suspended, saw) => {
    const { summary, checks, remedy, fixes } = explain({ ...decision, subscriptionId: undefined, outcome, suspended });
    expect(fixes).toEqual([{ kind: 'ask_support' }]);
    expect(checks.find((check) => check.outcome === 'failed')?.saw).toBe(saw);
    expect(remedy).toContain('contact the seller');
    expect(remedy).not.toMatch(/Resume|Activate|ubscribe again/);
    // The code of its response, which does not say that there is such a key.
    expect(summary).toContain(`→ 401 ${outcome === 'key_inactive' ? 'key_unknown' : outcome}.`);
  });

  it.each<[DenialCode, string]>([
    ['access_layer_unavailable', 'tg_live…abcd in query, which could not be looked up'],
    ['key_unknown', 'tg_live…abcd in query, not on record'],
    ['quota_unavailable', 'usage could not be read'],
  ])('of %s says what was seen, and not that what could not be seen is not so', (outcome, saw) => {
    const { checks } = explain({ ...decision, credentialId: undefined, quota: undefined, outcome });
    expect(checks.find((check) => check.outcome === 'failed')?.saw).toBe(saw);
  });

  it.each(DENIALS)('of %s has exactly one failed check, none reached after it, and a remedy', (outcome) => {
    const { checks, remedy } = explain({ ...decision, outcome });
    const failed = checks.findIndex((check) => check.outcome === 'failed');
    expect(checks.filter((check) => check.outcome === 'failed')).toHaveLength(1);
    expect(checks.slice(failed + 1).every((check) => check.outcome === 'not reached')).toBe(true);
    expect(remedy).not.toBe('');
    expect(listProblems().some(({ code }) => code === outcome)).toBe(true);
  });

  it.each([
    [
      'caller_not_whitelisted',
      { originHost: 'shop.example.com', matchedRule: undefined },
      /rule for 203\.0\.113\.7 or for shop\.example\.com/,
    ],
    ['caller_not_whitelisted', { matchedRule: undefined }, /rule for 203\.0\.113\.7 to the key/],
    ['product_not_authorised', { product: undefined, products: ['api-glead', 'api-grank'] }, /api-glead or api-grank/],
    [
      'product_not_authorised',
      { product: undefined, products: ['api-glead', 'api-grank'], productTitle: 'Leads' },
      /for api-glead or api-grank/,
    ],
    ['subscription_missing', {}, /Subscribe to api-ip/],
    ['subscription_missing', { productTitle: 'IP lookup' }, /Subscribe to IP lookup \(api-ip\)/],
    ['sandbox_missing', { productTitle: 'IP lookup' }, /Use a live key: IP lookup \(api-ip\) has no sandbox/],
  ] as const)('of %s names what is to be changed', (outcome, extra, text) => {
    expect(explain({ ...decision, ...extra, outcome }).remedy).toMatch(text);
  });

  it('tells a key without rules from one whose rules did not match', () => {
    const saw = (outcome: Decision['outcome']): string | undefined =>
      explain({ ...decision, matchedRule: undefined, outcome }).checks.find(({ check }) => check.includes('whitelist'))?.saw;
    expect(saw('admitted')).toBe('address 203.0.113.7, origin none, the key has no rules');
    expect(saw('caller_not_whitelisted')).toBe('address 203.0.113.7, origin none, no rule matched');
  });
});

const parcel: KnownRequest = { ...decision, productTitle: 'Parcel API', method: 'GET', rawPath: '/parcel/carriers' };
const answered = (status: number, extra: Partial<KnownRequest> & { isFromApi?: boolean } = {}): KnownRequest => {
  const { isFromApi = true, ...rest } = extra;
  return { ...parcel, answer: { status, milliseconds: 31, bytes: 107, units: 1, isFromApi }, ...rest };
};
const outage = { since: '2026-11-20T13:00:00Z' };

describe('the first line', () => {
  it.each<[string, KnownRequest, string]>([
    ['an API that did not answer', answered(502, { isFromApi: false, isGivenBack: true }), '→ 502 in 31 ms. Your request was admitted; Parcel API did not answer. Given back.'],
    ['an API that failed', answered(500), '→ 500 in 31 ms. Your request was admitted; Parcel API failed. Charged.'],
    ['a gateway that refused after the checks', answered(413, { isFromApi: false }), '→ 413 in 31 ms. Your request was admitted; the gateway refused it. Charged.'],
    ['a client that left', answered(499), '→ 499 in 31 ms. Your request was admitted; the client left before the response was sent. Charged.'],
    ['a success', answered(200), '→ 200 in 31 ms. Your request was admitted; Parcel API answered. Charged.'],
    ['a success that counts nothing', answered(200, { quota: undefined }), '→ 200 in 31 ms. Your request was admitted; Parcel API answered. Nothing was charged.'],
    ['a response that says its price', answered(200, { isPricedByAnswer: true, isGivenBack: true }), '→ 200 in 31 ms. Your request was admitted; Parcel API answered. 1 unit charged, as the API reported.'],
    ['a refusal', { ...parcel, outcome: 'key_expired' }, '→ 401 key_expired. Your request was refused: API key expired. Nothing was charged.'],
    ['a refusal that was only recorded', { ...parcel, outcome: 'would_refuse:key_expired' }, '→ Parcel API. Your request was let through: its route does not enforce. It would have been refused: API key expired.'],
    ['a response that is not reported yet', parcel, '→ no response reported yet. Your request was admitted.'],
  ])('of %s says what the caller got, whose it is and what it cost', (_name, request, text) => {
    expect(explain(request).summary).toBe(`GET /parcel/carriers ${text}`);
  }); // prettier-ignore

  it('does not wait for a report for ever, and does without a path', () => {
    const late = explain({ ...parcel, rawPath: '' }, 'customer', 61_000);
    expect(late).toMatchObject({ isRunning: false, answer: null, summary: expect.stringMatching(/^Request → no response reported\. /) });
    expect(explain(parcel)).toMatchObject({ isRunning: true, answer: null });
    expect(explain({ ...parcel, outcome: 'key_missing' }).isRunning).toBe(false);
  });

  it('does not say what is forgotten: refunds are known for three days', () => {
    const fourDays = 4 * 86_400_000;
    expect(explain(answered(502), 'customer', fourDays)).toMatchObject({
      answer: { charge: 'unknown' },
      summary: expect.stringMatching(/failed\.$/),
    });
  });
});

it('an explanation has the response, and the product as it was at that time', () => {
  expect(explain(answered(502, { isFromApi: false, isGivenBack: true, outage }))).toMatchObject({
    answer: { status: 502, milliseconds: 31, bytes: 107, units: 1, charge: 'given_back' },
    product: { id: 'api-ip', title: 'Parcel API', failing: true, since: outage.since, until: null },
    fixes: [{ kind: 'open_status' }, { kind: 'ask_support' }],
    remedy: expect.stringContaining('Parcel API may have begun with it'),
  });
  expect(explain(answered(200, { outage }))).toMatchObject({ product: { failing: true }, fixes: [], remedy: '' });
  expect(explain(answered(200))).toMatchObject({ product: { failing: false, since: null, until: null } });
});

it('an explanation tells the seller what the seller can do', () => {
  const ofUnanswered = explain(answered(502, { isFromApi: false, outage }), 'seller');
  expect(ofUnanswered).toMatchObject({ fixes: [], remedy: 'Check that Parcel API runs and can be reached from the gateway.' });
  expect(ofUnanswered.summary).toContain('The request was admitted');
});

describe('strangers who hold the id', () => {
  const full: KnownRequest = {
    ...answered(200),
    customerId: 'customer',
    originHost: 'shop.example.com',
    suspended: 'unpaid',
    included: { daily: 1, monthly: 2 },
  };

  it.each(DENIALS)('of %s see what the caller sent, and nothing of the account', (outcome) => {
    const seen = asStrangersSee({ ...full, outcome });
    const text = JSON.stringify([seen, explain(seen)]);
    for (const secret of ['c1', 's1', '"customer"', '203.0.113', 'shop.example', 'unpaid', '2026-11-20'])
      expect(text).not.toContain(secret);
    expect(seen).toMatchObject({ method: 'GET', rawPath: '/parcel/carriers', maskedKey: 'tg_live…abcd' });
  });

  it('cannot tell a revoked key from one that never existed, also where nothing is enforced', () => {
    const seen = (outcome: Decision['outcome']) => explain(asStrangersSee({ ...full, outcome }));
    expect(seen('key_inactive')).toEqual(seen('key_unknown'));
    expect(seen('would_refuse:key_inactive')).toEqual(seen('would_refuse:key_unknown'));
  });
});
