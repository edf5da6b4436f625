import { grankService } from '../../../services/products/grank/routes';
import { historyOutput } from '../../../services/products/grank/place-history';
import { gridOutput } from '../../../services/products/grank/schema';
import { HASTY, serviceWith, startTestWorker } from '../../workers/ranking/setup';
import { type Harness } from '../../kit/harness';
import { startTestSandbox } from '../../support/sandbox';
import { openedForTests } from '../../support/opened';

const POINT = { latitude: 12.9716, longitude: 77.5946 };

const opened = openedForTests();
const sandbox = opened.use(startTestSandbox);
let grank: Harness;
beforeAll(async () => void (grank = await grankWith({ SANDBOX_URL: sandbox.url })));

async function grankWith(env: Record<string, string>): Promise<Harness> {
  const worker = await opened.keep(startTestWorker(env), (each) => each.close(100));
  return opened.keep(serviceWith(grankService, worker.address));
}

const poster = (of: Harness) => (route: string, payload: object) =>
  of.call({ method: 'POST', url: `/grank/${route}`, payload, context: { mode: 'test', ...(route === 'grid' && { units: 49 }) } });
const post = (route: string, payload: object) => poster(grank)(route, payload);

describe('/grank/search', () => {
  it('answers ranked businesses with distance and the radius marked', async () => {
    const body = (await post('search', { ...POINT, keyword: 'dentist' })).json();
    expect(Object.keys(body)).toEqual(['ok', 'query', 'count', 'results', 'truncated', 'source', 'source_note', 'fetched_at']);
    expect(body).toMatchObject({
      ok: true,
      query: { keyword: 'dentist', ...POINT, radius_km: 5, max_results: 20 },
      count: 20,
      truncated: true,
      source: 'sandbox_google_places',
      source_note: expect.stringContaining('local pack'),
      fetched_at: '2026-03-14T09:26:53Z',
    });
    expect(body.results[0]).toEqual({
      position: 1,
      place_id: 'ChIJsandbox0001',
      name: 'Lotus Clinic',
      address: '1, Sandbox Road, Sample Nagar, Bengaluru, Karnataka 560001, India',
      latitude: expect.any(Number),
      longitude: 77.5946,
      distance_km: 0.4,
      rating: 3.7,
      reviews: 13,
      phone: '080 5550 1001',
      website: 'https://www.business-01.example.com/',
      types: ['dentist', 'point_of_interest', 'establishment'],
      business_status: 'OPERATIONAL',
      in_radius: true,
    });
    expect(body.results[8]).toMatchObject({ position: 9, distance_km: 8, in_radius: false });
    expect(body.results[10]).toMatchObject({ rating: null, reviews: null });
  });

  it('says which result is the business that was asked for', async () => {
    const match = async (more: object) => (await post('search', { ...POINT, keyword: 'dentist', ...more })).json().match;
    expect(await match({ place_id: 'ChIJsandbox0007' })).toEqual({
      place_id: 'ChIJsandbox0007', name: 'Peña Señorita', method: 'place_id', score: 1, position: 7,
    }); // prettier-ignore
    expect(await match({ business_name: 'lotus clinic pvt ltd' })).toMatchObject({ method: 'name_exact', position: 1 });
    expect(await match({ business_name: 'Nobody' })).toBeNull();
    expect(await match({ place_id: '', business_name: '' })).toBeUndefined();
  });
});

describe('/grank/position', () => {
  it('tells the rank, the match and who stands above', async () => {
    const body = (await post('position', { ...POINT, keyword: 'dentist', business_name: 'ORCHID DENTAL CARE' })).json();
    expect(Object.keys(body)).toEqual([
      'ok', 'query', 'found', 'position', 'position_in_radius', 'match', 'candidates', 'checked', 'competitors_above', 'truncated',
      'source', 'source_note', 'fetched_at',
    ]); // prettier-ignore
    expect(body).toMatchObject({
      ok: true,
      found: true,
      position: 3,
      position_in_radius: 3,
      match: { place_id: 'ChIJsandbox0003', name: 'Orchid Dental Care Pvt. Ltd.', method: 'name_exact', score: 1 },
      candidates: [],
      checked: 20,
    });
    expect(body.competitors_above.map(({ name }: any) => name)).toEqual(['Lotus Clinic', 'Orchid Clinic']);
  });
});

describe('/grank/grid', () => {
  const landmark = { ...POINT, keyword: 'sandbox-grid', business_name: 'Sandbox Landmark', radius_km: 3 };

  it('tells the rank at each of 49 points, the further out the worse, and what they come to', async () => {
    const response = await post('grid', landmark);
    const body = response.json();
    expect(gridOutput.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      ok: true,
      query: { keyword: 'sandbox-grid', business_name: 'Sandbox Landmark', ...POINT, radius_km: 3, size: 7, max_results: 20 },
      spacing_km: 1,
      summary: { points: 49, answered: 49, failed: 0, found: 49, ambiguous: 0 },
      matches: [{ place_id: 'ChIJsandbox0100', name: 'Sandbox Landmark', points: 49 }],
      source: 'sandbox_google_places',
      fetched_at: '2026-03-14T09:26:53Z',
    });
    // Three ranks a kilometre, as the sandbox has it.
    const ranks: number[] = body.points.map(({ rank }: any) => rank);
    expect(ranks).toEqual(body.points.map(({ distance_km }: any) => 1 + Math.round(distance_km * 3)));
    expect([ranks[24], ranks[0], ranks[48]]).toEqual([1, 14, 14]);
    expect(response.headers['x-tollgate-charged']).toBe('49');
  });

  it('finds a place by its id, and looks no further than it is asked to', async () => {
    const { business_name: _, ...unnamed } = landmark;
    const by = { ...unnamed, place_id: 'ChIJsandbox0100', size: 3 };
    expect((await post('grid', by)).json().points.map(({ rank }: any) => rank)).toEqual([14, 10, 14, 10, 1, 10, 14, 10, 14]);
    const near = (await post('grid', { ...by, max_results: 12 })).json();
    expect(near.points.map(({ rank }: any) => rank)).toEqual([null, 10, null, 10, 1, 10, null, 10, null]);
    expect(near.summary).toMatchObject({ answered: 9, found: 5, average_rank: 8.2, top_3_share: 0.111 });
  });

  it('makes answers of which the history can be asked, whole as they came', async () => {
    const first = (await post('grid', { ...landmark, size: 3 })).json();
    const second = { ...(await post('grid', { ...landmark, size: 3 })).json(), fetched_at: '2026-04-14T09:26:53Z' };
    const response = await post('history', { answers: [second, first] });
    const body = response.json();
    expect(historyOutput.strict().parse(body)).toEqual(body);
    expect(body.entries.map(({ fetched_at: at }: any) => at)).toEqual(['2026-03-14T09:26:53Z', '2026-04-14T09:26:53Z']);
    expect(body.change).toMatchObject({ average_rank: 0, top_3_share: 0, same_source: true, points: { same: 9 } });
    expect(body.points[4]).toMatchObject({ row: 1, column: 1, ranks: [1, 1], answered: [true, true] });
    const alone = await post('history', { answers: [first] });
    expect(alone.json()).toMatchObject({ status: 422, errors: [{ field: 'answers', message: 'must have at least two responses' }] });
  });

  it.each([
    [{ size: 4 }, 'size', 'must be one of 3, 5, 7'],
    [{ place_id: 'p' }, 'place_id', 'must not be given together with business_name'],
    [{ radius_km: 51 }, 'radius_km', 'must be at most 50'],
  ])('with %j is refused: %s %s', async (more, field, message) => {
    const response = await post('grid', { ...landmark, ...more });
    expect([response.statusCode, response.json().errors]).toEqual([422, [{ field, message }]]);
  });

  it('is not answered at a gateway that took the price of one position', async () => {
    for (const units of [undefined, 1, 48]) {
      const refused = await grank.call({ method: 'POST', url: '/grank/grid', payload: landmark, context: { mode: 'test', units } });
      expect([refused.statusCode, refused.json().code]).toEqual([503, 'upstream_not_configured']);
    }
    const uncounted = { mode: 'test' as const, units: undefined, chargedDay: null, quota: null };
    expect((await grank.call({ method: 'POST', url: '/grank/grid', payload: landmark, context: uncounted })).statusCode).toBe(200);
  });
});

describe('test keys over the ranking WebSocket', () => {
  let overSocket: Harness;
  let hasty: Harness;
  beforeAll(async () => {
    const env = { SANDBOX_URL: sandbox.url, RANKING_TEST_SOURCE: 'ranking_websocket' };
    overSocket = await grankWith(env);
    hasty = await grankWith({ ...env, ...HASTY });
  });

  it('get a grid of positions', async () => {
    const input = { ...POINT, keyword: 'sandbox-grid', radius_km: 3, size: 3 };
    for (const business of [{ business_name: 'sandbox landmark' }, { place_id: 'ChIJsandbox0100' }]) {
      const body = (await poster(overSocket)('grid', { ...input, ...business })).json();
      expect(body).toMatchObject({ source: 'sandbox_ranking_websocket', summary: { answered: 9, found: 9, average_rank: 10.78 } });
      expect(body.points.map(({ rank }: any) => rank)).toEqual([14, 10, 14, 10, 1, 10, 14, 10, 14]);
    }
    const partly = (
      await poster(overSocket)('grid', { ...input, keyword: 'sandbox-grid-partial', business_name: 'Sandbox Landmark' })
    ).json();
    expect(partly.summary).toMatchObject({ answered: 5, failed: 4, found: 5 });
  });

  it.each([
    ['sandbox-upstream-error', 502, 'upstream_error'],
    ['sandbox-closed', 502, 'unreachable'],
    ['sandbox-bad-response', 502, 'bad_response'],
    ['sandbox-timeout', 504, undefined],
  ])('%s is %i', async (keyword, status, reason) => {
    for (const route of ['search', 'position', 'grid']) {
      const response = await poster(status === 504 ? hasty : overSocket)(route, { ...POINT, keyword, business_name: 'x' });
      expect([response.statusCode, response.json().reason]).toEqual([status, reason]);
    }
  });
});

describe('input of grank', () => {
  const valid = { ...POINT, keyword: 'dentist', business_name: 'Lotus Clinic' };

  it('treats an empty optional field as absent', async () => {
    const payload = 'keyword=a&latitude=1&longitude=2&place_id=&business_name=&country_code=&language_code=&radius_km=&max_results=';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await grank.call({ method: 'POST', url: '/grank/search', payload, headers, context: { mode: 'test' } });
    expect(response.statusCode).toBe(200);
    expect(response.json().query).toEqual({ keyword: 'a', latitude: 1, longitude: 2, radius_km: 5, max_results: 20 });
  });

  it.each([
    ['keyword is blank', { keyword: '  ' }, 'keyword', 'must not be empty'],
    ['keyword holds a control character', { keyword: 'a\u0000b' }, 'keyword', 'must not contain control characters'],
    ['latitude is out of range', { latitude: 90.1 }, 'latitude', 'must be at most 90'],
    ['longitude is null', { longitude: null }, 'longitude', 'must be a number'],
    ['max_results is a fraction', { max_results: 1.5 }, 'max_results', 'must be a whole number'],
    ['country_code has three letters', { country_code: 'IND' }, 'country_code', 'must be a two-letter country code'],
    ['language_code is no code', { language_code: 'english please' }, 'language_code', 'must be a language code such as en or en-IN'],
  ])('is refused with 422 when %s', async (_what, change, field, message) => {
    for (const route of ['search', 'position']) {
      const response = await post(route, { ...valid, ...change });
      expect([route, response.statusCode]).toEqual([route, 422]);
      expect(response.json()).toMatchObject({ code: 'validation_failed', errors: [{ field, message }] });
    }
  });

  it('lists everything that is wrong at once', async () => {
    const { errors } = (await post('position', {})).json();
    expect(errors.map(({ field }: any) => field)).toEqual(['keyword', 'latitude', 'longitude', 'business_name']);
  });
});
