import { type Product } from '../../../services/dashboard/contract/plans';
import { type OpenedRoute } from '../../../services/dashboard/contract/plans';
import { PRODUCTS } from '../../support/catalogue';
import { Shopfront } from '../support/shopfront';

const shop = Shopfront.forFile();
const SEO: OpenedRoute[] = [
  { path: '/seo', state: 'about', only: '' },
  { path: '/seo/authority', state: 'open', only: '' },
  { path: '/seo/link_pyramid', state: 'in_part', only: 'with links' },
  { path: '/seo/serp', state: 'refused', only: '' },
];
const VAHAAN: OpenedRoute[] = [{ path: '/vahaan', state: 'about', only: '' }];
const offered = PRODUCTS.filter(({ prefix }) => prefix !== null);

describe('live sources', () => {
  const since = '2026-11-22T10:30:00.000Z';
  afterEach(() => void (shop.sources = {}));

  it.each(['/', '/products'])('%s says which products take test keys only and since when, and follows a change', async (path) => {
    shop.refresh();
    const unknown = (await shop.get(path)).body;
    expect(unknown).not.toMatch(/Live keys|Test keys only|not known/);
    shop.sources = { 'api-gst': { isThere: false, since, routes: [] }, 'api-ip': { isThere: true, since, routes: [] } };
    shop.refresh();
    const { body } = await shop.get(path);
    expect(body.match(/Test keys only/g)).toHaveLength(1);
    expect(body.match(/>Live and test keys</g)).toHaveLength(1);
    expect(body).toContain(`<time dateTime="${since}">22 Nov 2026, 10:30 UTC</time>`);
    expect(body).not.toContain('not known');
  });

  it('names the routes of a product that serve live keys without its source', async () => {
    shop.sources = { 'api-seo': { isThere: false, since, routes: SEO }, 'api-vahaan': { isThere: true, since, routes: VAHAAN } };
    shop.refresh();
    const { body } = await shop.get('/products');
    expect(body).not.toContain('Test keys only');
    const inPart = 'Live keys open today: /seo/authority and /seo/link_pyramid with links; /seo/serp is refused.';
    expect(body).toContain(inPart);
    expect(body).toContain('Index only');
    for (const priced of ['/pricing', '/products/api-seo']) expect((await shop.get(priced)).body).toContain(inPart);
    expect((await shop.get('/products/api-vahaan')).body).toContain('Live keys open nothing today: there is only an index.');
    expect((await shop.get('/products/api-ip')).body).not.toContain('Live keys open');
  });

  it('shows on the page of a product how old the data is from which its service answers now', async () => {
    shop.refresh();
    expect((await shop.get('/products/api-ip')).body).toContain('<time dateTime="2026-06-05">5 June 2026</time>');
    const data = [
      { name: 'Table of places', asOf: '2026-11-01T04:00:00.000Z' },
      { name: 'Own table', asOf: null },
    ];
    shop.sources = { 'api-ip': { isThere: true, since, routes: [], data } };
    shop.refresh();
    const { body } = await shop.get('/products/api-ip');
    expect(body).not.toContain('5 June 2026');
    expect(body.replaceAll(/<[^>]+>/g, '')).toMatch(/Table of places, data of 1 November 2026.*Own table, without a date/);
  });

  it('tells customers the same, null where nobody knows, and names no setting', async () => {
    shop.sources = { 'api-gst': { isThere: false, since, routes: [] }, 'api-seo': { isThere: false, since, routes: SEO } };
    const cookie = await shop.dashboard.signIn();
    const { products } = (await shop.dashboard.ask({ path: '/api/products', cookie })).json<{ products: Product[] }>();
    const of = (id: string): Product | undefined => products.find((product) => product.id === id);
    expect([of('api-gst')?.liveSource, of('api-ip')?.liveSource]).toEqual([{ isThere: false, since }, null]);
    expect([of('api-gst')?.liveRoutes, of('api-seo')?.liveRoutes]).toEqual([[], SEO]);
    expect([of('api-gst')?.opensNothing, of('api-seo')?.opensNothing, of('api-ip')?.opensNothing]).toEqual([
      'GST: Live keys open nothing today. The price is charged all the same.',
      null,
      null,
    ]);
    expect(JSON.stringify(products) + (await shop.get('/products')).body).not.toMatch(/[A-Z]+_LINK_URL|_KEY\b|SEARXNG/);
  });
});

describe('/status', () => {
  const fill = `INSERT INTO product_answers (day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
    SELECT (now() AT TIME ZONE 'Asia/Kolkata')::date - back, product, 100000, succeeded, 0, failed, 0, '{}'
    FROM (VALUES ('api-ip', 0, 99999, 1), ('api-ip', 3, 60, 40), ('api-ip', 5, 6, 1), ('api-ip', 89, 1000, 0), ('api-ip', 90, 0, 1000), ('api-seo', 1, NULL, NULL))
      AS given(product, back, succeeded, failed)`;

  it('is not known where nothing was reported, and links from every page', async () => {
    const { body } = await shop.get('/status');
    expect(body).toContain('No outage is known.');
    for (const { title } of offered) expect(body).toContain(title);
    expect(body).toContain('Not known: fewer than 20 responses were reported on each of the last 90 days.');
    expect(body).not.toContain('available in the last');
    expect((await shop.get('/')).body).toContain('<a href="/status">Status</a>');
  });

  it('shows each day of 90 by its minutes of outage, never rounded up, and asks the database once a minute', async () => {
    await shop.dashboard.pool.query(fill);
    await shop.dashboard.pool.query(
      `INSERT INTO product_outage (product_id, began_at, ended_at, failed_at, answered, failed)
       SELECT 'api-ip', midnight + began, midnight + ended, now(), 40, 30
       FROM (SELECT (date_trunc('day', now() AT TIME ZONE 'Asia/Kolkata') AT TIME ZONE 'Asia/Kolkata') AS midnight) AS day,
         (VALUES (interval '-2 days', interval '-2 days' + interval '36 minutes'), (now() - now(), NULL)) AS given(began, ended)`,
    );
    shop.passMinute();
    const { body } = await shop.get('/status');
    expect(body).toMatch(/IP lookup is failing since <time dateTime="[^"]+Z" data-zone="reader">/);
    expect(body).toContain('30 of 40 responses failed.');
    const days = body.split('<section class="availability"').find((section) => section.includes('id="status-api-ip"')) ?? '';
    expect(days.match(/<i[ >]/g)).toHaveLength(90);
    expect(days.match(/<i class="[a-z]+" title="[^"]+"/g)?.map((each) => each.replace(/title=".*: /, ''))).toEqual([
      '<i class="good" 100%"',
      '<i class="good" 100%"',
      '<i class="partly" 97.50%"',
      expect.stringMatching(/^<i class="bad" /),
    ]);
    const json = (await shop.get('/status.json')).json();
    expect(json).toMatchObject({
      operational: false,
      incidents: [
        { product: 'api-ip', ended_at: null },
        { responses: 40, failed: 30 },
      ],
    });
    const ofIp = json.products.find(({ product }: { product: string }) => product === 'api-ip');
    expect(ofIp).toMatchObject({
      failing: true,
      since: expect.stringMatching(/Z$/),
      days: expect.arrayContaining([expect.objectContaining({ available_percent: 97.5, outage_minutes: 36 })]),
    });
    expect(json.products.find(({ product }: { product: string }) => product === 'api-seo')).toMatchObject({
      failing: false,
      available_percent: null,
      days: [],
    });
    const feed = await shop.get('/status.xml');
    expect(feed.headers['content-type']).toContain('application/atom+xml');
    expect(feed.body.match(/<entry>/g)).toHaveLength(2);
    expect(feed.body).toContain('IP lookup is failing');
    await shop.dashboard.pool.query('DELETE FROM product_outage');
    expect((await shop.get('/status')).body).toBe(body);
    shop.passMinute();
    expect((await shop.get('/status')).body).not.toContain('is failing');
  });
});
