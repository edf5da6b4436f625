import { gunzipSync } from 'node:zlib';
import { buildDocument } from '../../services/openapi/build-document';
import { CATALOGUE, PRODUCTS } from '../support/catalogue';
import { startDashboard, type TestDashboard } from './support/dashboard';

let dashboard: TestDashboard;
let now = 0;
let reads = 0;
beforeAll(async () => {
  dashboard = await startDashboard({
    clock: { now: () => Date.now(), monotonic: () => now },
    readDocument: () => {
      reads += 1;
      return JSON.stringify(buildDocument('http://gateway.test', CATALOGUE));
    },
  });
});
afterAll(() => dashboard.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) => dashboard.ask({ path, headers });

describe('what the gateway answers without a key', () => {
  it('is the whole catalogue with its limits and plans, and where to read on', async () => {
    const answer = await get('/gateway');
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const { name, portal, openapi, products } = answer.json();
    expect([name, portal, openapi]).toEqual(['Tollgate', 'http://dashboard.test', 'http://gateway.test/openapi.json']);
    expect(products.map(({ id }: { id: string }) => id)).toEqual(PRODUCTS.map(({ id }) => id));
    const find = (id: string): unknown => products.find((product: { id: string }) => product.id === id);
    expect(find('api-ip')).toEqual({
      id: 'api-ip',
      title: 'IP lookup',
      prefix: '/ip',
      endpoints: [
        { method: 'GET', path: '/ip', purpose: 'Look up an IP address' },
        { method: 'POST', path: '/ip', purpose: 'Look up to 100 IP addresses for 100 units' },
      ],
      base: { daily: 1_000, monthly: 30_000 },
      plans: [{ name: 'Star', daily: 100_000, monthly: 3_000_000, price: '499.00', currency: 'INR' }],
      active_plans: 1,
      listed_only: false,
    });
    expect(find('api-vahan')).toMatchObject({ prefix: null, endpoints: [], active_plans: 0, listed_only: true });
    expect(find('api-pan')).toMatchObject({ base: null, listed_only: true });
  });

  it('is the same under a slash, which some gateways add', async () => {
    expect((await get('/gateway/')).body).toBe((await get('/gateway')).body);
  });

  it('is the description of the API, as the dashboard has it', async () => {
    expect((await get('/gateway/openapi.json')).body).toBe((await get('/openapi.json')).body);
  });

  it.each(['/gateway', '/gateway/openapi.json'])(
    'is kept in memory, tagged, compressed, and readable by pages of other sites: %s',
    async (path) => {
      const { headers, body } = await get(path);
      expect(headers).toMatchObject({ 'cache-control': 'public, max-age=60', 'access-control-allow-origin': '*' });
      expect((await get(path, { 'if-none-match': String(headers['etag']) })).statusCode).toBe(304);
      expect(gunzipSync((await get(path, { 'accept-encoding': 'gzip' })).rawPayload).toString()).toBe(body);
      const head = await dashboard.app.inject({ method: 'HEAD', url: path });
      expect([head.statusCode, head.body]).toEqual([200, '']);
    },
  );

  it('costs the database one question a second, however many ask, and is made once', async () => {
    const query = jest.spyOn(dashboard.pool.constructor.prototype, 'query');
    try {
      now += 5_000;
      await Promise.all(Array.from({ length: 50 }, () => get('/gateway/openapi.json')));
      expect(query).toHaveBeenCalledTimes(1);
      now += 999;
      await get('/gateway/openapi.json');
      expect(query).toHaveBeenCalledTimes(1);
      now += 1;
      await get('/gateway/openapi.json');
      expect(query).toHaveBeenCalledTimes(2);
    } finally {
      query.mockRestore();
    }
    // One for the gateway, one for the dashboard's own address.
    expect(reads).toBe(2);
  });

  it('is told neither by whom nor with what it was asked', async () => {
    const secret = 'tg_test_0Fake4KeyThatNoGatewayKnows7xQ2mZ9';
    await get(`/gateway?api_key=${secret}`, { authorization: `Bearer ${secret}`, 'x-api-key': secret });
    expect(dashboard.log()).not.toContain(secret);
  });
});
