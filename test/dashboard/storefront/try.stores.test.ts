import { generateApiKey, hashApiKey, isPlausibleKey } from '../../../plugins/core/access/api-key';
import { PRODUCTS } from '../../support/catalogue';
import { type TryAnswer } from '../../../services/dashboard/contract/try';
import { eventually } from '../../support/eventually';
import { startDashboard, verdict } from '../support/dashboard';
import { startGatewayDouble, type GatewayDouble } from '../support/gateway-double';
import { type CatalogueProduct, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { openedForTests } from '../../support/opened';

describe('with an own key', () => {
  const TIMEOUT_MS = 500;
  const KEY = generateApiKey('test');
  const MIB = 1024 * 1024;

  const opened = openedForTests();
  const gateway = opened.use(startGatewayDouble);
  const dashboard = opened.use(() => startDashboard({ gatewayUrl: `${gateway.url}/base` }));
  let cookie: string;
  /** Does not wait for a gateway that is silent. */
  const hasty = opened.use(() => startDashboard({ gatewayUrl: `${gateway.url}/base`, gatewayTimeoutMs: TIMEOUT_MS }));
  let hastyCookie: string;
  beforeAll(async () => {
    cookie = await dashboard.signIn();
    hastyCookie = await hasty.signIn();
  });
  const usual = (): GatewayDouble['answer'] => (_request, response) => void response.end('fine');
  beforeEach(() => {
    gateway.seen.splice(0);
    gateway.answer = usual();
  });

  const ask = (body: Readonly<Record<string, unknown>>, of = { dashboard, cookie }) =>
    of.dashboard.ask({ method: 'POST', path: '/api/try', cookie: of.cookie, body: { key: KEY, method: 'GET', path: '/ip', ...body } });
  const attempt = async (body: Readonly<Record<string, unknown>> = {}, of = { dashboard, cookie }): Promise<TryAnswer> => {
    const answer = await ask(body, of);
    expect(answer.statusCode).toBe(200);
    return answer.json();
  };

  describe('a call that is tried out', () => {
    it('reaches the gateway below its base URL with the key in the header, and its answer comes back', async () => {
      gateway.answer = (_request, response) => {
        const headers = {
          'Content-Type': 'application/problem+json',
          'X-Kong-Request-Id': 'abc',
          'X-Internal': 'not shown',
          'Set-Cookie': 'a=b',
        };
        response.writeHead(401, headers).end('{"code":"key_expired"}');
      };
      const answer = await attempt({ query: 'ip=8.8.8.8&%26=%3D%3F%20%23&list=a,b&list=c', headers: { Cookie: 'theme=dark' } });
      expect(answer).toEqual({
        outcome: 'answered',
        status: 401,
        body: '{"code":"key_expired"}',
        encoding: 'text',
        isCut: false,
        requestId: 'abc',
        headers: { 'content-type': 'application/problem+json', 'x-kong-request-id': 'abc' },
        durationMs: expect.any(Number),
      });
      const [seen] = gateway.seen;
      expect([seen?.method, seen?.headers['x-api-key'], seen?.headers.cookie]).toEqual(['GET', KEY, 'theme=dark']);
      expect(seen?.url).toBe('/base/ip?ip=8.8.8.8&%26=%3D%3F%20%23&list=a,b&list=c');
    });

    it('carries text and bytes as they were given, with their type', async () => {
      await attempt({ method: 'POST', path: '/pincode', contentType: 'application/json', body: '{"pin":"110001","ß":1}' });
      const bytes = Buffer.from([0, 255, 10, 13, 128]);
      await attempt({
        method: 'POST',
        path: '/app/analyze',
        contentType: 'multipart/form-data; boundary=x',
        bodyBase64: bytes.toString('base64'),
      });
      expect(gateway.seen.map(({ headers, body }) => [headers['content-type'], body])).toEqual([
        ['application/json', Buffer.from('{"pin":"110001","ß":1}')],
        ['multipart/form-data; boundary=x', bytes],
      ]);
    });

    it.each(['PUT', 'PATCH', 'DELETE'])('is made with %s, with the headers of the call beside our own', async (method) => {
      await attempt({ method, headers: { 'X-Note': 'a', Accept: 'text/csv' }, contentType: 'application/json', body: '{}' });
      const [seen] = gateway.seen;
      const { headers } = seen ?? {};
      expect([seen?.method, headers?.['x-note'], headers?.accept, headers?.['x-api-key'], String(seen?.body)]).toEqual([
        ...[method, 'a', 'text/csv', KEY, '{}'],
      ]);
    });

    it('gives back bytes that are no text in base64', async () => {
      const png = Buffer.from([137, 80, 78, 71, 0, 255]);
      gateway.answer = (_request, response) => void response.writeHead(200, { 'Content-Type': 'image/png' }).end(png);
      expect(await attempt({ path: '/gdplay/thumbnail' })).toMatchObject({ encoding: 'base64', body: png.toString('base64') });
    });

    it.each(PRODUCTS.flatMap(({ routes }) => routes.map(({ path }) => path)).concat('/api/v1/gst/refresh-captcha'))(
      'may go to %s',
      async (path) => {
        expect(await attempt({ path })).toMatchObject({ outcome: 'answered', status: 200 });
      },
    );
  });

  describe('a call without a key of the customer’s', () => {
    const keyless = (product: string, path: string, of = { dashboard, cookie }): Promise<TryAnswer> =>
      attempt({ key: undefined, product, path }, of);
    const keysSent = (): unknown[] => gateway.seen.map(({ headers }) => headers['x-api-key']);
    const names = async (of: string): Promise<string[]> =>
      (await dashboard.ask({ path: '/api/keys', cookie: of })).json().keys.map(({ name }: { name: string }) => name);

    it('is made with one hidden test key, the same for every product and however many ask at once', async () => {
      const own = { dashboard, cookie: await dashboard.signIn() };
      await Promise.all([keyless('api-ip', '/ip', own), keyless('api-ip', '/ip', own)]);
      await keyless('api-pincode', '/pincode', own);
      await keyless('api-ip', '/ip', own);
      expect(gateway.seen).toHaveLength(4);
      expect(new Set(keysSent()).size).toBe(1);
      const { rows } = await dashboard.pool.query(
        `SELECT k.mode, array_agg(p.product_id ORDER BY p.product_id) AS products FROM credential k
       JOIN credential_product p ON p.credential_id = k.id WHERE k.hash = decode($1, 'hex') GROUP BY k.id`,
        [hashApiKey(String(keysSent()[0]))],
      );
      expect(rows).toEqual([{ mode: 'test', products: ['api-ip', 'api-pincode'] }]);
      expect(await names(own.cookie)).toEqual([]);
    });

    it('has another key for another customer, which no answer and no log line shows', async () => {
      const answers = [await keyless('api-ip', '/ip'), await keyless('api-ip', '/ip', { dashboard, cookie: await dashboard.signIn() })];
      expect(new Set(keysSent()).size).toBe(2);
      for (const key of keysSent()) expect(JSON.stringify(answers) + dashboard.log()).not.toContain(String(key));
    });

    it.each([
      ['neither a key nor a product', {}],
      ['both', { key: KEY, product: 'api-ip' }],
      ['a product that cannot be subscribed to', { product: 'api-nothing' }],
    ])('is refused with %s', async (_what, body) => {
      expect((await ask({ key: undefined, ...body })).statusCode).toBe(400);
    });
  });

  describe('a call is refused before it is made', () => {
    const live = generateApiKey('live');
    it.each([
      ['with a live key', { key: live }, 'key must be a test key (tg_test_…): live keys are never entered into a page.'],
      ['with a live key behind a line break', { key: `tg_test_x\r\nX-API-Key: ${live}` }, 'live keys'],
      ['with no key of ours', { key: 'whatever' }, 'live keys'],
      ['to a path of another service', { path: '/admin' }, 'path must be a route of the API.'],
      ['to a path that climbs', { path: '/ip/../admin' }, 'path must be a route of the API.'],
      ['to another host', { path: '//evil.example/ip' }, 'path must be a route of the API.'],
      ['to another host by its user part', { path: '@evil.example/ip' }, 'path must be a route of the API.'],
      ['with a query in its path', { path: '/ip?x=1' }, 'path must be a route of the API.'],
      ['with a query that ends', { query: 'a=b#c' }, 'query must be percent-encoded'],
      ['with another method', { method: 'TRACE' }, 'method'],
      ...['X-API-Key', 'authorization', 'Cookie2', 'Host', 'X-Forwarded-For', 'Content-Length', 'X-Tollgate-Context', 'a b'].map(
        (name): [string, Record<string, unknown>, string] => [
          `with the header ${name}`,
          { headers: { [name]: 'x' } },
          'headers has a header that a page cannot send',
        ],
      ),
      ['with a line break in a header', { headers: { 'X-Note': 'a\r\nX-API-Key: b' } }, 'must be printable ASCII'],
      ['with a body in a GET', { body: '{}' }, 'method must not be GET'],
      ['with two bodies', { method: 'POST', body: '{}', bodyBase64: 'e30=' }, 'bodyBase64 must be absent'],
      [
        'with a header in its type',
        { method: 'POST', body: '{}', contentType: 'text/plain\r\nX-Evil: 1' },
        'contentType must be a media type',
      ],
    ])('%s', async (_what, body, detail) => {
      const answer = await ask(body);
      expect(verdict(answer)).toBe('400 invalid_request');
      expect(answer.json().detail).toContain(detail);
      expect(answer.body).not.toContain(live);
      expect(gateway.seen).toEqual([]);
    });

    it('while four others of the same customer are under way', async () => {
      const waiting: (() => void)[] = [];
      gateway.answer = (_request, response) => void waiting.push(() => response.end());
      const running = Array.from({ length: 4 }, () => attempt());
      await eventually(() => waiting.length === 4);
      expect((await ask({})).json().code).toBe('too_many_attempts');
      for (const answer of waiting) answer();
      expect((await Promise.all(running)).map(({ outcome }) => outcome)).toEqual(Array(4).fill('answered'));
      gateway.answer = usual();
      expect(await attempt()).toMatchObject({ status: 200 });
    });
  });

  describe('an answer of the gateway', () => {
    it('is cut at 2 MiB, and said to be', async () => {
      gateway.answer = (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('x'.repeat(3 * MIB));
      const answer = await attempt();
      expect(answer).toMatchObject({ outcome: 'answered', isCut: true });
      expect(answer.outcome === 'answered' && answer.body.length).toBe(2 * MIB);
      gateway.answer = (_request, response) => void response.end('x'.repeat(2 * MIB));
      expect(await attempt()).toMatchObject({ isCut: false });
    });

    it('that never ends is cut as well', async () => {
      let isOpen = true;
      gateway.answer = (_request, response) => {
        const more = (): void => void (isOpen && response.write(Buffer.alloc(65_536), more));
        response.on('close', () => (isOpen = false));
        more();
      };
      expect(await attempt()).toMatchObject({ isCut: true });
      await eventually(() => !isOpen);
    });

    it('that redirects is shown, not followed', async () => {
      gateway.answer = (_request, response) => void response.writeHead(302, { Location: `${gateway.url}/elsewhere` }).end();
      expect(await attempt()).toMatchObject({ status: 302, headers: { location: `${gateway.url}/elsewhere` } });
      expect(gateway.seen).toHaveLength(1);
    });

    it.each([
      ['no answer', () => undefined],
      ['half an answer', (response: { write(text: string): unknown }) => response.write('half')],
    ])('that does not come in time is said not to have come: %s', async (_what, begin) => {
      gateway.answer = (_request, response) => void begin(response);
      const answer = await attempt({}, { dashboard: hasty, cookie: hastyCookie });
      expect(answer).toEqual({ outcome: 'failed', reason: 'timeout', durationMs: expect.any(Number) });
      expect(answer.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 50);
    });

    it('that breaks off is said to have broken off', async () => {
      gateway.answer = (_request, response) => void response.destroy();
      expect(await attempt()).toMatchObject({ outcome: 'failed', reason: 'unreachable' });
    });
  });

  it('logs no key, query or body, whatever becomes of a call', async () => {
    await attempt({ query: 'ip=a-query-value' });
    await attempt({ method: 'POST', body: 'a-body-value' });
    await ask({ key: generateApiKey('live'), query: 'ip=a-query-value' });
    gateway.answer = (_request, response) => void response.destroy();
    await attempt({ query: 'ip=a-query-value' });
    expect(dashboard.log()).toContain('"route":"/api/try"');
    expect(dashboard.log()).toContain('the gateway did not answer');
    expect(dashboard.log()).not.toMatch(/tg_(test|live)_[0-9A-Za-z]{8}|a-query-value|a-body-value/);
  });
});

describe('with the key of the readers', () => {
  const opened = openedForTests();
  const gateway = opened.use(startGatewayDouble);
  const dashboard = opened.use(() => startDashboard({ gatewayUrl: gateway.url }));
  beforeEach(async () => {
    gateway.seen.splice(0);
    gateway.answer = (_request, response) => void response.setHeader('Content-Type', 'text/plain').end('fine');
    await dashboard.pool.query(`DELETE FROM auth_rate_limit WHERE key LIKE 'public-try%'`);
  });

  const IP = { product: 'api-ip', method: 'GET', path: '/ip', query: 'ip=8.8.8.8' };
  const attempt = (body: unknown = IP, from = '203.0.113.7') => dashboard.ask({ method: 'POST', path: '/api/public/try', body, from });

  describe('a call that a reader without an account tries out', () => {
    it('is made with a test key that no answer, log or page holds', async () => {
      const answer = await attempt();
      expect([answer.statusCode, answer.json()]).toEqual([
        200,
        expect.objectContaining({ outcome: 'answered', status: 200, body: 'fine' }),
      ]);
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
});
