import { type OpenedRoute, type Product } from '../../../services/dashboard/contract/plans';
import { PRODUCTS } from '../../support/catalogue';
import { Shopfront } from '../support/shopfront';
import { type Pool } from 'pg';
import { judgeMinute } from '../../../plugins/core/catalogue/outage';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { readAppliedCatalogue } from '../../../services/selling/catalogue/read-catalogue';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { createOperator } from '../../../services/selling/operators/change-operators';
import { readAvailability } from '../../../services/selling/outages/product-answers';
import { listOutages, listOutagesOf } from '../../../services/selling/outages/list-outages';
import { type OutageChange, watchOutages } from '../../../services/selling/outages/watch-outages';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { addSellerWebhook } from '../../../services/selling/webhooks/seller-webhooks';
import { writeOutageMails } from '../../../services/dashboard/customer/alerts/outage-mails';
import { newKey } from '../../contracts/access-records';
import { startMailing } from '../support/mailing';
import { eventually } from '../../support/eventually';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';

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

describe('outages', () => {
  const timeZone = 'UTC';
  const LOOK_MS = 10_000;

  let database: TestDatabase;
  /** Two dashboards, with the rights that they have in production. */
  let dashboards: readonly Pool[];
  let key: Awaited<ReturnType<typeof newKey>>;
  let nowMs: number;

  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

  /** What was answered in the last seconds, as the gateways' counts are written. */
  async function answer({ succeeded = 0, failed = 0 }): Promise<void> {
    const rows = [
      {
        ...{ credentialId: key.id, product: 'api-ip', day: dayOf(nowMs), hour: new Date(nowMs).getUTCHours() },
        ...{ succeeded, rejected: 0, failed, abandoned: 0, took: [succeeded + failed] },
      },
    ];
    await database.pool.query('SELECT note_answers($1::json)', [JSON.stringify(rows)]);
  }

  /** Ten seconds later both dashboards look at once. */
  async function look(): Promise<OutageChange[]> {
    nowMs += LOOK_MS;
    return (await Promise.all(dashboards.map((each) => watchOutages(each, { timeZone, at: new Date(nowMs) })))).flat();
  }

  /** Answers in each ten seconds of a time. @returns what began and ended in it */
  async function pass(looks: number, each: { succeeded?: number; failed?: number }): Promise<OutageChange[]> {
    const changes: OutageChange[] = [];
    for (let place = 0; place < looks; place += 1) {
      await answer(each);
      changes.push(...(await look()));
    }
    return changes;
  }

  async function told(): Promise<{ event: string; data: Record<string, unknown> }[]> {
    return (await database.pool.query('SELECT event, data FROM webhook_delivery ORDER BY number')).rows;
  }

  const BEGAN = [{ product: 'api-ip', change: 'began' }];
  const ENDED = [{ product: 'api-ip', change: 'ended' }];

  describe('an outage', () => {
    beforeEach(async () => {
      database = await testDatabase();
      dashboards = [1, 2].map(() => createPool(database.urlAs('tollgate_dashboard'), { max: 2 }));
      key = await newKey(database.pool);
      nowMs = Date.now() - 3_600_000;
    });
    afterEach(async () => {
      await Promise.all(dashboards.map((each) => each.end()));
      await database.close();
    });

    it('of ten minutes with 500 failures is told once, and once that it is over, by two dashboards', async () => {
      await addSellerWebhook(database.pool, { url: 'http://127.0.0.1:9/', events: null, actor: 'test' });
      await database.pool.query('DELETE FROM webhook_delivery');
      expect(await pass(12, { succeeded: 8 })).toEqual([]);
      const failures = Array.from({ length: 60 }, (_, place) => (place % 3 === 0 ? 9 : 8));
      const changes: OutageChange[] = [];
      for (const failed of failures) changes.push(...(await pass(1, { failed })));
      expect(changes).toEqual(BEGAN);
      expect(await listOutages(dashboards[0] as Pool)).toMatchObject([{ product: 'api-ip', title: 'IP lookup', endedAt: null }]);
      expect(await pass(12, { succeeded: 8 })).toEqual(ENDED);
      expect(await pass(30, { succeeded: 8 })).toEqual([]);
      const sent = await told();
      expect(sent.map(({ event }) => event)).toEqual(['product.failing', 'product.recovered']);
      expect(sent[0]?.data).toMatchObject({ product: 'api-ip', ended_at: null });
      expect(sent[1]?.data).toMatchObject({ product: 'api-ip', failed: failures.reduce((sum, each) => sum + each, 0) });
      const [day] = await readAvailability(database.pool, { fromDay: dayOf(nowMs), toDay: dayOf(nowMs) });
      expect(day?.failed).toBeGreaterThan(0);
    });

    it('is shown to the customers whose requests failed, and to no others', async () => {
      const other = await newKey(database.pool);
      await pass(2, { succeeded: 1 });
      await pass(2, { failed: 30 });
      const of = async (customerId: string) =>
        (await listOutagesOf(dashboards[0] as Pool, { customerId, timeZone })).map((each) => each.product);
      expect(await of(key.customerId)).toEqual(['api-ip']);
      expect(await of(other.customerId)).toEqual([]);
    });

    it('goes on while too few calls are made to tell, and is over after a quarter of an hour without a failure', async () => {
      await pass(1, { succeeded: 1 });
      expect(await pass(2, { failed: 30 })).toEqual(BEGAN);
      const quiet: OutageChange[][] = [];
      for (let minute = 0; minute < 14; minute += 1) {
        nowMs += 50_000;
        quiet.push(await look());
      }
      expect(quiet.flat()).toEqual([]);
      nowMs += 120_000;
      expect(await look()).toEqual(ENDED);
    });

    it('begins only where the catalogue’s share and number are reached', async () => {
      const applied = await readAppliedCatalogue(database.pool);
      const products = applied.products.map((each) => (each.id === 'api-ip' ? { ...each, alert: { failures: 50, atLeast: 5 } } : each));
      await applyCatalogue(database.pool, createCatalogue(products), { actor: 'test' });
      await pass(1, { succeeded: 1 });
      expect(await pass(1, { succeeded: 6, failed: 5 })).toEqual([]);
      expect(await pass(1, { failed: 4 })).toEqual(BEGAN);
    });

    it('is not seen in what was counted before the minute, as after a start', async () => {
      await answer({ failed: 500 });
      expect(await look()).toEqual([]);
      nowMs += 600_000;
      await answer({ failed: 500 });
      expect(await look()).toEqual([]);
    });

    it('is seen over midnight', async () => {
      nowMs = Date.parse(`${dayOf(nowMs)}T00:00:00Z`) - 25_000;
      await pass(2, { failed: 8 });
      expect(await pass(2, { failed: 8 })).toEqual(BEGAN);
    });

    it('is mailed to every operator once, with its end', async () => {
      await createOperator(database.pool, { email: 'ops@example.com', actor: 'test' });
      await createOperator(database.pool, { email: 'night@example.com', actor: 'test' });
      const mails: string[] = [];
      const both = (words: string) => ['night', 'ops'].map((each) => `${each}@example.com: IP lookup ${words}`);
      const send = ({ to, subject }: { to: string; subject: string }) => void mails.push(`${to}: ${subject}`);
      // Over a minute ago: seen within it, the failures would begin another outage as soon as this one has ended.
      nowMs = Date.now() - 120_000;
      await pass(2, { succeeded: 1 });
      await pass(2, { failed: 30 });
      const work = dashboards.map((db) => startMailing(db, { send, write: { outage: writeOutageMails }, everyMs: 50 }));
      try {
        await eventually(() => mails.length >= 2);
        expect(mails).toEqual(both('is failing'));
        expect(await pass(12, { succeeded: 8 })).toEqual(ENDED);
        await eventually(() => mails.length >= 4);
      } finally {
        await Promise.all(work.map((each) => each.close()));
      }
      expect(mails).toEqual([...both('is failing'), ...both('has recovered')]);
    });
  });

  describe('a minute', () => {
    const rule = { failures: 20, atLeast: 20 };
    it.each([
      [{ answered: 100, failed: 20 }, 'failing'],
      [{ answered: 101, failed: 20 }, 'well'],
      [{ answered: 19, failed: 19 }, 'unclear'],
      [{ answered: 0, failed: 0 }, 'unclear'],
      [{ answered: 1, failed: 0 }, 'well'],
    ] as const)('of %j is %s', (minute, verdict) => {
      expect(judgeMinute(minute, rule)).toBe(verdict);
    });
  });
});
