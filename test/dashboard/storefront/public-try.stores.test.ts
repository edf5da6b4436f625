import { type CatalogueProduct, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { PRODUCTS } from '../../support/catalogue';
import { isPlausibleKey } from '../../../plugins/core/access/api-key';
import { eventually } from '../../support/eventually';
import { startDashboard, type TestDashboard, verdict } from '../support/dashboard';
import { startGatewayDouble, type GatewayDouble } from '../support/gateway-double';

let gateway: GatewayDouble;
let dashboard: TestDashboard;
beforeAll(async () => {
  gateway = await startGatewayDouble();
  dashboard = await startDashboard({ gatewayUrl: gateway.url });
});
beforeEach(async () => {
  gateway.seen.splice(0);
  gateway.answer = (_request, response) => void response.setHeader('Content-Type', 'text/plain').end('fine');
  await dashboard.pool.query(`DELETE FROM auth_rate_limit WHERE key LIKE 'public-try%'`);
});
afterAll(async () => {
  await dashboard.close();
  await gateway.close();
});

const IP = { product: 'api-ip', method: 'GET', path: '/ip', query: 'ip=8.8.8.8' };
const attempt = (body: unknown = IP, from = '203.0.113.7') => dashboard.ask({ method: 'POST', path: '/api/public/try', body, from });

describe('a call that a reader without an account tries out', () => {
  it('is made with a test key that no answer, log or page holds', async () => {
    const answer = await attempt();
    expect([answer.statusCode, answer.json()]).toEqual([200, expect.objectContaining({ outcome: 'answered', status: 200, body: 'fine' })]);
    const key = String(gateway.seen[0]?.headers['x-api-key']);
    expect([isPlausibleKey(key), key.startsWith('tg_test_')]).toEqual([true, true]);
    expect(gateway.seen[0]?.url).toBe('/ip?ip=8.8.8.8');
    const page = await dashboard.ask({ path: '/reference/api-ip' });
    for (const text of [answer.body, JSON.stringify(answer.headers), dashboard.log(), page.body]) expect(text).not.toContain(key);
  });

  it('uses one key for all readers, authorised for what is tried, which nobody can sign in to', async () => {
    await attempt();
    await attempt({ product: 'api-pincode', method: 'GET', path: '/pincode' }, '198.51.100.9');
    expect(new Set(gateway.seen.map(({ headers }) => headers['x-api-key'])).size).toBe(1);
    const { rows } = await dashboard.pool.query(
      `SELECT k.mode, c.email FROM credential k JOIN customer c ON c.id = k.customer_id WHERE c.email = 'readers@tollgate.invalid'`,
    );
    expect(rows).toEqual([{ mode: 'test', email: 'readers@tollgate.invalid' }]);
  });

  it.each([
    ['another product’s route', { ...IP, product: 'api-pincode' }],
    ['no route', { ...IP, path: '/ip/../aadhaar' }],
    ['a product that is only listed', { ...IP, product: 'api-pan', path: '/pan' }],
    ['an unknown product', { ...IP, product: 'api-nothing' }],
    ['no product', { method: 'GET', path: '/ip' }],
    ['a key in place of a product', { key: `tg_test_${'x'.repeat(34)}`, method: 'GET', path: '/ip' }],
    ['a GET with a body', { ...IP, body: '{}' }],
    ['another method', { ...IP, method: 'TRACE' }],
  ])('reaches nothing with %s', async (_, body) => {
    expect((await attempt(body)).statusCode).toBe(400);
    expect(gateway.seen).toEqual([]);
  });

  it.each<[string, Partial<CatalogueProduct>, number]>([
    ['says nothing of test keys', {}, 400],
    ['lets test keys reach its live API', { testKeys: 'live' }, 400],
    ['has a sandbox of its own', { sandboxUrl: 'http://127.0.0.1:9001' }, 200],
    ['has a service that answers test keys', { testKeys: 'service' }, 200],
  ])('reaches a sandbox and nothing else: of a product that %s', async (_, member, status) => {
    const routes = [{ method: 'ANY', path: '/weather', purpose: 'Forecast' }] as const;
    const weather = { id: 'weather', title: 'Weather', description: 'Forecasts.', prefix: '/weather', routes, plans: [], ...member };
    const sold = { ...weather, base: { daily: 10, monthly: 100 }, subscribable: true };
    await applyCatalogue(dashboard.pool, createCatalogue([...PRODUCTS, sold]), { actor: 'test' });
    const answer = await attempt({ product: 'weather', method: 'POST', path: '/weather', contentType: 'application/json', body: '{}' });
    expect([answer.statusCode, gateway.seen.length]).toEqual([status, status === 200 ? 1 : 0]);
    if (status === 400) expect(answer.json().errors).toEqual([{ field: 'product', message: expect.stringContaining('no sandbox') }]);
  });

  it('is refused from the pages of another site, and with more than the examples need', async () => {
    const elsewhere = await dashboard.ask({
      method: 'POST',
      path: '/api/public/try',
      body: IP,
      headers: { origin: 'https://evil.example' },
    });
    const large = await attempt({
      product: 'api-seo',
      method: 'POST',
      path: '/seo/serp',
      contentType: 'application/json',
      body: 'x'.repeat(300_000),
    });
    expect([elsewhere.statusCode, large.statusCode, gateway.seen.length]).toEqual([403, 413, 0]);
  });

  it('is one of 30 in ten minutes from an address, whatever others do', async () => {
    for (let call = 0; call < 30; call += 1) expect((await attempt()).statusCode).toBe(200);
    const refused = await attempt();
    expect(verdict(refused)).toBe('429 too_many_attempts');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(gateway.seen).toHaveLength(30);
    expect((await attempt(IP, '203.0.113.8')).statusCode).toBe(200);
  });

  it('is one of 400 in ten minutes from all addresses together', async () => {
    await attempt();
    await dashboard.pool.query(`UPDATE auth_rate_limit SET count = 400 WHERE key = 'public-try'`);
    expect((await attempt(IP, '192.0.2.1')).statusCode).toBe(429);
    expect(gateway.seen).toHaveLength(1);
  });

  it('is made one at a time from an address and six at a time in all, and none of it keeps a customer from trying', async () => {
    const open: (() => void)[] = [];
    gateway.answer = (_request, response) => void open.push(() => response.end('fine'));
    const first = attempt();
    await eventually(() => gateway.seen.length === 1);
    expect((await attempt()).statusCode).toBe(429);
    const others = [1, 2, 3, 4, 5].map((last) => attempt(IP, `192.0.2.${last}`));
    await eventually(() => gateway.seen.length === 6);
    expect((await attempt(IP, '192.0.2.99')).statusCode).toBe(429);
    gateway.answer = (_request, response) => void response.end('fine');
    const cookie = await dashboard.signIn();
    expect((await dashboard.ask({ method: 'POST', path: '/api/try', body: IP, cookie })).json().outcome).toBe('answered');
    for (const answer of open) answer();
    expect((await Promise.all([first, ...others])).map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(200));
  });
});
