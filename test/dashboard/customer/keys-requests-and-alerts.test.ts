import { findRuleFlaws } from '../../../services/dashboard/web/customer/keys/rule-text';
import { simulateCaller } from '../../../services/dashboard/customer/keys/simulate-caller';
import { type Decision } from '../../../plugins/core/ports';
import { explainRequest, type Fix } from '../../../services/selling/requests/explain';
import { someDecision } from '../../support/some-decision';
import { groupRefusals } from '../../../services/dashboard/web/customer/overview/group-refusals';
import { type CatalogueProduct, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { isPublishedPath } from '../../../services/dashboard/customer/requests/published-path';
import { readSettings } from '../../../plugins/core/settings';
import { type AlertView } from '../../../services/selling/webhooks/alert-view';
import { alertMail } from '../../../services/dashboard/customer/alerts/alert-mails';
import { alertText } from '../../../services/dashboard/customer/alerts/alert-text';
import { alertSettings } from '../../../services/dashboard/customer/start-alerts';
import { parseCap, parsePercents } from '../../../services/dashboard/web/customer/alerts/threshold-text';
import { describeDetails } from '../../../services/dashboard/web/customer/audit/describe-details';
import { formatMoment } from '../../../services/dashboard/web/parts/format/time';

describe('the warning beside whitelist rules', () => {
  it.each([
    ['every IPv4 address', ['0.0.0.0/0'], '0.0.0.0/0 matches every address'],
    ['every IPv6 address', ['::/0', '203.0.113.7'], '::/0 matches every address'],
    ['a domain beside addresses', ['203.0.113.0/24', '*.example.com'], 'Origin of *.example.com'],
    ['a domain beside an IPv6 address', ['2001:db8::1', 'app.example.com'], 'Origin of app.example.com'],
  ])('is given for %s', (_what, rules, text) => {
    expect(findRuleFlaws(rules)).toEqual([expect.stringContaining(text)]);
  });

  it.each([
    ['no rules', []],
    ['addresses', ['203.0.113.7', '10.0.0.0/8', '2001:db8::/32']],
    ['domains', ['example.com', '*.example.com']],
  ])('is not given for %s alone', (_what, rules) => {
    expect(findRuleFlaws(rules)).toEqual([]);
  });
});

const active = (rules: readonly string[]) => ({ rules, state: 'active' }) as const;
const RULES = active(['10.0.0.0/8', '*.example.com', '2001:db8::/32', '203.0.113.7']);

describe('the whitelist simulator', () => {
  it.each([
    ['an address in a range', { address: '10.9.8.7' }, '10.0.0.0/8'],
    ['a single address', { address: '203.0.113.7' }, '203.0.113.7'],
    ['an IPv4 address written as IPv6', { address: '::ffff:10.1.1.1' }, '10.0.0.0/8'],
    ['an IPv6 address', { address: '2001:db8::1' }, '2001:db8::/32'],
    ['an origin', { origin: 'https://app.example.com' }, '*.example.com'],
    ['an origin without a scheme', { origin: 'APP.example.com.' }, '*.example.com'],
    ['an origin beside an address that no rule has', { address: '192.0.2.1', origin: 'https://app.example.com:8443' }, '*.example.com'],
  ])('lets in %s, and says by which rule', (_what, caller, rule) => {
    expect(simulateCaller(RULES, caller)).toEqual({ admitted: true, rule, reason: expect.stringContaining(rule) });
  });

  it.each([
    ['an address outside', { address: '11.0.0.1' }],
    ['the apex of a wildcard', { origin: 'https://example.com' }],
    ['the origin "null"', { origin: 'null' }],
    ['nobody in particular', {}],
  ])('keeps out %s', (_what, caller) => {
    expect(simulateCaller(RULES, caller)).toEqual({
      admitted: false,
      rule: null,
      reason: expect.stringMatching(/^None of the 4 rules/),
    });
  });

  it('lets everybody in without rules', () => {
    expect(simulateCaller(active([]), { address: '192.0.2.1' })).toMatchObject({ admitted: true, rule: null });
  });

  it.each(['revoked', 'inactive', 'expired'] as const)('lets nobody in with a key that is %s, whatever its rules say', (state) => {
    const answer = simulateCaller({ rules: [], state }, { address: '192.0.2.1' });
    expect(answer).toEqual({ admitted: false, rule: null, reason: expect.stringContaining(state) });
  });

  it.each([
    ['an address', { address: '300.1.1.1' }],
    ['an origin', { origin: 'https://' }],
    ['a rule', {}],
  ])('refuses %s that is none', (what, caller) => {
    expect(() => simulateCaller(what === 'a rule' ? active(['10.0.0.1/8']) : RULES, caller)).toThrow();
  });
});

const refused = (outcome: Decision['outcome'], over: Partial<Decision> = {}): Decision =>
  someDecision({
    outcome,
    keyPlace: 'x-api-key',
    maskedKey: 'tg_live…1a2B',
    credentialId: 'key',
    customerId: 'customer',
    product: 'api-ip',
    callerAddress: '203.0.113.7',
    ...over,
  });

const fixesOf = (decision: Decision): readonly Fix[] => explainRequest(decision, { reader: 'customer', nowMs: 0 }).fixes;

describe('what is offered against a refusal', () => {
  it('is a rule for the caller’s address; from a page, for its host first', () => {
    expect(fixesOf(refused('caller_not_whitelisted'))).toEqual([{ kind: 'add_rule', rule: '203.0.113.7' }]);
    expect(fixesOf(refused('caller_not_whitelisted', { originHost: 'shop.example.com' }))).toEqual([
      { kind: 'add_rule', rule: 'shop.example.com' },
      { kind: 'add_rule', rule: '203.0.113.7' },
    ]);
  });

  it.each([
    ['key_inactive', 'activate_key'],
    ['key_expired', 'open_key'],
    ['product_not_authorised', 'open_key'],
    ['subscription_missing', 'open_plans'],
    ['quota_daily_exceeded', 'open_plans'],
  ] as const)('leads on from %s', (outcome, kind) => {
    expect(fixesOf(refused(outcome))).toEqual([{ kind }]);
  });

  it('is the seller’s address for what the seller suspended, nothing for the seller, and the code’s page where the request must change', () => {
    expect(fixesOf(refused('key_inactive', { suspended: 'unpaid' }))).toEqual([{ kind: 'ask_support' }]);
    expect(explainRequest(refused('key_expired'), { reader: 'seller', nowMs: 0 }).fixes).toEqual([]);
    expect(fixesOf(refused('key_unknown', { credentialId: undefined }))).toEqual([{ kind: 'read_code', code: 'key_unknown' }]);
    expect(fixesOf(refused('ambiguous_key'))).toEqual([{ kind: 'read_code', code: 'ambiguous_key' }]);
    expect(fixesOf(refused('admitted'))).toEqual([]);
  });
});

const counted = (day: string, product: string, code: string, count: number) => ({ day, product, code, count });
const unknown = { keyId: null, maskedKey: null, callerAddress: null, originHost: null };
const refusal = (requestId: string, product: string, code: string) => ({
  requestId,
  at: '2026-11-22T10:00:00.000Z',
  code,
  product,
  ...unknown,
});

describe('refusals on the overview', () => {
  it('are summed over the days by reason and product, the most first, with the latest of each', () => {
    const counts = [
      counted('2026-11-20', 'api-ip', 'key_expired', 2),
      counted('2026-11-21', 'api-ip', 'quota_daily_exceeded', 3),
      counted('2026-11-22', 'api-ip', 'key_expired', 5),
      counted('2026-11-22', 'api-gst', 'key_expired', 1),
    ];
    const newest = [refusal('latest', 'api-ip', 'key_expired'), refusal('older', 'api-ip', 'key_expired')];
    expect(groupRefusals(counts, newest)).toEqual([
      { code: 'key_expired', product: 'api-ip', count: 7, latest: newest[0] },
      { code: 'quota_daily_exceeded', product: 'api-ip', count: 3, latest: undefined },
      { code: 'key_expired', product: 'api-gst', count: 1, latest: undefined },
    ]);
  });
});

const weather: CatalogueProduct = {
  id: 'weather',
  title: 'Weather',
  description: 'Forecasts.',
  prefix: '/weather',
  base: null,
  subscribable: false,
  plans: [],
  routes: [
    { method: 'GET', path: '/weather', purpose: 'Index' },
    { method: 'GET', path: '/weather/{city}/days', purpose: 'Forecast' },
  ],
};
const taken = (path: string, changes: Partial<CatalogueProduct> = {}): boolean =>
  isPublishedPath(path, createCatalogue([{ ...weather, ...changes }]));

it('takes the paths of routes and no others, and an alias where the catalogue has it', () => {
  const routes = ['/weather', '/weather/pune/days', '/weather/New%20Delhi/days'];
  const outside = ['/', '', '/ip', '/weatherx', '/weather/pune', '/weather/a/b/days', '//evil', '/old/weather'];
  const climbing = ['/weather/../days', '/weather/./days', '/weather/%2e%2E/days', '/weather/a?b/days'];
  expect([...routes, ...outside, ...climbing].filter((path) => taken(path))).toEqual(routes);
  expect(taken('/old/weather', { aliases: { '/old/weather': '/weather' } })).toBe(true);
});

it('takes anything below a product that brings its own description, and nothing that leads out of it', () => {
  const below = ['any/depth', 'New%20Delhi/a%2eb', '.red,blue', ';R=100;G=200'];
  const plain = ['../ip', 'a/..', '../weatherx/a', 'a?b=c', '/a'];
  const encoded = ['%2e%2e/ip', '.%2E/ip', '%2e./ip', '..%2fip', 'a%5c..', '%zz', '..;a/ip', '%2e.%3B/ip'];
  const isTaken = (path: string) => taken(`/weather/${path}`, { openapi: 'weather.json' });
  expect([...below, ...plain, ...encoded].filter(isTaken)).toEqual(below);
  expect(taken('/weatherx/a', { openapi: 'weather.json' })).toBe(false);
});

describe('thresholds and caps as a person writes them', () => {
  it.each([
    ['80, 100', [80, 100]],
    ['100 80;80 %', [80, 100]],
    ['  ', null],
    [',', undefined],
    ['0', undefined],
    ['1,2,3,4,5,6', undefined],
    ['8.5', undefined],
  ])('%j reads as %j', (text, percents) => {
    expect(parsePercents(text)).toEqual(percents);
  });

  it.each([
    ['1,000', 1_000],
    ['', null],
    ['2147483647', 2_147_483_647],
    ['2147483648', undefined],
    ['1.5', undefined],
  ])('%j is the cap %j', (text, cap) => {
    expect(parseCap(text)).toBe(cap);
  });
});

const words = (details: Record<string, unknown>): string =>
  describeDetails(details, (iso) => formatMoment(iso, 'Asia/Kolkata'))
    .map(({ name, text }) => `${name} ${text}`)
    .join('; ');

describe('a line of the audit log', () => {
  it.each([
    [
      'a changed key, by what differs',
      { before: { name: null, products: ['api-ip'] }, after: { name: 'Till', products: ['api-ip'] } },
      'name none → Till',
    ],
    ['a changed plan', { before: { plan: null, daily: null }, after: { plan: 'Star', daily: null } }, 'plan Free → Star'],
    ['changed rules, without what is empty', { added: ['10.0.0.0/8', '480 more'], removed: [] }, 'added 10.0.0.0/8, 480 more'],
    ['a state that was', { before: 'active' }, 'before active'],
    [
      'a new key, without ids and nulls',
      { customer: '7d9c6f0e', mode: 'live', name: null, expiresAt: '2026-11-21T10:00:00.000Z', products: ['api-ip', 'api-gst'], rules: [] },
      'mode live; expires at 21 Nov 2026, 15:30 IST; products api-ip, api-gst',
    ],
    ['a webhook by its host', { webhook: '7d9c6f0e', host: 'hooks.example.com' }, 'host hooks.example.com'],
    ['nothing', {}, ''],
  ])('says in words: %s', (_what, details, text) => {
    expect(words(details)).toBe(text);
  });

  it('is cut when it is long', () => {
    expect(words({ added: ['x'.repeat(500)] })).toBe(`added ${'x'.repeat(120)}…`);
  });
});

describe('the sentence of an alert', () => {
  const timeZone = 'Asia/Kolkata';
  const use = { percent: 80, used: 8_000, limit: 10_000, isIncluded: false, period: '2026-11-20' };
  const ofNoKey = { keyId: null, maskedKey: null, keyName: null, expiresAt: null };
  const of = { subscriptionId: 's1', product: 'api-ip', productTitle: 'IP lookup', countsUnits: false };
  const alert: AlertView = {
    id: 'a1',
    at: new Date('2026-11-20T11:10:00Z'),
    kind: 'quota_daily',
    ...of,
    ...use,
    ...ofNoKey,
    readAt: null,
    isOver: false,
  };

  it.each([
    [{}, /reached 80% of its daily limit: 8,000 of 10,000 requests on 20 November 2026\.$/],
    [{ countsUnits: true }, /reached 80% of its daily limit: 8,000 of 10,000 units on 20 November 2026\.$/],
    [
      { percent: 100, kind: 'quota_monthly', period: '2026-11-01' },
      /reached its monthly limit: .* in November 2026\. Further requests are refused/,
    ],
    [{ isIncluded: true }, /^IP lookup used 80% of what its price includes a day: 8,000 of 10,000 requests on 20 November 2026\.$/],
    [
      { kind: 'key_expiry', maskedKey: 'tg_live…abcd', keyName: 'shop', expiresAt: new Date('2026-11-27T04:30:00Z') },
      /^Key tg_live…abcd \(shop\) expires on 27 November 2026, 10:00 IST\.$/,
    ],
  ] as const)('%j names figures, period and zone', (extra, text) => {
    expect(alertText({ ...alert, ...extra }, timeZone)).toMatch(text);
  });

  it('is in the mail; of the shares of one window only the highest', () => {
    const to = 'asha@example.com';
    const url = 'https://dashboard.example.com';
    const [at80, at100] = [alert, { ...alert, id: 'a2', percent: 100, used: 10_000 }];
    expect(alertMail({ to, url, timeZone, alerts: [at80] }).subject).toBe('IP lookup reached 80% of its daily limit');
    const both = alertMail({ to, url, timeZone, alerts: [at80, at100] });
    expect(both).toEqual({
      to,
      subject: 'IP lookup reached its daily limit',
      text: expect.stringMatching(/^IP lookup reached its daily limit: 10,000 of 10,000[^]*https:\/\/dashboard\.example\.com\/alerts\n$/),
    });
    expect(both.text).not.toContain('80%');
    const expiry = { ...alert, id: 'a3', kind: 'key_expiry' as const, percent: null, maskedKey: 'tg_live…abcd', expiresAt: alert.at };
    const three = alertMail({ to, url, timeZone, alerts: [at100, { ...at80, kind: 'quota_monthly', period: '2026-11-01' }, expiry] });
    expect(three.subject).toBe('3 alerts from Tollgate');
    expect(three.text).toMatch(/daily[^]*monthly[^]*tg_live…abcd/);
  });
});

describe('pauses before a webhook is tried again', () => {
  const pausesOf = (env: Record<string, string>) => readSettings({ alerts: alertSettings }, env).alerts.DASHBOARD_WEBHOOKS_RETRY_SECONDS;

  it('are 30 s, 2 min, 10 min, 1 h and 6 h unless told otherwise', () => {
    expect(pausesOf({})).toEqual([30, 120, 600, 3_600, 21_600]);
  });

  it.each(['soon', '30,-1', '30;60', '9999999'])('refuses %j as pauses', (text) => {
    expect(() => pausesOf({ DASHBOARD_WEBHOOKS_RETRY_SECONDS: text })).toThrow('DASHBOARD_WEBHOOKS_RETRY_SECONDS');
  });
});
