import { type Decision } from '../../../../plugins/core/ports';
import { explainRequest, type Fix } from '../../../../services/selling/requests/explain';
import { someDecision } from '../../../support/some-decision';
import { groupRefusals } from '../../../../services/dashboard/web/customer/overview/group-refusals';
import { type CatalogueProduct, createCatalogue } from '../../../../plugins/core/catalogue/catalogue';
import { isPublishedPath } from '../../../../services/dashboard/customer/requests/published-path';

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
