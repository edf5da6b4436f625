import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { securityHeaders } from '../../../services/dashboard/http/security-headers';
import { type Brand, PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { brandPage } from '../../../services/dashboard/brand/brand-page';
import { serveWeb } from '../../../services/dashboard/http/serve-web';
import { useDashboard } from '../support/dashboard';
import { gunzipSync } from 'node:zlib';
import { buildDocument } from '../../support/openapi/build-document';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { openedForTests } from '../../support/opened';
import { writeProductDocuments } from '../../../services/selling/catalogue/product-documents';
import { describeOurs, Shopfront } from '../support/shopfront';
import { type DocPages, readDocPages } from '../../../services/dashboard/storefront/doc-pages';
import { newFolder } from '../../support/run-folder';

describe('the pages of the app', () => {
  /** Without built pages. */
  const dashboard = useDashboard();
  let app: FastifyInstance;
  const opened = openedForTests();
  beforeAll(async () => {
    const root = newFolder();
    mkdirSync(join(root, 'assets'));
    writeFileSync(join(root, 'index.html'), '<!doctype html><title>Tollgate</title>');
    writeFileSync(join(root, 'favicon.svg'), '<svg/>');
    writeFileSync(join(root, 'assets', 'main-abc123.js'), 'export {};');
    app = await opened.keep(Promise.resolve(fastify()));
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

describe('pages of other APIs', () => {
  const shop = Shopfront.forFile();

  afterEach(() => void (shop.readDocument = describeOurs));

  it('shows what pages can show, with what it refers to written out, and leaves odd operations to the document', async () => {
    shop.readDocument = () => {
      const document = JSON.parse(describeOurs()) as { paths: Record<string, Record<string, object>>; components: object };
      const own = document.paths['/ip']?.['get'];
      const byReference = {
        ...own,
        parameters: [{ $ref: '#/components/parameters/Ip' }],
        requestBody: { $ref: '#/components/requestBodies/Any' },
      };
      const components = {
        parameters: { Ip: { name: 'address', in: 'query', schema: { type: 'string' } } },
        requestBodies: { Any: { content: { 'application/json': { schema: { properties: { note: { type: 'string' } } } } } } },
      };
      return JSON.stringify({
        ...document,
        components: { ...document.components, ...components },
        paths: { ...document.paths, '/ip': { get: byReference, post: { ...own, responses: 'odd' } } },
      });
    };
    await shop.sell();
    const { statusCode, body } = await shop.get('/reference/api-ip');
    expect(statusCode).toBe(200);
    expect(body).toContain('id="get_ip"');
    expect(body).toMatch(/Query<\/caption>.*address.*Body, as application\/json<\/caption>.*note/);
    expect(body).not.toContain('id="post_ip"');
    expect(body).toContain('This page cannot show POST /ip:');
    expect((await shop.get('/reference/api-pincode')).body).toContain('id="post_pincode"');
  });

  describe('a shop of one API', () => {
    const weather = { id: 'weather', title: 'Weather', description: 'Forecasts.', prefix: '/weather', openapi: 'weather.json' };
    const routes = [{ method: 'GET' as const, path: '/weather/{city}', purpose: 'Forecast of a city' }];
    beforeAll(async () => {
      await shop.sell([{ ...weather, routes, plans: [], base: { daily: 1, monthly: 1 }, subscribable: true }]);
      const responses = {
        '201': { description: 'Fine', content: { 'application/json': { schema: { type: 'object', example: { rain: 7 } } } } },
      };
      await writeProductDocuments(
        shop.dashboard.pool,
        new Map([['weather', { openapi: '3.1.0', paths: { '/{city}': { post: { responses } } } }]]),
      );
      shop.refresh();
    });
    afterAll(() => shop.sell());

    it.each([
      ...[
        '/',
        '/products',
        '/products/weather',
        '/pricing',
        '/reference',
        '/reference/weather',
        '/reference/weather.md',
        '/reference/errors',
        '/status',
        '/search?q=session',
      ],
      ...['/docs', '/docs/first-call', '/docs/keys-and-rules', '/docs/limits', '/docs/errors', '/docs/team', '/llms.txt', '/sitemap.xml'],
    ])('speaks at %s of its own API alone', async (path) => {
      const { statusCode, body } = await shop.get(path);
      expect(statusCode).toBe(200);
      expect(
        body.match(
          /aadhaar|captcha|\botp\b|\bapk\b|pincode|\bgst\b|gdplay|grank|glead|vahaan|api-(?:ip|seo|app|image)\b|8\.8\.8\.8|1 HTTP APIs/i,
        )?.[0],
      ).toBeUndefined();
      // What our services alone send, and how they read parameters.
      expect(body.match(/too_complex|validation_failed|link_not_valid|near miss/i)?.[0]).toBeUndefined();
    });

    it('has its call beside its answer, its operations and its plans on its home', async () => {
      const { body } = await shop.get('/');
      for (const text of [
        '<h1>Weather</h1>',
        'Forecasts.',
        'A call and its answer',
        'POST</span> <code>/weather/{city}</code>',
        '>Plans</h2>',
        'a day',
      ])
        expect(body).toContain(text);
      expect(body).not.toContain('/products/weather');
    });

    it('counts one product as one, and promises no test keys where they are refused', async () => {
      expect((await shop.get('/products')).body).toContain('One product with its limits, plans and prices.');
      for (const path of ['/', '/pricing']) expect((await shop.get(path)).body).not.toMatch(/test keys/i);
      expect((await shop.get('/llms.txt')).body).not.toContain('tg_test_');
    });

    it('describes its own API alone, and shows its success', async () => {
      const { body } = await shop.get('/openapi.json');
      expect(Object.keys(JSON.parse(body).paths)).toEqual(['/weather/{city}']);
      expect(JSON.parse(body).info).not.toHaveProperty('license');
      expect(body).not.toMatch(/aadhaar|captcha|\botp\b|\bapk\b|pincode|\bgst\b|gdplay/i);
      expect((await shop.get('/reference/weather')).body).toMatch(/rain(?:&quot;|")?: 7/);
    });
  });

  describe('a broken operation of another API', () => {
    const broken = (schema: unknown): object => ({
      openapi: '3.1.0',
      paths: {
        '/fine': { get: { responses: { '200': { description: 'Fine' } } } },
        '/bad': { get: { responses: { '200': { description: 'Bad', content: { 'application/json': { schema } } } } } },
      },
    });
    const nested = (deep: number): object => (deep === 0 ? {} : { items: nested(deep - 1) });

    it.each<[string, unknown]>([
      ['a $ref that leads nowhere', { $ref: '#/components/schemas/Nowhere' }],
      ['a $ref that is no text', { $ref: 5 }],
      ['schemas nested until a stack ends', nested(1_500)],
    ])('is named on the page of its product and in the log, and every other product keeps its page: %s', async (_, schema) => {
      const members = { id: 'weather', title: 'Weather', description: 'Forecasts.', prefix: '/weather', routes: [], plans: [] };
      await shop.sell([...PRODUCTS, { ...members, base: { daily: 1, monthly: 1 }, subscribable: true, openapi: 'weather.json' }]);
      await writeProductDocuments(shop.dashboard.pool, new Map([['weather', broken(schema)]]));
      shop.refresh();
      const page = await shop.get('/reference/weather');
      expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('This page cannot show GET /weather/bad:')]);
      expect(page.body).toContain('id="weather_get_fine"');
      expect((await shop.get('/reference/api-pincode')).body).toContain('id="post_pincode"');
      expect((await shop.get('/reference')).body).toContain('href="/reference/api-ip#get_ip"');
      expect(shop.dashboard.log()).toMatch(/"operation":"GET \/weather\/bad".*left out/);
    });
  });

  it('an empty catalogue leaves no empty table, figure or promise, and its home says with which commands its seller begins', async () => {
    await shop.sell([]);
    for (const path of ['/', '/products', '/pricing', '/status']) {
      const { body } = await shop.get(path);
      expect(body).toMatch(/Nothing is on sale yet\.|Products appear here as soon as they are on sale\./);
      expect(body).not.toMatch(/<table|All 0 products|Limits and prices of each|<form class="expected"|Each bar is a day/);
    }
    const home = (await shop.get('/')).body.replaceAll(/<[^>]+>/g, '');
    await shop.sell();
    for (const command of ['npx tollgate product new', 'npx tollgate catalogue apply']) expect(home).toContain(command);
  });
});

describe('what the seller saves', () => {
  /** As the seller saves it: see sellers-folder.test.ts. */
  const saved: { brand: Brand; pages: DocPages; revision: string } = { brand: PLAIN_BRAND, pages: readDocPages(undefined), revision: '0' };
  const shop = Shopfront.forFile(() => ({ folder: saved, webFiles: { 'index.html': '<!doctype html><title>Tollgate</title>' } }));

  function save(change: Partial<typeof saved>): void {
    Object.assign(saved, change, { revision: String(Number(saved.revision) + 1) });
  }

  const bodyOf = async (path: string): Promise<string> => (await shop.get(path)).body;

  it('a brand that the seller saves is on pages, in the app, in files and in descriptions, without a restart', async () => {
    const paths = ['/', '/pricing', '/docs', '/keys', '/llms.txt', '/status.xml', '/openapi.json', '/gateway'];
    for (const path of paths) expect(await bodyOf(path)).not.toContain('Acme');
    expect((await shop.get('/brand/logo')).statusCode).toBe(404);
    save({ brand: { name: 'Acme', colour: '#0b6e4f', logo: { bytes: Buffer.from('<svg/>'), contentType: 'image/svg+xml' } } });
    for (const path of paths) expect([path, (await bodyOf(path)).includes('Acme')]).toEqual([path, true]);
    expect(await bodyOf('/brand/logo')).toBe('<svg/>');
    expect(await bodyOf('/brand.css')).toContain('--accent:#0b6e4f');
  });

  it('so is a guide, with the words of the installation in it, and a changelog with its feed', async () => {
    const page = (text: string): DocPages => ({
      docs: [{ slug: 'rain', title: 'Rain', summary: 'Rain.', text }],
      changelog: { text: '# Changes\n\n## 2026-11-20: Faster\n\nYes.\n', changedAt: new Date(0) },
    });
    for (const path of ['/docs/rain', '/changelog', '/changelog.xml']) expect((await shop.get(path)).statusCode).toBe(404);
    save({ pages: page('# Rain\n\nBy {{name}}.\n') });
    expect(await bodyOf('/docs/rain')).toContain(`By ${saved.brand.name}.`);
    expect(await bodyOf('/docs')).toContain('href="/docs/rain"');
    for (const path of ['/changelog', '/changelog.xml']) expect(await bodyOf(path)).toContain('Faster');
    save({ pages: page('# Rain\n\nHail.\n') });
    expect(await bodyOf('/docs/rain')).toContain('Hail.');
    save({ pages: { docs: [], changelog: undefined } });
    for (const path of ['/docs/rain', '/changelog', '/changelog.xml']) expect((await shop.get(path)).statusCode).toBe(404);
  });
});
