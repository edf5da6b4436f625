import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { securityHeaders } from '../../../services/dashboard/http/security-headers';
import { PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { brandPage } from '../../../services/dashboard/brand/brand-page';
import { serveWeb } from '../../../services/dashboard/http/serve-web';
import { startDashboard, useDashboard, verdict } from '../support/dashboard';
import { gunzipSync } from 'node:zlib';
import { buildDocument } from '../../support/openapi/build-document';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { openedForTests } from '../../support/opened';

describe('the pages of the app', () => {
  /** Without built pages. */
  const dashboard = useDashboard();
  let app: FastifyInstance;
  const opened = openedForTests();
  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), 'tollgate-pages-'));
    mkdirSync(join(root, 'assets'));
    writeFileSync(join(root, 'index.html'), '<!doctype html><title>Tollgate</title>');
    writeFileSync(join(root, 'favicon.svg'), '<svg/>');
    writeFileSync(join(root, 'assets', 'main-abc123.js'), 'export {};');
    app = await opened.keep(Promise.resolve(fastify()), (each) => each.close());
    await serveWeb(app, { root, url: 'http://127.0.0.1:8080', dress: (html) => brandPage(html, PLAIN_BRAND) });
  });

  const get = (url: string, host = '127.0.0.1:8080') => app.inject({ url, headers: { host } });

  describe('the pages', () => {
    it.each(['/keys', '/keys/6ba7b810-9dad-11d1-80b4-00c04fd430c8?tab=rules', '/reset-password?token=x'])(
      'are one page at every address: %s',
      async (path) => {
        const { headers, body } = await get(path);
        expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
        expect(body).toContain('Tollgate');
      },
    );

    it('let browsers keep for ever what is named after its content, and nothing else', async () => {
      expect((await get('/assets/main-abc123.js')).headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': expect.stringContaining('javascript'),
      });
      expect((await get('/favicon.svg')).headers['cache-control']).toBe('no-cache');
    });

    it.each(['/assets/main-old.js', '/missing.png', '/assets/..%2f..%2fpackage.json', '/../package.json', '/%00', '/api/nothing'])(
      'are no answer to %s',
      async (path) => {
        const { statusCode, body } = await get(path);
        expect(statusCode).toBeGreaterThanOrEqual(400);
        expect(body).not.toContain('<title>');
      },
    );

    it('are sent on to the one name whose changes are taken, when opened by another name of this machine', async () => {
      const { statusCode, headers } = await get('/keys?x=1', 'localhost:8080');
      expect([statusCode, headers['location']]).toEqual([307, 'http://127.0.0.1:8080/keys?x=1']);
      for (const host of ['localhost:9', 'evil.example', '']) expect((await get('/keys', host)).headers['location']).toBeUndefined();
    });

    it('say that they are not built when they are not', async () => {
      expect(verdict(await dashboard.ask({ path: '/keys' }))).toBe('503 service_not_ready');
    });
  });

  describe('every answer', () => {
    it('forbids scripts that are not files of ours, frames, and reading by other sites', async () => {
      const wanted = securityHeaders('http://dashboard.test');
      const expected = Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name.toLowerCase(), value]));
      const apis = ['/api/keys', '/%61pi/keys', '/api/installation', '/api/auth/get-session', '/api/nothing'];
      for (const path of ['/', '/missing.js', '/%zz', `/api/keys/${'x'.repeat(200)}`, ...apis]) {
        const { headers } = await dashboard.ask({ path });
        expect(headers).toMatchObject(expected);
        if (apis.includes(path)) expect(headers['cache-control']).toBe('no-store');
      }
      const policy = securityHeaders('https://d.example')['Content-Security-Policy'];
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("connect-src 'self';");
      expect(policy).not.toContain('unsafe-');
    });
  });
});

describe('an installation with a name of its own', () => {
  const bytes = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const links = { terms: 'https://acme.example/terms', status: '/status' };
  const dashboard = useDashboard({
    brand: {
      name: 'Acme APIs',
      colour: '#a0b0c0',
      logo: { bytes, contentType: 'image/svg+xml' },
      words: { headline: 'Weather, by the hour', support: 'help@example.com', links, powered_by: true },
    },
    webFiles: { 'index.html': '<!doctype html><title>Tollgate</title>' },
    readDocument: () => JSON.stringify(buildDocument('http://gateway.test', CATALOGUE)),
  });

  it('shows it on the pages of the app', async () => {
    const { body } = await dashboard.ask({ path: '/keys', headers: { host: 'dashboard.test' } });
    expect(body).toContain('<title>Acme APIs</title>');
    expect(body).not.toContain('Tollgate');
  });

  it('shows its words, links and colour on public pages, and names Tollgate only as what powers them', async () => {
    const { body } = await dashboard.ask({ path: '/' });
    for (const text of [
      '<h1>Weather, by the hour</h1>',
      '<a href="https://acme.example/terms">Terms</a>',
      '<a href="/status">Status</a>',
      '<a href="mailto:help@example.com">Support</a>',
      '<link rel="stylesheet" href="/brand.css"/>',
    ])
      expect(body).toContain(text);
    expect(body).not.toContain('style=');
    expect(body.match(/Tollgate/g)).toEqual(['Tollgate']);
    expect((await dashboard.ask({ path: '/brand.css' })).body).toContain('--accent:#a0b0c0;--on-accent:#000;');
  });

  it('sends its picture with a policy under which no script in it runs', async () => {
    const { headers } = await dashboard.ask({ path: '/brand/logo' });
    expect([headers['content-type'], headers['content-security-policy']]).toEqual([
      'image/svg+xml',
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    ]);
  });

  it('is the title of the description of its APIs, which has no licence of ours', async () => {
    const { info } = (await dashboard.ask({ path: '/openapi.json' })).json<{ info: object }>();
    expect(info).toMatchObject({ title: 'Acme APIs', version: '1' });
    expect(info).not.toHaveProperty('license');
  });

  it('signs its mail with it', async () => {
    await dashboard.signUp('asha@example.com');
    const [mail] = dashboard.mails;
    expect(mail?.subject).toBe('Confirm your email address for Acme APIs');
    expect(mail?.text).toContain('signed up for Acme APIs with');
    expect(mail?.text).not.toContain('Tollgate');
  });
});

describe('what the gateway answers without a key', () => {
  let now = 0;
  let reads = 0;
  const dashboard = useDashboard({
    clock: { now: () => Date.now(), monotonic: () => now },
    readDocument: () => {
      reads += 1;
      return JSON.stringify(buildDocument('http://gateway.test', CATALOGUE));
    },
  });

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) => dashboard.ask({ path, headers });

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
        { method: 'POST', path: '/ip', purpose: 'Look up to 100 IP addresses, a unit each' },
      ],
      base: { daily: 1_000, monthly: 30_000 },
      plans: [{ name: 'Star', daily: 100_000, monthly: 3_000_000, price: '499.00', currency: 'INR' }],
      active_plans: 1,
      listed_only: false,
    });
    expect(find('api-vahan')).toMatchObject({ prefix: null, endpoints: [], active_plans: 0, listed_only: true });
    expect(find('api-pan')).toMatchObject({ base: null, listed_only: true });
  });

  it.each([
    ['the same under a slash, which some gateways add', '/gateway/', '/gateway'],
    ['the description of the API, as the dashboard has it', '/gateway/openapi.json', '/openapi.json'],
  ])('is %s', async (_what, path, same) => expect((await get(path)).body).toBe((await get(same)).body));

  it('is refused as not ready while the description is not built', async () => {
    const readDocument = (): string => {
      throw new Error('no such file');
    };
    const bare = await startDashboard({ readDocument });
    expect(verdict(await bare.ask({ path: '/openapi.json' }).finally(() => bare.close()))).toBe('503 service_not_ready');
  });

  const forAll = { 'cache-control': 'public, max-age=60', 'access-control-allow-origin': '*' };
  it.each([
    ['/gateway', forAll],
    ['/gateway/openapi.json', forAll],
    ['/openapi.json', { 'cache-control': 'public, no-cache', 'content-type': 'application/json; charset=utf-8' }],
  ])('is kept in memory, tagged, compressed, and readable by those who may: %s', async (path, expected) => {
    const { headers, body } = await get(path);
    expect(headers).toMatchObject(expected);
    expect((await get(path, { 'if-none-match': String(headers['etag']) })).statusCode).toBe(304);
    expect((await get(path, { 'if-none-match': 'W/"another"' })).statusCode).toBe(200);
    const packed = await get(path, { 'accept-encoding': 'gzip, br' });
    expect([packed.headers['vary'], gunzipSync(packed.rawPayload).toString()]).toEqual(['Accept-Encoding', body]);
    const head = await dashboard.app.inject({ method: 'HEAD', url: path });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });

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
    // One for the gateway and the dashboard's own address together.
    expect(reads).toBe(1);
  });

  it('is told neither by whom nor with what it was asked', async () => {
    const secret = 'tg_test_0Fake4KeyThatNoGatewayKnows7xQ2mZ9';
    await get(`/gateway?api_key=${secret}`, { authorization: `Bearer ${secret}`, 'x-api-key': secret });
    expect(dashboard.log()).not.toContain(secret);
  });
});
