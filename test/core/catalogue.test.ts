import { CATALOGUE, findProduct, PRODUCT_IDS } from '../../plugins/core/catalogue';
import { listProblems, problemOf } from '../../plugins/core/problems';

/** The customer's published table (specification, part 8): id, base day, base month, Star day, Star month, price. */
const PUBLISHED = `
api-aadhaar 1000 30000 4000 120000 999.00
api-app 100000 1000000 200 6000 999.00
api-background-remover 1000 30000 100000 3000000 499.00
api-glead 1000 30000 100000 3000000 999.00
api-gdplay 1000 30000 1000000 30000000 599.00
api-grank 1000 30000 1000000 10000000 499.00
api-gst 1000 30000 100000 3000000 499.00
api-image 1000 30000
api-ip 1000 30000 100000 3000000 499.00
api-pincode 1000 30000 100000 3000000 499.00
api-seo 1000 30000 10000 300000 999.00
api-vahaan 1000 30000 200 6000 999.00
api-vahan 1000 30000`;

describe('the catalogue', () => {
  it('has every figure of the published table', () => {
    const rows = CATALOGUE.filter((product) => product.base).map(({ id, base, plans }) =>
      [id, base?.daily, base?.monthly, ...plans.flatMap((plan) => [plan.daily, plan.monthly, plan.priceInr])].join(' '),
    );
    expect(rows.sort()).toEqual(PUBLISHED.trim().split('\n').sort());
  });

  it('has 14 products, routes under their prefix, none for vahan and pan', () => {
    expect(CATALOGUE.map((product) => product.id).sort()).toEqual([...PRODUCT_IDS].sort());
    expect(CATALOGUE).toHaveLength(14);
    for (const { prefix, routes } of CATALOGUE) for (const route of routes) expect(route.path.startsWith(prefix ?? '?')).toBe(true);
    expect(CATALOGUE.filter((product) => product.routes.length === 0).map((product) => product.id)).toEqual(['api-vahan', 'api-pan']);
    expect(CATALOGUE.flatMap((product) => product.routes)).toHaveLength(34);
    expect(findProduct('constructor')).toBeUndefined();
  });
});

describe('problems', () => {
  it('read the same for an unknown and an inactive key', () => {
    expect(problemOf('key_inactive', { requestId: 'r' })).toEqual(problemOf('key_unknown', { requestId: 'r' }));
  });

  it('keep to the published statuses for the access checks', () => {
    const statuses = Object.fromEntries(listProblems().map(({ code, status }) => [code, status]));
    for (const code of [
      'key_missing',
      'key_unknown',
      'key_inactive',
      'key_expired',
      'product_not_authorised',
      'subscription_missing',
      'subscription_inactive',
      'caller_not_whitelisted',
    ]) {
      expect(statuses[code]).toBe(401);
    }
    expect(statuses['quota_daily_exceeded']).toBe(429);
  });
});
