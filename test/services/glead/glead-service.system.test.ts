import { gleadService } from '../../../services/glead/routes';
import { leadSearchOutput } from '../../../services/glead/schema';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { placesExamples } from '../../../services/sandbox/ranking/places-examples';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { HASTY, serviceWith, startTestSandbox, startTestWorker } from '../../workers/ranking/setup';
import { type Harness } from '../kit/harness';
import { distanceKm } from '../../../services/workers/ranking/distance';
import { anyCharacter } from '../../support/any-text';
import { fc } from '../../support/fast-check';

const POINT = { latitude: 12.9716, longitude: 77.5946 };

let sandbox: Sandbox;
let google: WorkerServer;
let socket: WorkerServer;
let glead: Harness;
let overSocket: Harness;
let hasty: Harness;
let hastyWorker: WorkerServer;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  google = await startTestWorker({ SANDBOX_URL: sandbox.url });
  socket = await startTestWorker({ SANDBOX_URL: sandbox.url, RANKING_TEST_SOURCE: 'ranking_websocket' });
  glead = await serviceWith(gleadService, google.address);
  overSocket = await serviceWith(gleadService, socket.address);
  hastyWorker = await startTestWorker({ SANDBOX_URL: sandbox.url, ...HASTY });
  hasty = await serviceWith(gleadService, hastyWorker.address);
});
afterAll(async () => {
  await Promise.all([glead, overSocket, hasty].map(({ app }) => app.close()));
  await Promise.all([google, socket, hastyWorker].map((worker) => worker.close(100)));
  await sandbox.close();
});

const post = (payload: object, harness = glead, mode: 'live' | 'test' = 'test') =>
  harness.call({ method: 'POST', url: '/glead/search', payload, context: { mode } });
const leadsOf = async (payload: object, harness = glead) => (await post(payload, harness)).json().data;
const ranks = (data: any): number[] => data.leads.map((lead: any) => Number(lead.place_id.slice(-4)));

describe('the documented inputs of glead', () => {
  test.each(placesExamples.filter(({ product }) => product === 'api-glead'))('$route: $outcome yields $yields', async (example) => {
    const { method, route: url, input } = example;
    const service = example.outcome === 'timeout' ? hasty : glead;
    const response = await service.call({ method, url, ...(method === 'POST' && { payload: input }), context: { mode: 'test' } });
    expect(response.statusCode).toBe(Number(example.yields.slice(0, 3)));
    const [, reason] = /reason (\w+)/.exec(example.yields) ?? [];
    if (reason !== undefined) expect(response.json()).toMatchObject({ code: 'upstream_failed', reason });
    expect(response.body).not.toContain('127.0.0.1');
  });
});

describe('an area that is split into tiles', () => {
  const area = { query: 'dentist', ...POINT, radius_km: 5, grid: 2, limit: 60 };

  async function follow(payload: object, harness = glead): Promise<any[]> {
    const pages = [await leadsOf(payload, harness)];
    while (pages.at(-1).next_page_token !== null && pages.length < 50) {
      pages.push(await leadsOf({ ...payload, page_token: pages.at(-1).next_page_token }, harness));
    }
    return pages;
  }

  test('has more than 60 leads, each once and within the radius', async () => {
    const pages = await follow(area);
    const leads = pages.flatMap(({ leads: each }) => each);
    expect(leads.length).toBeGreaterThan(60);
    expect(new Set(leads.map(({ place_id }) => place_id)).size).toBe(leads.length);
    for (const lead of leads) expect(distanceKm(POINT, lead)).toBeLessThanOrEqual(5);
    expect(pages[0].tiles).toEqual({ count: 4, searched: expect.any(Number) });
    expect(pages.at(-1).tiles).toEqual({ count: 4, searched: 4 });
  });

  test('has the same leads however many are wanted at a time', async () => {
    const ids = (pages: any[]) => pages.flatMap(({ leads }) => leads.map(({ place_id }: any) => place_id));
    expect(ids(await follow({ ...area, limit: 7 }))).toEqual(ids(await follow(area)));
  });

  test('counts a place once for the tile that it lies in, where the source searches wider', async () => {
    const pages = await follow(area, overSocket);
    const places = pages.flatMap(({ leads }) => leads.map(({ latitude, longitude }: any) => `${latitude} ${longitude}`));
    expect(places.length).toBeGreaterThan(60);
    expect(new Set(places).size).toBe(places.length);
  });

  test('goes on with its own token only, and needs a centre and a radius', async () => {
    const { next_page_token: token } = await leadsOf({ ...area, limit: 7 });
    for (const other of [
      { ...area, grid: 3 },
      { ...area, grid: undefined },
    ])
      expect((await post({ ...other, page_token: token })).statusCode).toBe(422);
    for (const bad of [
      { ...area, radius_km: undefined },
      { ...area, grid: 6 },
      { ...area, grid: 1 },
    ]) {
      const refused = await post(bad);
      expect([refused.statusCode, refused.json().errors[0].field]).toEqual([422, 'grid']);
    }
    expect((await leadsOf({ query: 'dentist' })).tiles).toBeNull();
  });
});

describe('POST /glead/search', () => {
  test('answers leads with their contacts', async () => {
    const response = await post({ query: 'dentist', location: 'Bengaluru', limit: 2 });
    expect(response.headers['x-tollgate-mode']).toBe('test');
    const body = response.json();
    expect(leadSearchOutput.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      status: 'success',
      timestamp: '2026-03-14 09:26:53',
      data: { count: 2, source: 'sandbox_google_places' },
    });
    expect(body.data.leads[0]).toEqual({
      place_id: 'ChIJsandbox0001',
      name: 'Lotus Clinic',
      category: 'dentist',
      types: ['dentist', 'point_of_interest', 'establishment'],
      phone: '080 5550 1001',
      international_phone: '+91 80 5550 1001',
      website: 'https://www.business-01.example.com/',
      domain: 'example.com',
      address: {
        formatted: '1, Sandbox Road, Sample Nagar, Bengaluru, Karnataka 560001, India',
        street: '1 Sandbox Road',
        locality: 'Bengaluru',
        region: 'Karnataka',
        postal_code: '560001',
        country: 'India',
        country_code: 'IN',
      },
      latitude: expect.any(Number),
      longitude: 77.5946,
      rating: 3.7,
      reviews: 13,
      business_status: 'OPERATIONAL',
      hours: [
        ...['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'].map((day) => `${day}: 9:00 AM – 6:00 PM`),
        'Sunday: Closed',
      ],
      socials: [],
      maps_url: 'https://maps.google.com/?cid=1001',
      emails: null,
      emails_reason: 'not_configured',
    });
  });

  test.each([1, 7, 19, 20, 21, 30, 60])('pages of %i bring every business once, in order', async (limit) => {
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

  test.each([
    [{ has_website: false }, (lead: any) => lead.website === null, 11],
    [{ has_website: true, has_phone: false }, (lead: any) => lead.website !== null && lead.phone === null, 7],
    [{ min_rating: 4.5 }, (lead: any) => lead.rating >= 4.5, 10],
    [{ min_reviews: 400 }, (lead: any) => lead.reviews >= 400, 13],
    [{ operational: true }, (lead: any) => lead.business_status === 'OPERATIONAL', 43],
    [{ operational: false }, (lead: any) => lead.business_status === 'CLOSED_TEMPORARILY', 2],
    [{}, () => true, 45],
  ])('keeps to the filters %j', async (filters, holds, count) => {
    const data = await leadsOf({ query: 'dentist', limit: 60, filters });
    expect([data.count, data.next_page_token]).toEqual([count, null]);
    expect(data.leads.every(holds)).toBe(true);
  });

  test('filters page by page without losing a lead between pages', async () => {
    const filters = { has_website: false };
    const first = await leadsOf({ query: 'dentist', limit: 6, filters });
    const second = await leadsOf({ query: 'dentist', limit: 6, filters, page_token: first.next_page_token });
    expect([...ranks(first), ...ranks(second)]).toEqual([4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44]);
  });

  test('leaves out what lies outside a radius that was named, and only then', async () => {
    const near = await leadsOf({ query: 'dentist', ...POINT, radius_km: 5, limit: 60 });
    expect(ranks(near)).not.toContain(9);
    expect(near.count).toBe(40);
    expect((await leadsOf({ query: 'dentist', ...POINT, limit: 60 })).count).toBe(45);
  });

  test('takes a page token only for the search it came from', async () => {
    const { next_page_token: page_token } = await leadsOf({ query: 'dentist' });
    expect((await post({ query: 'dentist', page_token, limit: 5, filters: { has_phone: true } })).statusCode).toBe(200);
    const forged = Buffer.from(JSON.stringify([JSON.parse(Buffer.from(page_token, 'base64url').toString())[0], 0, 'x'])).toString(
      'base64url',
    );
    for (const change of [{ query: 'plumber' }, { country_code: 'IN' }, { ...POINT }, { page_token: 'x' }, { page_token: forged }]) {
      const response = await post({ query: 'dentist', page_token, ...change });
      expect(response.statusCode).toBe(422);
      expect(response.json()).toMatchObject({ code: 'validation_failed', errors: [{ field: 'page_token' }] });
    }
  });

  test('reads leads from the results of the ranking WebSocket when that is the source', async () => {
    const data = await leadsOf({ query: 'dentist', limit: 30 }, overSocket);
    expect(data).toMatchObject({ count: 30, source: 'sandbox_ranking_websocket' });
    expect(data.leads[0]).toMatchObject({ name: 'Lotus Clinic', phone: '080 5550 1001', category: 'dentist', maps_url: null });
    const rest = await leadsOf({ query: 'dentist', limit: 30, page_token: data.next_page_token }, overSocket);
    expect([...ranks(data), ...ranks(rest)]).toEqual(Array.from({ length: 45 }, (_, index) => index + 1));
    expect(rest.next_page_token).toBeNull();
    expect((await post({ query: 'sandbox-bad-response' }, overSocket)).json()).toMatchObject({ status: 502, reason: 'bad_response' });
  });

  test('answers 503 to live keys without a live source', async () => {
    for (const url of ['/glead/search', '/glead/health']) {
      const method = url === '/glead/search' ? 'POST' : 'GET';
      const response = await glead.call({
        method,
        url,
        ...(method === 'POST' && { payload: { query: 'dentist' } }),
        context: { mode: 'live' },
      });
      expect(response.statusCode).toBe(503);
      expect(response.json()).toMatchObject({ code: 'upstream_not_configured' });
    }
  });
});

describe('input of glead', () => {
  const broken: [string, object, string][] = [
    ['there is neither query nor keyword', { query: undefined }, 'query'],
    ['there are both query and keyword', { keyword: 'dentist' }, 'keyword'],
    ['query is empty', { query: ' ' }, 'query'],
    ['query is too long', { query: 'x'.repeat(201) }, 'query'],
    ['query is a list', { query: ['a'] }, 'query'],
    ['location is a list', { location: [5] }, 'location'],
    ['longitude is missing', { latitude: 1 }, 'longitude'],
    ['latitude is missing', { longitude: 1 }, 'latitude'],
    ['latitude is out of range', { latitude: 91, longitude: 1 }, 'latitude'],
    ['radius_km has no centre', { radius_km: 5 }, 'radius_km'],
    ['radius_km is too wide', { ...POINT, radius_km: 51 }, 'radius_km'],
    ['limit is 0', { limit: 0 }, 'limit'],
    ['limit is 61', { limit: 61 }, 'limit'],
    ['limit is text', { limit: 'five' }, 'limit'],
    ['country_code is a name', { country_code: 'India' }, 'country_code'],
    ['page_token is empty', { page_token: '' }, 'page_token'],
    ['page_token is too long', { page_token: 'x'.repeat(8_193) }, 'page_token'],
    ['filters is a list', { filters: [] }, 'filters'],
    ['min_rating is out of range', { filters: { min_rating: 6 } }, 'filters.min_rating'],
    ['min_reviews is negative', { filters: { min_reviews: -1 } }, 'filters.min_reviews'],
    ['has_website is text', { filters: { has_website: 'perhaps' } }, 'filters.has_website'],
  ];
  test.each(broken)('is refused with 422 when %s', async (_what, change, field) => {
    const response = await post({ query: 'dentist', ...change });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ code: 'validation_failed', errors: [{ field }] });
  });

  const json = { 'content-type': 'application/json' };
  test.each([
    ['broken JSON', '{"query"', json, 400],
    ['ten megabytes', JSON.stringify({ query: 'x'.repeat(10_000_000) }), json, 413],
    ['deep JSON', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, json, 400],
    ['another content type', 'x', { 'content-type': 'text/plain' }, 415],
  ])('answers %s with its own 4xx', async (_what, payload, headers, status) => {
    const response = await glead.call({ method: 'POST', url: '/glead/search', payload, headers, context: { mode: 'test' } });
    expect(response.statusCode).toBe(status);
  });

  test.each([
    ['GET', '/glead/search', 'POST, OPTIONS'],
    ['POST', '/glead', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/glead/health', 'GET, HEAD, OPTIONS'],
  ] as const)('%s %s is a 405', async (method, url, allow) => {
    const response = await glead.call({ method, url, context: { mode: 'test' } });
    expect([response.statusCode, response.headers['allow']]).toEqual([405, allow]);
  });

  test('of any kind is answered or refused, never a 500', async () => {
    const field = fc.constantFrom(
      'query', 'keyword', 'location', 'latitude', 'longitude', 'radius_km', 'limit', 'page_token', 'filters', 'country_code', 'language_code',
    ); // prettier-ignore
    const value = fc.oneof(
      fc.constantFrom('dentist', 'en', 'IN', 5, 12.5),
      fc.jsonValue({ maxDepth: 2 }),
      fc.string({ unit: anyCharacter }),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(field, value), fc.boolean(), async (input, withQuery) => {
        const response = await post({ ...input, ...(withQuery && { query: 'dentist' }) });
        expect([200, 422]).toContain(response.statusCode);
        if (response.statusCode === 200) expect(leadSearchOutput.safeParse(response.json()).success).toBe(true);
        else expect(response.json().errors.length).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });
});
