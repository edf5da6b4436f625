import { answerLineIn, parseAnswerLine, requestIdOfLine } from '../../../plugins/core/access/answer-line';
import { QuotaHours, decideSpend, isTimeZone, rateLimitHeaders, reportQuota, windowsAt } from '../../../plugins/core/access/quota';
import { fc, propertyRuns } from '../../support/fast-check';
import { type AccessRecord, type SubscriptionAccess } from '../../../plugins/core/ports';
import { checkSubscription } from '../../../plugins/core/access/subscription';
import { compileWhitelist, checkWhitelist, normaliseHost, originHostOf, parseWhitelistRule } from '../../../plugins/core/access/whitelist';

const ID = 'dcea180d05edd8522f04e5397b1bec2f';
/** As Kong 3.9.3 sent them: an answer, one after a second attempt, a connection refused twice, a time-out, a client that left. */
const HEAD = '<190>Nov 24 12:40:03 tg: ';

it.each([
  ['200 0.002 5 0.001', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['502 0.002 5 0.001', { status: 502, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['200 1.250 17 -, 0.003', { status: 200, elapsedMs: 1_250, bytes: 17, isFromApi: true }],
  ['502 0.003 126 -, -', { status: 502, elapsedMs: 3, bytes: 126, isFromApi: false }],
  ['502 0.003 126 0.001 : -', { status: 502, elapsedMs: 3, bytes: 126, isFromApi: false }],
  ['504 60.001 102 -', { status: 504, elapsedMs: 60_001, bytes: 102, isFromApi: false }],
  ['499 0.403 0 -', { status: 499, elapsedMs: 403, bytes: 0, isFromApi: false }],
  // HTTP/0.9, as nginx understands an answer that is no HTTP.
  ['009 0.005 11 0.005', { status: 502, elapsedMs: 5, bytes: 11, isFromApi: true }],
  // What the API says the answer costs.
  ['200 0.002 5 0.001 units=17', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true, units: '17' }],
  ['200 1.250 17 -, 0.003 units=1, 2', { status: 200, elapsedMs: 1_250, bytes: 17, isFromApi: true, units: '1' }],
  ['200 0.002 5 0.001 units=-', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true }],
  ['200 0.002 5 0.001 units=units=1', { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true, units: 'units=1' }],
  // HAProxy: whole milliseconds, and -1 for no answer.
  ['200 12 5 11', { status: 200, elapsedMs: 12, bytes: 5, isFromApi: true }],
  ['503 3001 107 -1', { status: 503, elapsedMs: 3_001, bytes: 107, isFromApi: false }],
])('an answer is read: %s', (line, answer) => {
  const text = answerLineIn(Buffer.from(`${HEAD}${ID} ${line}`)) ?? '';
  expect(requestIdOfLine(text)).toBe(ID);
  expect(parseAnswerLine(text)).toEqual({ requestId: ID, ...answer });
});

it.each(['', ID, `${ID} 200`, `${ID} 2000 0.1 5 -`, `${ID} 200 -1 5 -`, `${ID} 200 0.1 -5 -`, `${ID} 200 0.1 5`, `${ID} 200 0.1 5 ${'1'.repeat(201)}`, `x 200 0.1 5 -`, `${ID} 200 1e9 5 -`, `${ID} 200 0.1 5 0x1`, `${ID}\t200 0.1 5 -`])(
  'a line of another form says nothing: %j',
  (line) => expect(parseAnswerLine(line)).toBeUndefined(),
); // prettier-ignore

it.each(['', 'hello', 'tg:', `${'x'.repeat(65)}tg: ${ID} 200 0.1 5 -`, `tg: ${'x'.repeat(16_400)}`, '{', '{"status":'])('a datagram without a line is passed over: %j', (text) =>
  expect(answerLineIn(Buffer.from(text))).toBeUndefined(),
); // prettier-ignore

/** As Caddy 2.6.2 sent them: an answer of an API, one of its own, a client that left. */
it.each([
  [
    '"duration":0.002024483,"size":5,"status":200,"resp_headers":{"Date":["Tue, 24 Nov 2026 13:34:14 GMT"],"X-Kong-Request-Id":["ID"]}',
    { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true },
  ],
  [
    '"user_id":"units=17","duration":0.002,"size":5,"status":200,"resp_headers":{"Date":["Tue"],"X-Kong-Request-Id":["ID"]}',
    { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true, units: '17' },
  ],
  [
    '"user_id":"17","duration":0.002,"size":5,"status":200,"resp_headers":{"Date":["Tue"],"X-Kong-Request-Id":["ID"]}',
    { status: 200, elapsedMs: 2, bytes: 5, isFromApi: true },
  ],
  [
    '"duration":0.00021504,"size":3,"status":502,"resp_headers":{"X-Kong-Request-Id":["ID"]}',
    { status: 502, elapsedMs: 0, bytes: 3, isFromApi: false },
  ],
  [
    '"duration":0.280655153,"size":0,"status":0,"resp_headers":{"X-Kong-Request-Id":["ID"]}',
    { status: 499, elapsedMs: 281, bytes: 0, isFromApi: false },
  ],
])('an answer of Caddy is read: %s', (members, answer) => {
  const line = answerLineIn(Buffer.from(`{"level":"info",${members.replace('ID', ID)}}\n`)) ?? '';
  expect(parseAnswerLine(line)).toEqual({ requestId: ID, ...answer });
});

it('an answer of HAProxy is read, whatever path comes after it', () => {
  const line = answerLineIn(Buffer.from(`{"answer":"tg: ${ID} 200 12 105 11","request_id":"${ID}","path":"/tg: ","status":200}\n`)) ?? '';
  expect(parseAnswerLine(line)).toEqual({ requestId: ID, status: 200, elapsedMs: 12, bytes: 105, isFromApi: true });
});

const at = (iso: string): number => Date.parse(iso) / 1000;

describe('quota windows', () => {
  it('turn at midnight in Asia/Kolkata, which is 18:30 UTC', () => {
    expect(windowsAt(at('2026-11-20T18:29:59Z'), 'Asia/Kolkata')).toMatchObject({
      day: '2026-11-20',
      dayEndsAt: at('2026-11-20T18:30:00Z'),
    });
    expect(windowsAt(at('2026-11-20T18:30:00Z'), 'Asia/Kolkata')).toMatchObject({
      day: '2026-11-21',
      dayStartsAt: at('2026-11-20T18:30:00Z'),
    });
    expect(windowsAt(at('2026-11-30T18:30:00Z'), 'Asia/Kolkata')).toMatchObject({
      month: '2026-12',
      monthStartsAt: at('2026-11-30T18:30:00Z'),
    });
  });

  it('are 23 and 25 hours long where clocks change', () => {
    const spring = windowsAt(at('2026-03-08T12:00:00Z'), 'America/New_York');
    const autumn = windowsAt(at('2026-11-01T12:00:00Z'), 'America/New_York');
    expect(spring.dayEndsAt - spring.dayStartsAt).toBe(23 * 3600);
    expect(autumn.dayEndsAt - autumn.dayStartsAt).toBe(25 * 3600);
  });

  it('have up to 26 hours, where clocks go back by two', () => {
    const zone = 'Antarctica/Troll';
    const { day, dayStartsAt, dayEndsAt } = windowsAt(at('2026-10-25T12:00:00Z'), zone);
    expect(dayEndsAt - dayStartsAt).toBe(26 * 3600);
    expect(new QuotaHours(zone).at((dayEndsAt - 1) * 1000)).toEqual({ day, hour: 25 });
  });

  it('start at the change where midnight does not exist', () => {
    // Beirut goes from 00:00 to 01:00 on the last Sunday of March.
    const day = windowsAt(at('2026-03-29T12:00:00Z'), 'Asia/Beirut');
    expect(day).toMatchObject({ day: '2026-03-29', dayStartsAt: at('2026-03-28T22:00:00Z') });
  });

  it('hold their moment, touch their neighbours and agree with the calendar in any zone', () => {
    const zones = ['UTC', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Sao_Paulo', 'Asia/Beirut'];
    fc.assert(
      fc.property(
        fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') }),
        fc.constantFrom(...zones),
        (moment, zone) => {
          const now = windowsAt(moment, zone);
          expect(moment).toBeGreaterThanOrEqual(now.dayStartsAt);
          expect(moment).toBeLessThan(now.dayEndsAt);
          expect(now.dayStartsAt).toBeGreaterThanOrEqual(now.monthStartsAt);
          expect(now.dayEndsAt).toBeLessThanOrEqual(now.monthEndsAt);
          expect(windowsAt(now.dayEndsAt, zone).dayStartsAt).toBe(now.dayEndsAt);
          expect(windowsAt(now.dayEndsAt - 1, zone).day).toBe(now.day);
          expect(now.day).toBe(new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(moment * 1000));
        },
      ),
      { numRuns: propertyRuns(300) },
    );
  });

  it('know which zones exist', () => {
    expect(isTimeZone('Asia/Kolkata')).toBe(true);
    expect(isTimeZone('Asia/Nowhere')).toBe(false);
  });
});

describe('a spend', () => {
  it('takes from day and month together or from neither, and never past a limit', () => {
    const count = fc.nat({ max: 50 });
    fc.assert(
      fc.property(
        fc.tuple(count, count, count, count),
        fc.integer({ min: 1, max: 20 }),
        ([usedDaily, usedMonthly, daily, monthly], requested) => {
          const { granted, exceeded } = decideSpend({ usedDaily, usedMonthly }, { daily, monthly }, requested);
          expect(granted).toBeGreaterThanOrEqual(0);
          expect(granted).toBeLessThanOrEqual(requested);
          if (granted > 0) expect(usedDaily + granted <= daily && usedMonthly + granted <= monthly).toBe(true);
          expect(exceeded === undefined).toBe(granted === requested);
          if (exceeded) expect(Math.min(daily - usedDaily, monthly - usedMonthly) - granted).toBeLessThanOrEqual(0);
        },
      ),
    );
  });

  it('names the month when both windows are used up, because the next day would not help', () => {
    expect(decideSpend({ usedDaily: 5, usedMonthly: 50 }, { daily: 5, monthly: 50 }, 1).exceeded).toBe('monthly');
    expect(decideSpend({ usedDaily: 5, usedMonthly: 49 }, { daily: 5, monthly: 50 }, 1).exceeded).toBe('daily');
  });
});

describe('the RateLimit fields', () => {
  it('carry limit, window, remaining and seconds to the reset', () => {
    const windows = windowsAt(at('2026-11-20T12:00:00Z'), 'Asia/Kolkata');
    const report = reportQuota({ ...windows, usedDaily: 7, usedMonthly: 40 }, { daily: 10, monthly: 30 });
    expect(rateLimitHeaders(report, at('2026-11-20T12:00:00Z'))).toEqual({
      'RateLimit-Policy': '"daily";q=10;w=86400, "monthly";q=30;w=2592000',
      RateLimit: '"daily";r=3;t=23400, "monthly";r=0;t=887400',
    });
  });

  it.each([
    ['the day', { usedDaily: 7, usedMonthly: 40 }, '"included";r=1;t=23400', '"included";q=8;w=86400'],
    ['the month', { usedDaily: 2, usedMonthly: 99 }, '"included";r=1;t=887400', '"included";q=100;w=2592000'],
    ['nothing', { usedDaily: 9, usedMonthly: 40 }, '"included";r=0;t=23400', '"included";q=8;w=86400'],
  ])('say what is left before use is charged: %s', (_, used, left, policy) => {
    const limits = { daily: 10, monthly: 300, included: { daily: 8, monthly: 100 } };
    const now = '2026-11-20T12:00:00Z';
    const fields = rateLimitHeaders(reportQuota({ ...windowsAt(at(now), 'Asia/Kolkata'), ...used }, limits), at(now));
    expect(fields.RateLimit.split(', ')[2]).toBe(left);
    expect(fields['RateLimit-Policy'].split(', ')[2]).toBe(policy);
  });
});

const subscription = (product: string, extra: Partial<SubscriptionAccess> = {}): SubscriptionAccess => ({
  id: `subscription to ${product}`,
  product,
  plan: null,
  state: 'active',
  limits: { daily: 1, monthly: 1 },
  ...extra,
});

const recordOf = (extra: Partial<AccessRecord> = {}): AccessRecord => ({
  credentialId: 'key',
  customerId: 'customer',
  mode: 'live',
  state: 'active',
  expiresAtMs: null,
  products: ['api-ip', 'api-seo'],
  whitelist: compileWhitelist([]),
  subscriptions: [subscription('api-ip'), subscription('api-seo')],
  ...extra,
});

const unpaid = (product: string, extra: Partial<SubscriptionAccess> = {}) => subscription(product, { suspended: 'unpaid', ...extra });
const inactive = { ok: false, denial: 'subscription_inactive', suspended: 'unpaid' };

it.each<[string, Partial<AccessRecord>, object]>([
  ['nothing, and the key is admitted', {}, { ok: true }],
  ['a key: refused as inactive, with the reason', { suspended: 'unpaid' }, { ok: false, denial: 'key_inactive', suspended: 'unpaid' }],
  ['a key, without a reason', { suspended: '' }, { ok: false, denial: 'key_inactive', suspended: '' }],
  ['a subscription: refused as inactive, with the reason', { subscriptions: [unpaid('api-ip')] }, inactive],
  ['a subscription, without a reason', { subscriptions: [unpaid('api-ip', { suspended: '' })] }, { ...inactive, suspended: '' }],
  ['a subscription that its customer paused', { subscriptions: [unpaid('api-ip', { state: 'paused' })] }, inactive],
  ['a subscription that its customer cancelled', { subscriptions: [unpaid('api-ip', { state: 'cancelled' })] }, inactive],
  ['another subscription than the one missed', { subscriptions: [unpaid('api-seo')] }, { ok: false, denial: 'subscription_missing' }],
])('the seller suspended %s', (_, extra, verdict) => {
  expect(checkSubscription(recordOf(extra), ['api-ip'], 1)).toMatchObject(verdict);
});

it('what the seller suspended leaves a route the other product that the key may use', () => {
  const record = recordOf({ subscriptions: [unpaid('api-ip'), subscription('api-seo')] });
  expect(checkSubscription(record, ['api-ip', 'api-seo'], 1)).toMatchObject({ ok: true, subscription: { product: 'api-seo' } });
});

const admits = (rules: string[], address: string, originHost?: string): boolean =>
  checkWhitelist(compileWhitelist(rules), { address, originHost }).admitted;

describe('whitelist rules', () => {
  const both = ['10.0.0.0/8', 'example.com'];

  it.each<[string, string[], string, string?]>([
    ['everyone when there are none', [], '203.0.113.7'],
    ['a caller whose address matches at least one', both, '10.200.3.4'],
    ['a caller whose origin matches at least one', both, '192.0.2.1', 'example.com'],
    ['a v4-mapped v6 address as the v4 address', ['10.0.0.0/8'], '::ffff:10.1.2.3'],
    ['a v4 address by a v4-mapped v6 network', ['::ffff:10.0.0.0/104'], '10.1.2.3'],
    ['a v4 address by a v4-mapped v6 address', ['::ffff:203.0.113.7'], '203.0.113.7'],
    ['v6 networks to the bit', ['2001:db8::/33'], '2001:db8:7fff::1'],
    ['subdomains by a wildcard', ['*.example.com'], '192.0.2.1', 'a.example.com'],
    ['their subdomains by a wildcard', ['*.example.com'], '192.0.2.1', 'a.b.example.com'],
  ])('admit %s', (_, rules, ...caller) => expect(admits(rules, ...caller)).toBe(true));

  it.each<[string, string[], string, string?]>([
    ['a caller who matches none', both, '192.0.2.1', 'example.org'],
    ['an address beside a network', ['10.0.0.0/8'], '11.0.0.0'],
    ['a v6 address that only looks like the v4 address', ['203.0.113.7'], '::203.0.113.7'],
    ['an address one bit beside a v6 network', ['2001:db8::/33'], '2001:db8:8000::'],
    ['a v4 address by all of v6', ['::/0'], '10.0.0.1'],
    ['the apex of a wildcard', ['*.example.com'], '192.0.2.1', 'example.com'],
    ['a host that ends like a wildcard', ['*.example.com'], '192.0.2.1', 'badexample.com'],
    ['a host that begins like a wildcard’s', ['*.example.com'], '192.0.2.1', 'a.example.com.evil.test'],
  ])('do not admit %s', (_, rules, ...caller) => expect(admits(rules, ...caller)).toBe(false));

  it('are normalised: case, trailing dot, punycode', () => {
    expect(parseWhitelistRule(' Example.COM. ')).toEqual({ ok: true, rule: { kind: 'domain', text: 'example.com' } });
    expect(admits(['bücher.example'], '192.0.2.1', 'xn--bcher-kva.example')).toBe(true);
    expect(normaliseHost('EXAMPLE.com.')).toBe('example.com');
  });

  it.each([
    ['', 'empty'],
    ['10.1.2.3/8', 'did you mean "10.0.0.0/8"'],
    ['10.0.0.0/33', 'not an IP address'],
    ['010.0.0.1', 'not an IP address'],
    ['1.2.3', 'not an IP address'],
    ['fe80::1%eth0', 'not an IP address'],
    ['http://example.com', 'not an IP address, a CIDR network, a host name'],
    ['exa mple.com', 'not an IP address, a CIDR network, a host name'],
    ['*.com.', 'top-level'],
    ['*', 'not an IP address'],
    ['example.com/admin', 'not an IP address, a CIDR network, a host name'],
    ['10.0.0.x/8', 'not an IP address, a CIDR network, a host name'],
    ['example.com?x', 'not an IP address, a CIDR network, a host name'],
    ['example.com#x', 'not an IP address, a CIDR network, a host name'],
    ['ex%61mple.com', 'not an IP address, a CIDR network, a host name'],
    ['exa\tmple.com', 'not an IP address, a CIDR network, a host name'],
    ['0x7f.1', 'not an IP address, a CIDR network, a host name'],
    ['１０.０.０.１', 'not an IP address, a CIDR network, a host name'],
    ['*.0.0.1', 'not an IP address, a CIDR network, a host name'],
  ])('refuse %p with a reason', (text, reason) => {
    const parsed = parseWhitelistRule(text);
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? '' : parsed.message).toContain(reason);
  });

  it('that cannot be read admit nobody', () => {
    for (const rule of ['???', '10.0.0.0/33', '10.1.2.3/8', '2001:db8::/129', '10.0.0.0/8 a.example']) {
      expect(() => compileWhitelist(['10.0.0.0/8', rule])).toThrow('cannot be read');
    }
  });

  it('agree with a plain bit comparison for any v4 address and network', () => {
    const octet = fc.nat({ max: 255 });
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), fc.tuple(octet, octet, octet, octet), fc.nat({ max: 32 }), (a, b, length) => {
        const number = (parts: number[]): number => parts.reduce((value, part) => value * 256 + part, 0);
        const size = 2 ** (32 - length);
        const start = Math.floor(number(b) / size) * size;
        const text = [24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256).join('.');
        expect(admits([`${text}/${length}`], a.join('.'))).toBe(number(a) >= start && number(a) < start + size);
      }),
    );
  });
});

describe('the origin host', () => {
  it('is that of Origin, else of Referer, without the port', () => {
    expect(originHostOf('https://App.Example.com:8443', undefined)).toBe('app.example.com');
    expect(originHostOf(undefined, 'https://app.example.com/page?x=1')).toBe('app.example.com');
    expect(originHostOf('https://a.example', 'https://b.example/')).toBe('a.example');
    expect(originHostOf('', 'https://b.example/')).toBe('b.example');
  });

  it.each([['null'], ['app.example.com'], ['file:///x'], ['https://'], ['javascript:alert(1)']])(
    'is unknown for Origin %p, and Referer does not replace it',
    (origin) => {
      expect(originHostOf(origin, 'https://b.example/')).toBeUndefined();
    },
  );

  it.each([
    'https://u:p@a.example/x',
    'HTTPS://A.Example:8443?x#y',
    'https://a.example\\@b.example',
    'https://bücher.example',
    'http://[::1]:80',
  ])('of %p is the one that a URL parser sees', (origin) => {
    expect(originHostOf(origin, undefined)).toBe(normaliseHost(new URL(origin).hostname));
  });

  it('is unknown when it is longer than any host', () => {
    expect(originHostOf(`https://${'a'.repeat(2_600)}`, undefined)).toBeUndefined();
    expect(originHostOf(`https://a.example/${'x'.repeat(8_000)}`, undefined)).toBe('a.example');
  });

  it('is unknown when the header is repeated', () => {
    expect(originHostOf(['https://a.example', 'https://b.example'], undefined)).toBeUndefined();
  });
});
