import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocPages } from '../../../services/dashboard/storefront/doc-pages';
import { isAppPage } from '../../../services/dashboard/contract/app-pages';
import { listErrors } from '../../../services/openapi/error-table';
import { PRODUCTS } from '../../support/catalogue';
import { firstOf } from '../../support/scenes';
import { Shopfront, withIp } from '../support/shopfront';
import { newFolder } from '../../support/run-folder';

const APP = '<!doctype html><title>The app</title><main>The app</main>';
/** As it is sent: with the installation's name in its head. */
const SENT = '<!doctype html><title>Tollgate</title><meta name="application-name" content="Tollgate" /><main>The app</main>';
const NONCE = /<meta name="style-nonce" content="([^"]*)" \/>/;
const withoutNonce = (body: string): string => body.replace(NONCE, '');
const APP_ROUTES = join(__dirname, '..', '..', '..', 'services', 'dashboard', 'web', 'app');
const SESSION = 'tollgate.session_token=anything.at-all';

/** In place of ours of the same name, with all that Markdown must not bring. */
const SELLERS_PAGE = `# Our limits

Call **{{call}}** of {{name}} <script>alert(1)</script>, or [do not](javascript:alert(1)), [nor](//evil.example/), see [keys](keys-and-rules.md#x).

\`\`\`json
{ "a": "</script>" }
\`\`\`

- one
  - two ![picture](https://evil.example/track.png)

| code | meaning |
|---|---|
| 429 | <img src=x onerror=alert(1)> |
`;

const shop = Shopfront.forFile(() => {
  const config = newFolder();
  mkdirSync(join(config, 'docs'));
  writeFileSync(join(config, 'docs', '10-limits.md'), SELLERS_PAGE);
  writeFileSync(join(config, 'changelog.md'), '# What is new\n\n## 2026-11-20: More & faster\n\nA **new** route.\n\n## Before\n\nOld.\n');
  return { pages: readDocPages(config), webFiles: { 'index.html': APP } };
});
const offered = PRODUCTS.filter(({ prefix }) => prefix !== null);
/** The longest pages first: `npm test` reads those of three products. */
const shown = firstOf(
  offered.toSorted((one, other) => other.routes.length - one.routes.length),
  3,
);

describe('without a session', () => {
  it('/products has every product with its limits and prices in its words', async () => {
    const { statusCode, headers, body } = await shop.get('/products');
    expect([statusCode, headers['content-type'], headers['vary']]).toEqual([200, 'text/html; charset=utf-8', 'Accept-Encoding, Cookie']);
    for (const { title, description, id } of PRODUCTS) for (const text of [title, description, id]) expect(body).toContain(text);
    for (const text of ['1,000 a day, 30,000 a month', '₹499.00 a month', '1,000,000 a day', 'Listed only']) expect(body).toContain(text);
  });

  it('/ has a card for each product that can be bought, a call beside its answer, and no product that nobody can buy', async () => {
    const { body } = await shop.get('/');
    for (const { title, id } of offered) expect(body).toContain(`<a href="/products/${id}">${title}</a>`);
    for (const { id } of PRODUCTS.filter(({ prefix }) => prefix === null)) expect(body).not.toContain(id);
    for (const text of ['From ₹499.00 a month', 'Free: 1,000 a day, 30,000 a month', '<span class="code-key">"ip"</span>'])
      expect(body).toContain(text);
  });

  it('/pricing says what expected requests cost with each product, by a form that needs no script', async () => {
    const costs = async (query: string): Promise<string> => {
      const { statusCode, body } = await shop.get(`/pricing${query}`);
      expect([statusCode, body.includes('<form class="expected" action="/pricing" method="get">')]).toEqual([200, true]);
      return /<tr id="api-seo">.*?<\/tr>/s.exec(body)?.[0].split('<td').at(-1) ?? '';
    };
    expect(await costs('?requests=0')).toContain('<strong>No charge</strong> <span class="quiet block">With Free</span>');
    expect(await costs('?requests=4')).toContain('<strong>₹999.00</strong> <span class="quiet block">With Star</span>');
    expect(await costs('?requests=7')).toContain('No plan has room for this');
    for (const odd of ['', '?requests=9', '?requests=-1', '?requests=x', '?requests=1&requests=2']) {
      expect(await costs(odd)).toBe(await costs('?requests=3'));
    }
  });

  describe('/pricing', () => {
    const sea = { name: 'Sea', daily: 20_000, monthly: 600_000, price: '999.00', currency: 'INR', approval: 'request' as const };
    const overage = { price: '20.00', per: 1_000, cap: { daily: 40_000, monthly: 900_000 } };
    const sold = PRODUCTS.filter(({ prefix }) => prefix !== null).slice(0, 4);
    const few = sold.slice(0, 3).map((each) => ({ ...each, plans: [{ ...sea, overage }] }));
    afterAll(() => shop.sell());

    it.each([
      [1, false],
      [3, false],
      [4, true],
    ])('of %d products is a table only where cards cannot be compared (%s)', async (count, isTable) => {
      await shop.sell(sold.slice(0, count));
      const { body } = await shop.get('/pricing');
      expect([body.includes('class="products pricing"'), body.split('class="product-cards offers"').length - 1]).toEqual([
        isTable,
        isTable ? 0 : count,
      ]);
      for (const { id } of sold.slice(0, count)) expect(body).toContain(`id="${id}"`);
    });

    it.each([few, [...few, ...sold.slice(3)]])('says what is included before the cap, and what comes after Ask us', async (...products) => {
      await shop.sell(products);
      const { body } = await shop.get('/pricing');
      const text = body.replaceAll(/<[^>]+>/g, '');
      expect(text).toContain('20,000 a day, 600,000 a month included, then ₹20.00 for 1,000 more, up to 40,000 a day, 900,000 a month');
      expect(text).toMatch(/Ask us/);
      expect(text).toMatch(/begins when we agree; an email tells you so/);
      expect(body).toContain('/sign-up?then=%2Fplans%3Fproduct%3D');
    });
  });

  it('/ and /pricing tell search engines the price of each plan, in data that no browser runs', async () => {
    for (const path of ['/', '/pricing']) {
      const text = /<script type="application\/ld\+json">([^<]*)<\/script>/.exec((await shop.get(path)).body)?.[1] ?? '';
      const graph = (JSON.parse(text) as { '@graph': { url: string; offers: object[] }[] })['@graph'];
      expect(graph.find(({ url }) => url.endsWith('/products/api-ip'))?.offers).toEqual([
        { '@type': 'Offer', name: 'Star', price: '499.00', priceCurrency: 'INR' },
      ]);
    }
  });

  it('/reference leads to every product that can be called, and says how the key is sent', async () => {
    const { body } = await shop.get('/reference');
    for (const { id } of offered) expect(body).toContain(`href="/reference/${id}"`);
    expect(body).not.toContain('/reference/api-pan');
    expect(body).toContain('<code>X-API-Key: …</code>');
    expect(body).toContain('<a href="/reference/api-pincode#post_pincode">POST /pincode</a>');
  });

  it('/reference leads from the name of an operation to its place, and from any other name to the beginning', async () => {
    for (const cookie of ['', SESSION]) {
      const placeOf = async (name: string) => {
        const { statusCode, headers } = await shop.get(`/reference?operation=${name}`, { cookie });
        return [statusCode, headers['location']];
      };
      expect(await placeOf('get_ip')).toEqual([307, '/reference/api-ip#get_ip']);
      for (const other of ['nothing', '__proto__', '//evil.example', '']) expect(await placeOf(other)).toEqual([307, '/reference']);
    }
  });

  it.each(shown.map(({ id }) => id))('/reference/%s has every route with an example, its fields and its codes', async (id) => {
    const { statusCode, body } = await shop.get(`/reference/${id}`);
    expect(statusCode).toBe(200);
    for (const { path } of PRODUCTS.find((product) => product.id === id)?.routes ?? []) expect(body).toContain(`<code>${path}</code>`);
    for (const label of ['curl', 'JavaScript', 'Python']) expect(body).toContain(`<summary>${label}</summary>`);
    expect(body).toContain('<code>key_missing</code></a> <span class="quiet">API key missing</span>');
  });

  it.each([
    ['api-grank', 'which fields of an input are required, and their limits', '<th>keyword<span class="required">required</span></th>'],
    ['api-grank', 'which are optional', '<th>radius_km<span class="optional">optional</span></th>'],
    ['api-grank', 'the limits of a field', 'More than 0; at most 50; default 5. Kilometres around the coordinates.'],
    ['api-grank', 'a sample answer', 'ChIJsandbox0001'],
    ['api-seo', 'members of an answer at every depth', '<th>data.authority.open_page_rank.unit</th>'],
    ['api-seo', 'many members alike once', '<td><i>object</i> Members as of data.authority.open_page_rank.</td>'],
    ['api-ip', 'where a code is explained', 'href="/reference/errors#key_missing"'],
    ['api-ip', 'how to sign up and come back', 'href="/sign-up?then=%2Freference%2Fapi-ip"'],
    ['api-ip', 'how to sign in and come back', 'href="/sign-in?then=%2Freference%2Fapi-ip"'],
  ])('/reference/%s shows %s', async (id, _what, text) => expect((await shop.get(`/reference/${id}`)).body).toContain(text));

  it('/reference/PRODUCT/OPERATION has one operation, and nothing but', async () => {
    const { statusCode, body } = await shop.get('/reference/api-ip/get_ip');
    expect([statusCode, body.includes('id="get_ip"'), body.includes('id="post_ip"')]).toEqual([200, true, false]);
    for (const path of ['api-ip/nothing', 'nothing/get_ip', 'api-pincode/get_ip', 'api-pan/get_ip', 'api-ip?tag=Nothing'])
      expect([path, (await shop.get(`/reference/${path}`)).statusCode]).toEqual([path, 404]);
  });

  it('/reference/errors has every code with an anchor, what it means and what to do', async () => {
    const { statusCode, body } = await shop.get('/reference/errors');
    expect(statusCode).toBe(200);
    for (const { code, failures, remedy } of listErrors()) {
      expect(body).toContain(`<tr id="${code}">`);
      for (const { status, title } of failures) expect(body).toContain(`<b>${status}</b> ${title}.`);
      expect(body).toContain(remedy);
    }
    expect(body).toContain('<dt>206</dt>');
  });

  it.each([
    '/no/such/page',
    '/docs/nothing',
    '/products/api-pan',
    '/reference/api-pan',
    '/reference/nothing',
    '/reference/__proto__',
    '/reference/%3Cscript%3E',
  ])('%s is 404 in full dress with a search, and says nothing of what was asked for', async (path) => {
    const { statusCode, body } = await shop.get(path);
    expect([statusCode, body.includes('Page not found'), body.includes('script&gt;')]).toEqual([404, true, false]);
    expect(body).toContain('action="/search"');
  });

  it.each([
    ...['/', '/products', '/pricing', '/status', '/docs', '/docs/limits', '/changelog', '/reference', '/reference/errors'],
    ...shown.flatMap(({ id }) => [`/products/${id}`, `/reference/${id}`]),
  ])('%s needs no script, names itself to search engines, and is no larger than 80 KiB', async (path) => {
    const { body } = await shop.get(path);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(80 * 1_024);
    expect(body.match(/<script(?! type="application\/ld)[^>]*>[^<]*/g)).toEqual(['<script type="module" src="/public-page.js">']);
    // A form that only a script can send is not shown without one.
    expect(body.match(/<form (?!class="(?:expected|search|find ask)")/g)?.length).toBe(
      body.match(/<form class="try" [^>]*hidden="">/g)?.length,
    );
    expect(body).not.toMatch(/ on[a-z]+="/);
    expect(body).toContain(`<link rel="canonical" href="http://dashboard.test${path}"/>`);
    expect(body).toMatch(/<meta name="description" content="[^"]{20,}"\/>/);
    expect(body.match(/<h1[ >]/g)).toHaveLength(1);
  });

  it('the call to try on the first page needs nothing but a click', async () => {
    const call = /data-call="([^"]*)"/.exec((await shop.get('/')).body)?.[1]?.replaceAll('&quot;', '"');
    expect(JSON.parse(call ?? '')).toEqual({ product: 'api-ip', method: 'GET', path: '/ip', through: ['/api/public/try'] });
    expect((await shop.get('/reference/api-gst')).body).not.toContain('value="from the previous step"');
  });

  it('robots, the sitemap and llms.txt name the public pages and nothing else', async () => {
    const sitemap = await shop.get('/sitemap.xml');
    expect(sitemap.headers['content-type']).toBe('application/xml; charset=utf-8');
    const places = [...sitemap.body.matchAll(/<loc>http:\/\/dashboard\.test([^<]*)<\/loc>/g)].map(([, path]) => path);
    expect(places).toEqual([
      ...['/', '/products', '/pricing', '/status', '/docs', '/changelog', '/reference', '/reference/errors'],
      ...offered.flatMap(({ id }) => [`/products/${id}`, `/reference/${id}`]),
      ...['first-call', 'keys-and-rules', 'errors', 'webhooks', 'team', 'management-api', 'limits'].map((slug) => `/docs/${slug}`),
    ]);
    for (const path of places) expect((await shop.get(path ?? '')).statusCode).toBe(200);
    expect((await shop.get('/robots.txt')).body).toContain('Sitemap: http://dashboard.test/sitemap.xml');
    const llms = (await shop.get('/llms.txt')).body;
    expect(llms).toMatch(/^# Tollgate\n\n> 12 HTTP APIs/);
    for (const { title } of PRODUCTS) expect(llms).toContain(title);
    expect(llms).toContain('₹499.00 a month for 100,000 a day');
    for (const [, path = ''] of llms.matchAll(/\(http:\/\/dashboard\.test(\/reference\/[^)]+\.md)\)/g)) {
      const { statusCode, headers, body } = await shop.get(path);
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(body).toMatch(/^# .*\n\n> .*\n\n- Free: /);
    }
    expect((await shop.get('/reference/nothing.md')).statusCode).toBe(404);
  });

  it('a product’s page has its plans with what sets them apart, a call beside its answer, its endpoints, and the day of its data', async () => {
    const { body } = await shop.get('/products/api-ip');
    expect(body).toMatch(
      /<h3>Star<\/h3><p class="price">₹499.00 a month<\/p><p><strong>100 times<\/strong> the requests that are free: 100,000 a day/,
    );
    expect(body).toContain('<span class="code-key">"ip"</span>');
    expect(body).toContain('<a href="/reference/api-ip#get_ip"><span class="method">GET</span> <code>/ip</code></a>');
    expect(body).toContain('<a href="https://db-ip.com">DB-IP City Lite</a>');
    expect(body).toContain('data of <time dateTime="2026-06-05">5 June 2026</time>');
    expect(body).toContain('<meta property="og:title" content="IP lookup"/>');
    expect((await shop.get('/products/api-gst')).body).not.toContain('Sources');
  });

  it('pages of the seller’s own are shown with no more than Markdown can, in place of ours of their name', async () => {
    const { body } = await shop.get('/docs/limits');
    expect(body).toContain('<h1 id="our-limits">Our limits</h1>');
    expect(body).toContain(
      '<strong>http://gateway.test/ip?ip=8.8.8.8</strong> of Tollgate &lt;script&gt;alert(1)&lt;/script&gt;, or do not',
    );
    expect(body).toContain('nor, see <a href="/docs/keys-and-rules#x">keys</a>');
    expect(body).toContain('<ul><li>one<ul><li>two !<a href="https://evil.example/track.png">picture</a></li></ul></li></ul>');
    expect(body).toContain('<td>&lt;img src=x onerror=alert(1)&gt;</td>');
    expect(body).not.toMatch(/javascript:|\/\/evil.example\/"|<img src=x/);
  });

  it('the changelog has an anchor for each entry and a feed with its day', async () => {
    expect((await shop.get('/changelog')).body).toContain(
      '<h2 id="2026-11-20-more-faster">2026-11-20: More &amp; faster</h2><p>A <strong>new</strong> route.</p>',
    );
    const { headers, body } = await shop.get('/changelog.xml');
    expect(headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    expect(body).toContain('<title>2026-11-20: More &amp; faster</title><updated>2026-11-20T00:00:00.000Z</updated>');
    expect(body.match(/<entry>/g)).toHaveLength(2);
  });

  it('a search finds products, guides, routes and errors by all of its words', async () => {
    const foundBy = async (search: string) =>
      [...(await shop.get(`/search?q=${encodeURIComponent(search)}`)).body.matchAll(/<li><a href="([^"]+)"/g)].map(([, path]) => path);
    expect(await foundBy('ip lookup')).toEqual(expect.arrayContaining(['/products/api-ip']));
    expect((await foundBy('IP'))[0]).toBe('/products/api-ip');
    expect(await foundBy('whitelisted')).toContain('/reference/errors#caller_not_whitelisted');
    expect(await foundBy('standard webhooks')).toEqual(['/docs/webhooks']);
    for (const nothing of ['', '   ', '<script>alert(2)</script>', 'x'.repeat(5_000)]) expect(await foundBy(nothing)).toEqual([]);
    expect((await shop.get('/search?q=%3Cscript%3E')).body).not.toContain('<script>');
    expect((await shop.get('/search?q=a&q=b')).statusCode).toBe(200);
  });

  it('the pages of the application are known where addresses are judged', () => {
    const sources = ['customer-routes.ts', 'entrance-routes.ts', 'operator-routes.ts'].map((name) =>
      readFileSync(join(APP_ROUTES, name), 'utf8'),
    );
    const paths = [...sources.join().matchAll(/path: '(\/[^']*)'/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !isAppPage(path))).toEqual([]);
    for (const path of ['/no/such/page', '/wp-login', '/key', '/products/nothing']) expect(isAppPage(path)).toBe(false);
  });

  it('a copy is asked about before each use, and good as long as the catalogue is', async () => {
    const { headers } = await shop.get('/products');
    expect(headers['cache-control']).toBe('no-cache');
    expect((await shop.get('/products', { 'if-none-match': String(headers['etag']) })).statusCode).toBe(304);
  });
});

describe('with a session', () => {
  it('/ is the app', async () => {
    const { statusCode, headers, body } = await shop.get('/', { cookie: SESSION });
    expect([statusCode, withoutNonce(body), headers['vary']]).toEqual([200, SENT, expect.stringContaining('Cookie')]);
    expect(withoutNonce((await shop.get('/', { cookie: `a=b; __Secure-${SESSION}` })).body)).toBe(SENT);
  });

  it('the app’s styles need the nonce of their page, and no page takes any that are written into it', async () => {
    const nonceOf = async (): Promise<string> => {
      const { headers, body } = await shop.get('/', { cookie: SESSION });
      const [, nonce = ''] = NONCE.exec(body) ?? [];
      expect(headers['content-security-policy']).toContain(`style-src 'self' 'nonce-${nonce}';`);
      return nonce;
    };
    const [first, second] = [await nonceOf(), await nonceOf()];
    expect(first).toHaveLength(24);
    expect(second).not.toBe(first);
    expect((await shop.get('/')).headers['content-security-policy']).toContain("style-src 'self';");
  });

  it('the reference takes an own test key, and makes calls in the customer’s name', async () => {
    const own = (await shop.get('/reference/api-ip', { cookie: SESSION })).body;
    expect(own).toContain('id="own-key"');
    expect(own).toContain('&quot;through&quot;:[&quot;/api/try&quot;,&quot;/api/public/try&quot;]');
    const reader = (await shop.get('/reference/api-ip')).body;
    expect(reader).not.toContain('own-key');
    expect(reader).not.toContain('/api/try&quot;');
  });

  it('the public pages offer the overview in place of signing in, unless the cookie is another', async () => {
    const { body } = await shop.get('/products', { cookie: SESSION });
    expect([body.includes('Your overview'), body.includes('Sign in')]).toEqual([true, false]);
    expect((await shop.get('/', { cookie: 'tollgate.session_token=; x=tollgate.session_token' })).body).not.toContain('The app');
  });
});

describe('a change of the catalogue', () => {
  it('is on the pages a second later, and its texts stay texts', async () => {
    const evil = '<img src=x onerror=alert(1)>&"';
    await shop.sell(withIp({ title: evil }));
    for (const path of ['/', '/products', '/reference', '/reference/api-ip']) {
      const { body } = await shop.get(path);
      expect(body).toContain('&lt;img src=x onerror=alert(1)&gt;&amp;"');
      expect(body).not.toContain('<img src=x');
    }
  });
});

describe('a product without a sandbox', () => {
  const callersOf = async (path: string, cookie: string): Promise<unknown> => {
    const call = /data-call="([^"]*)"/.exec((await shop.get(path, { cookie })).body)?.[1];
    return call && (JSON.parse(call.replaceAll('&quot;', '"')) as { product: string; through: unknown });
  };
  afterAll(() => shop.sell());

  it('says that it refuses test keys, and offers nobody a call', async () => {
    await shop.sell(withIp({ testKeys: undefined }));
    for (const cookie of ['', SESSION]) {
      expect(await callersOf('/reference/api-ip', cookie)).toBeUndefined();
      expect((await shop.get('/reference/api-ip', { cookie })).body).toContain('This product has no sandbox: test keys are refused.');
    }
    expect((await shop.get('/products')).body).toContain('Live keys only');
    expect(await callersOf('/', '')).toBeUndefined();
  });

  it('whose test keys reach its live API offers its calls to customers only', async () => {
    await shop.sell(withIp({ testKeys: 'live' }));
    expect(await callersOf('/reference/api-ip', '')).toBeUndefined();
    expect(await callersOf('/reference/api-ip', SESSION)).toMatchObject({ product: 'api-ip', through: ['/api/try'] });
    expect(await callersOf('/', '')).toBeUndefined();
  });
});

describe('a product whose answers say what they cost', () => {
  it('has limits in units where it is sold', async () => {
    await shop.sell(PRODUCTS.map((each) => (each.id === 'api-ip' ? { ...each, units: { reserve: 1, most: 1_000 } } : each)));
    expect((await shop.get('/products/api-ip')).body).toContain('<strong>100 times</strong> the units that are free: 100,000 a day');
    expect((await shop.get('/products/api-seo')).body).toContain('<strong>10 times</strong> the requests that are free: 10,000 a day');
    const priced = (await shop.get('/pricing')).body;
    for (const text of ['Counted in units. Each response says how many it cost.', 'For as many units']) {
      expect(priced.split(text)).toHaveLength(2);
    }
    await shop.sell();
  });
});
