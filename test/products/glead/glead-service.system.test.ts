import { gleadService } from '../../../services/products/glead/routes';
import { leadSearchOutput } from '../../../services/products/glead/schema';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { serviceWith, startTestWorker } from '../../workers/ranking/setup';
import { type Harness } from '../../kit/harness';
import { distanceKm } from '../../../services/workers/ranking/distance';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { listenWeb, type Web } from '../../kit/listen-web';
import { startTestSandbox } from '../../support/sandbox';
import { openedForTests } from '../../support/opened';

describe('leads', () => {
  const POINT = { latitude: 12.9716, longitude: 77.5946 };

  const opened = openedForTests();
  const sandbox = opened.use(startTestSandbox);
  const workerWith = (env: Record<string, string>) =>
    opened.use(
      () => startTestWorker({ SANDBOX_URL: sandbox.url, ...env }),
      (each) => each.close(100),
    );
  const [google, socket] = [workerWith({}), workerWith({ RANKING_TEST_SOURCE: 'ranking_websocket' })];
  const glead = opened.use(() => serviceWith(gleadService, google.address));
  const overSocket = opened.use(() => serviceWith(gleadService, socket.address));

  const post = (payload: object, harness = glead) =>
    harness.call({ method: 'POST', url: '/glead/search', payload, context: { mode: 'test' } });
  const leadsOf = async (payload: object, harness = glead) => (await post(payload, harness)).json().data;
  const ranks = (data: any): number[] => data.leads.map((lead: any) => Number(lead.place_id.slice(-4)));

  describe('an area that is split into tiles', () => {
    const area = { query: 'dentist', ...POINT, radius_km: 5, grid: 2, limit: 60 };

    async function follow(payload: object, harness = glead): Promise<any[]> {
      const pages = [await leadsOf(payload, harness)];
      while (pages.at(-1).next_page_token !== null && pages.length < 50) {
        pages.push(await leadsOf({ ...payload, page_token: pages.at(-1).next_page_token }, harness));
      }
      return pages;
    }

    it('has more than 60 leads, each once and within the radius', async () => {
      const pages = await follow(area);
      const leads = pages.flatMap(({ leads: each }) => each);
      expect(leads.length).toBeGreaterThan(60);
      expect(new Set(leads.map(({ place_id }) => place_id)).size).toBe(leads.length);
      for (const lead of leads) expect(distanceKm(POINT, lead)).toBeLessThanOrEqual(5);
      expect(pages[0].tiles).toEqual({ count: 4, searched: expect.any(Number) });
      expect(pages.at(-1).tiles).toEqual({ count: 4, searched: 4 });
    });

    it('counts a place once for the tile that it lies in, where the source searches wider', async () => {
      const pages = await follow(area, overSocket);
      const places = pages.flatMap(({ leads }) => leads.map(({ latitude, longitude }: any) => `${latitude} ${longitude}`));
      expect(places.length).toBeGreaterThan(60);
      expect(new Set(places).size).toBe(places.length);
    });

    it('goes on with its own token only', async () => {
      const { next_page_token: token } = await leadsOf({ ...area, limit: 7 });
      for (const grid of [3, undefined]) expect((await post({ ...area, grid, page_token: token })).statusCode).toBe(422);
      expect((await leadsOf({ query: 'dentist' })).tiles).toBeNull();
    });
  });

  describe('POST /glead/search', () => {
    it('answers leads with their contacts', async () => {
      const body = (await post({ query: 'dentist', location: 'Bengaluru', limit: 2 })).json();
      expect(leadSearchOutput.parse(body)).toEqual(body);
      expect(body).toMatchObject({ status: 'success', data: { count: 2, source: 'sandbox_google_places' } });
      expect(body.data.leads[0]).toMatchObject({
        name: 'Lotus Clinic',
        phone: '080 5550 1001',
        international_phone: '+91 80 5550 1001',
        website: 'https://www.business-01.example.com/',
        domain: 'example.com',
        address: { street: '1 Sandbox Road', locality: 'Bengaluru', region: 'Karnataka', postal_code: '560001', country_code: 'IN' },
        socials: [],
        emails: null,
        emails_reason: 'not_configured',
      });
    });

    it.each([7, 21])('pages of %i bring every business once, in order', async (limit) => {
      const seen: number[] = [];
      let page_token: string | null | undefined;
      do {
        const data = await leadsOf({ keyword: 'dentist', limit, ...(page_token && { page_token }) });
        expect(data.count).toBeLessThanOrEqual(limit);
        seen.push(...ranks(data));
        page_token = data.next_page_token;
      } while (page_token);
      expect(seen).toEqual(Array.from({ length: 45 }, (_, index) => index + 1));
    });

    it.each([
      [{ has_website: false }, (lead: any) => lead.website === null, 11],
      [{ has_website: true, has_phone: false }, (lead: any) => lead.website !== null && lead.phone === null, 7],
      [{ min_rating: 4.5 }, (lead: any) => lead.rating >= 4.5, 10],
      [{ operational: false }, (lead: any) => lead.business_status === 'CLOSED_TEMPORARILY', 2],
      [{}, () => true, 45],
    ])('keeps to the filters %j', async (filters, holds, count) => {
      const data = await leadsOf({ query: 'dentist', limit: 60, filters });
      expect([data.count, data.next_page_token]).toEqual([count, null]);
      expect(data.leads.every(holds)).toBe(true);
    });

    it('leaves out what lies outside a radius that was named, and only then', async () => {
      const near = await leadsOf({ query: 'dentist', ...POINT, radius_km: 5, limit: 60 });
      expect(ranks(near)).not.toContain(9);
      expect(near.count).toBe(40);
      expect((await leadsOf({ query: 'dentist', ...POINT, limit: 60 })).count).toBe(45);
    });

    it('takes a page token only for the search it came from', async () => {
      const { next_page_token: page_token } = await leadsOf({ query: 'dentist' });
      expect((await post({ query: 'dentist', page_token, limit: 5, filters: { has_phone: true } })).statusCode).toBe(200);
      const [search] = JSON.parse(Buffer.from(page_token, 'base64url').toString());
      const forged = Buffer.from(JSON.stringify([search, 0, 'x'])).toString('base64url');
      for (const change of [{ query: 'plumber' }, { country_code: 'IN' }, { ...POINT }, { page_token: 'x' }, { page_token: forged }]) {
        const response = await post({ query: 'dentist', page_token, ...change });
        expect(response.statusCode).toBe(422);
        expect(response.json()).toMatchObject({ code: 'validation_failed', errors: [{ field: 'page_token' }] });
      }
    });

    it('reads leads from the results of the ranking WebSocket when that is the source', async () => {
      const data = await leadsOf({ query: 'dentist', limit: 30 }, overSocket);
      expect(data).toMatchObject({ count: 30, source: 'sandbox_ranking_websocket' });
      expect(data.leads[0]).toMatchObject({ name: 'Lotus Clinic', phone: '080 5550 1001', category: 'dentist', maps_url: null });
      const rest = await leadsOf({ query: 'dentist', limit: 30, page_token: data.next_page_token }, overSocket);
      expect([...ranks(data), ...ranks(rest)]).toEqual(Array.from({ length: 45 }, (_, index) => index + 1));
      expect(rest.next_page_token).toBeNull();
      expect((await post({ query: 'sandbox-bad-response' }, overSocket)).json()).toMatchObject({ status: 502, reason: 'bad_response' });
    });
  });

  describe('input of glead', () => {
    it.each([
      ['there is neither query nor keyword', { query: undefined }, 'query'],
      ['there are both query and keyword', { keyword: 'dentist' }, 'keyword'],
      ['query is empty', { query: ' ' }, 'query'],
      ['longitude is missing', { latitude: 1 }, 'longitude'],
      ['grid has no radius', { ...POINT, grid: 2 }, 'grid'],
      ['grid is 6', { ...POINT, radius_km: 5, grid: 6 }, 'grid'],
      ['radius_km has no centre', { radius_km: 5 }, 'radius_km'],
      ['limit is 61', { limit: 61 }, 'limit'],
      ['page_token is too long', { page_token: 'x'.repeat(8_193) }, 'page_token'],
      ['min_rating is out of range', { filters: { min_rating: 6 } }, 'filters.min_rating'],
    ])('is refused with 422 when %s', async (_what, change, field) => {
      const response = await post({ query: 'dentist', ...change });
      expect(response.statusCode).toBe(422);
      expect(response.json()).toMatchObject({ code: 'validation_failed', errors: [{ field }] });
    });
  });
});

describe('their emails', () => {
  const PUBLIC = '93.184.216.34';

  /** Google Places, whose answer each test gives, and the web, which a dialled public address leads to. */
  let google: Web;
  let web: Web;
  let websites: (string | undefined)[];
  let visit: (request: IncomingMessage, response: ServerResponse) => unknown;
  let resolved: string[];
  let addresses: Record<string, string[]>;
  let sandbox: Sandbox;
  let workers: WorkerServer[];
  let glead: Harness;
  let without: Harness;

  const resolve = (host: string): Promise<string[]> => {
    resolved.push(host);
    return Promise.resolve(addresses[host] ?? [PUBLIC]);
  };

  beforeAll(async () => {
    google = await listenWeb((_request, response) => {
      const places = websites.map((websiteUri, index) => ({ id: `place-${index}`, displayName: { text: 'A shop' }, websiteUri }));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ places }));
    });
    web = await listenWeb((request, response) => visit(request, response));
    sandbox = await startTestSandbox();
    const env = { SANDBOX_URL: sandbox.url, RANKING_GOOGLE_PLACES_URL: google.url, RANKING_GOOGLE_PLACES_KEY: 'k' };
    const crawling = { ...env, RANKING_EMAIL_CRAWL: 'on', RANKING_EMAIL_CRAWL_MS: '20000' };
    workers = await Promise.all([crawling, env].map((each) => startTestWorker(each, { dial: web.dial, resolve })));
    [glead, without] = (await Promise.all(workers.map(({ address }) => serviceWith(gleadService, address)))) as [Harness, Harness];
  });
  afterAll(async () => {
    await Promise.all([glead, without].map(({ app }) => app.close()));
    await Promise.all(workers.map((worker) => worker.close(100)));
    await Promise.all([google, web, sandbox].map((each) => each.close()));
  });
  beforeEach(() => {
    web.dialled.length = 0;
    resolved = [];
    addresses = {};
    visit = (request, response): unknown => {
      if (request.url === '/robots.txt') return response.writeHead(404, { connection: 'close' }).end();
      return response
        .writeHead(200, { connection: 'close', 'content-type': 'text/html' })
        .end(`<a href="mailto:info@${request.headers.host}">mail</a>`);
    };
  });

  /** Of each lead its addresses, or why there are none. */
  async function emailsOf(harness: Harness, mode: 'live' | 'test', input: object = {}): Promise<(string[] | string | null)[]> {
    const payload = { query: 'dentist', ...input };
    const response = await harness.call({ method: 'POST', url: '/glead/search', payload, context: { mode } });
    const { leads } = response.json<{ data: { leads: { emails: string[] | null; emails_reason: string | null }[] } }>().data;
    return leads.map(({ emails, emails_reason }) => emails ?? emails_reason);
  }

  describe('with the crawl switched on', () => {
    it('a test key sees the emails of the documented input, and touches no network', async () => {
      expect(await emailsOf(glead, 'test', { limit: 3 })).toEqual([
        ['hello@business-01.example.com', 'billing@business-01.example.com'],
        ['desk@business-02.example.com'],
        ['orchid.dental@gmail.com'],
      ]);
      const others = (await emailsOf(glead, 'test', { limit: 60 })).slice(3);
      expect([others.length, others.filter((each) => Array.isArray(each) && each.length > 0)]).toEqual([42, []]);
      expect([web.dialled, resolved]).toEqual([[], []]);
    });

    it('a live key sees the emails that websites show; a lead without a website has none', async () => {
      websites = ['http://www.one.com/', undefined, 'http://two.co.in/shop'];
      expect(await emailsOf(glead, 'live')).toEqual([['info@www.one.com'], 'no_website', ['info@two.co.in']]);
      expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
    });

    it.each(['http://2130706433/', 'file:///etc/passwd'])('the website %s is neither looked up nor dialled', async (website) => {
      websites = [website];
      expect(await emailsOf(glead, 'live')).toEqual([expect.any(String)]);
      expect([web.dialled, resolved]).toEqual([[], []]);
    });

    it('a name that leads inside is never dialled, nor is a redirect or a contact page that leads there', async () => {
      addresses = { 'inside.com': ['10.0.0.5'], 'mixed.com': [PUBLIC, '127.0.0.1'], 'intra.out.com': ['192.168.0.9'] };
      visit = (request, response): unknown => {
        const { host = '' } = request.headers;
        if (request.url === '/robots.txt') return response.writeHead(404, { connection: 'close' }).end();
        if (host === 'moved.com') return response.writeHead(302, { connection: 'close', location: 'http://127.0.0.1/' }).end();
        const links = '<a href="http://intra.out.com/contact">Contact</a><a href="http://127.0.0.1/contact">Contact</a>';
        return response.writeHead(200, { connection: 'close', 'content-type': 'text/html' }).end(links);
      };
      websites = ['http://inside.com/', 'http://mixed.com/', 'http://moved.com/', 'http://out.com/'];
      expect(await emailsOf(glead, 'live')).toEqual([expect.any(String), expect.any(String), expect.any(String), expect.any(String)]);
      expect(new Set(web.dialled)).toEqual(new Set([PUBLIC]));
      expect(resolved).toContain('intra.out.com');
    });
  });

  it('without the setting nobody’s website is read', async () => {
    websites = ['http://www.one.com/'];
    expect(await emailsOf(without, 'live')).toEqual(['not_configured']);
    expect(await emailsOf(without, 'test', { limit: 3 })).toEqual(['not_configured', 'not_configured', 'not_configured']);
    expect([web.dialled, resolved]).toEqual([[], []]);
  });
});
