import { GRID_UNITS, grankService } from '../../../services/grank/routes';
import { historyOutput } from '../../../services/grank/history-schema';
import { gridOutput } from '../../../services/grank/schema';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { placesExamples } from '../../../services/sandbox/ranking/places-examples';
import { type SandboxExample } from '../../../services/sandbox/sandbox-upstream';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { HASTY, serviceWith, startTestSandbox, startTestWorker } from '../../workers/ranking/setup';
import { type Harness } from '../kit/harness';

const POINT = { latitude: 12.9716, longitude: 77.5946 };

let sandbox: Sandbox;
const workers: WorkerServer[] = [];
const harnesses: Harness[] = [];

async function grankWith(env: Record<string, string>): Promise<Harness> {
  const worker = await startTestWorker(env);
  workers.push(worker);
  const harness = await serviceWith(grankService, worker.address);
  harnesses.push(harness);
  return harness;
}

beforeAll(async () => (sandbox = await startTestSandbox()));
afterAll(async () => {
  await Promise.all(harnesses.map(({ app }) => app.close()));
  await Promise.all(workers.map((worker) => worker.close(100)));
  await sandbox.close();
});

function poster(grank: () => Harness) {
  return (route: string, payload: object, mode: 'live' | 'test' = 'test') =>
    grank().call({ method: 'POST', url: `/grank/${route}`, payload, context: { mode, ...(route === 'grid' && { units: GRID_UNITS }) } });
}

const STATUS = /^(\d{3})/;
const REASON = /reason (\w+)/;

function expectAsDocumented(example: SandboxExample, response: { statusCode: number; json(): any }): void {
  expect([example.outcome, response.statusCode]).toEqual([example.outcome, Number(STATUS.exec(example.yields)?.[1])]);
  const reason = REASON.exec(example.yields)?.[1];
  if (reason) expect(response.json()).toMatchObject({ reason });
}

describe('the documented inputs of grank', () => {
  let patient: Harness;
  let hasty: Harness;
  beforeAll(async () => {
    patient = await grankWith({ SANDBOX_URL: sandbox.url });
    hasty = await grankWith({ SANDBOX_URL: sandbox.url, ...HASTY });
  });

  test.each(placesExamples.filter(({ product }) => product === 'api-grank'))('$route: $outcome yields $yields', async (example) => {
    const { method, route: url, input } = example;
    const grank = example.outcome === 'timeout' ? hasty : patient;
    const context = { mode: 'test' as const, ...(url === '/grank/grid' && { units: GRID_UNITS }) };
    const response = await grank.call({ method, url, ...(method === 'POST' && { payload: input }), context });
    expectAsDocumented(example, response);
    expect(response.headers['x-tollgate-mode']).toBe('test');
    expect(response.body).not.toContain('127.0.0.1');
    if (response.statusCode !== 200) {
      expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(response.json()).toMatchObject({ request_id: 'request-1' });
    }
  });
});

describe('/grank/search', () => {
  let grank: Harness;
  beforeAll(async () => (grank = await grankWith({ SANDBOX_URL: sandbox.url })));
  const post = poster(() => grank);

  test('answers ranked businesses with distance and the radius marked', async () => {
    const body = (await post('search', { ...POINT, keyword: 'dentist' })).json();
    expect(Object.keys(body)).toEqual(['ok', 'query', 'count', 'results', 'truncated', 'source', 'fetched_at']);
    expect(body).toMatchObject({
      ok: true,
      query: { keyword: 'dentist', ...POINT, radius_km: 5, max_results: 20 },
      count: 20,
      truncated: true,
      source: 'sandbox_google_places',
      fetched_at: '2026-03-14T09:26:53Z',
    });
    expect(body.results.map(({ position }: any) => position)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
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

  test('of the sandbox do not contradict what was asked for', async () => {
    const there = { latitude: 40.7128, longitude: -74.006 };
    const { results } = (await post('search', { ...there, keyword: 'Tea Shop', max_results: 60 })).json();
    expect(results).toHaveLength(45);
    for (const { address, types, name, phone } of results) {
      expect(address).toMatch(/Sandbox Road, Sample Town$/);
      expect(types[0]).toBe('tea_shop');
      expect(name).not.toMatch(/Bakery|Books|Restaurant|Diner/);
      expect(phone ?? '').not.toMatch(/^080/);
    }
  });

  test('reads further pages only as far as they are needed', async () => {
    const all = (await post('search', { ...POINT, keyword: 'dentist', max_results: 60 })).json();
    expect([all.count, all.truncated]).toEqual([45, false]);
    const some = (await post('search', { ...POINT, keyword: 'dentist', max_results: 25 })).json();
    expect([some.count, some.truncated]).toEqual([25, true]);
    expect(some.results).toEqual(all.results.slice(0, 25));
  });

  test('says which result is the business that was asked for', async () => {
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
  let grank: Harness;
  beforeAll(async () => (grank = await grankWith({ SANDBOX_URL: sandbox.url })));
  const post = poster(() => grank);
  const find = async (business: string, more: object = {}) =>
    (await post('position', { ...POINT, keyword: 'dentist', business_name: business, ...more })).json();

  test('tells the rank, the match and who stands above', async () => {
    const body = await find('ORCHID DENTAL CARE');
    expect(Object.keys(body)).toEqual([
      'ok', 'query', 'found', 'position', 'position_in_radius', 'match', 'candidates', 'checked', 'competitors_above', 'truncated',
      'source', 'fetched_at',
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

  test('is the same for every radius and for every max_results from the match on', async () => {
    for (const radius_km of [0.1, 1, 5, 50]) expect((await find('Harbour Clinic', { radius_km })).position).toBe(15);
    for (const max_results of [15, 16, 20, 21, 60]) expect((await find('Harbour Clinic', { max_results })).position).toBe(15);
    expect(await find('Harbour Clinic', { max_results: 14 })).toMatchObject({ found: false, position: null, checked: 14, truncated: true });
  });

  test('counts within the radius apart, and gives a business outside no such rank', async () => {
    expect(await find('Tamarind Clinic')).toMatchObject({ position: 10, position_in_radius: 9 });
    expect(await find('Peacock Clinic')).toMatchObject({ found: true, position: 9, position_in_radius: null });
  });

  test('names both places of one name and takes the one that ranks first', async () => {
    const body = await find('Twin Lakes Care', { max_results: 60 });
    expect(body).toMatchObject({ found: true, position: 12, checked: 20 });
    expect(body.candidates.map(({ position, score }: any) => [position, score])).toEqual([[12, 1], [19, 1]]); // prettier-ignore
    const searched = (await post('search', { ...POINT, keyword: 'dentist', business_name: 'Twin Lakes Care', max_results: 60 })).json();
    expect(searched.match.position).toBe(12);
    expect(searched.candidates.map(({ position }: any) => position)).toEqual([12, 19]);
  });

  test('decides for none of two names that are alike', async () => {
    const body = await find('Shree Sai Krishna Family Services And Help', { max_results: 60 });
    expect(body).toMatchObject({ found: false, position: null, match: null, checked: 45, competitors_above: [] });
    expect(body.candidates.map(({ position, score }: any) => [position, score])).toEqual([[18, 0.857], [25, 0.857]]); // prettier-ignore
  });
});

describe('/grank/grid', () => {
  let grank: Harness;
  beforeAll(async () => (grank = await grankWith({ SANDBOX_URL: sandbox.url })));
  const post = poster(() => grank);
  const landmark = { ...POINT, keyword: 'sandbox-grid', business_name: 'Sandbox Landmark', radius_km: 3 };

  test('tells the rank at each of 49 points, the further out the worse, and what they come to', async () => {
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
    const average = ranks.reduce((sum, rank) => sum + rank, 0) / 49;
    expect(body.summary.average_rank).toBeCloseTo(average, 2);
    expect(body.summary.top_3_share).toBeCloseTo(1 / 49, 3);
    expect(response.headers['x-tollgate-charged']).toBe('49');
  });

  test('finds a place by its id, and looks no further than it is asked to', async () => {
    const { business_name: _, ...unnamed } = landmark;
    const by = { ...unnamed, place_id: 'ChIJsandbox0100', size: 3 };
    expect((await post('grid', by)).json().points.map(({ rank }: any) => rank)).toEqual([14, 10, 14, 10, 1, 10, 14, 10, 14]);
    const near = (await post('grid', { ...by, max_results: 12 })).json();
    expect(near.points.map(({ rank }: any) => rank)).toEqual([null, 10, null, 10, 1, 10, null, 10, null]);
    expect(near.summary).toMatchObject({ answered: 9, found: 5, average_rank: 8.2, top_3_share: 0.111 });
  });

  test('makes answers of which the history can be asked, whole as they came', async () => {
    const first = (await post('grid', { ...landmark, size: 3 })).json();
    const second = { ...(await post('grid', { ...landmark, size: 3 })).json(), fetched_at: '2026-04-14T09:26:53Z' };
    const response = await post('history', { answers: [second, first] });
    const body = response.json();
    expect(historyOutput.strict().parse(body)).toEqual(body);
    expect(body.entries.map(({ fetched_at: at }: any) => at)).toEqual(['2026-03-14T09:26:53Z', '2026-04-14T09:26:53Z']);
    expect(body.change).toMatchObject({ average_rank: 0, top_3_share: 0, same_source: true, points: { same: 9 } });
    expect(body.points[4]).toMatchObject({ row: 1, column: 1, ranks: [1, 1], answered: [true, true] });
    const alone = await post('history', { answers: [first] });
    expect(alone.json()).toMatchObject({ status: 422, errors: [{ field: 'answers', message: 'must hold two answers or more' }] });
  });

  test('says where the source failed, and is charged for the rest', async () => {
    const response = await post('grid', { ...landmark, keyword: 'sandbox-grid-partial', size: 3 });
    const body = response.json();
    expect(body.points.map(({ reason }: any) => reason)).toEqual([
      'upstream_error', null, 'upstream_error', null, null, null, 'upstream_error', null, 'upstream_error',
    ]); // prettier-ignore
    expect(body.summary).toMatchObject({ points: 9, answered: 5, failed: 4, found: 5, average_rank: 8.2, top_3_share: 0.2 });
    expect([response.statusCode, response.headers['x-tollgate-charged']]).toEqual([200, '49']);
  });

  test('is ambiguous where names are', async () => {
    const input = { ...POINT, keyword: 'dentist', business_name: 'Shree Sai Krishna Family Services And Help', max_results: 60, size: 3 };
    const { summary, points } = (await post('grid', input)).json();
    expect(summary).toMatchObject({ answered: 9, found: 0, ambiguous: 9, average_rank: null, top_3_share: 0 });
    expect(points[0]).toMatchObject({ status: 'ok', rank: null, ambiguous: true, checked: 45 });
  });

  test.each([
    [{ size: 4 }, 'size', 'must be one of 3, 5, 7'],
    [{ size: 9 }, 'size', 'must be one of 3, 5, 7'],
    [{ business_name: '' }, 'business_name', 'is required, or place_id'],
    [{ place_id: 'p' }, 'place_id', 'must not be given together with business_name'],
    [{ latitude: 85.1 }, 'latitude', 'must be at most 85'],
    [{ radius_km: 51 }, 'radius_km', 'must be at most 50'],
    [{ keyword: '' }, 'keyword', 'must not be empty'],
  ])('with %j is refused: %s %s', async (more, field, message) => {
    const response = await post('grid', { ...landmark, ...more });
    expect([response.statusCode, response.json().errors]).toEqual([422, [{ field, message }]]);
  });

  test('takes its numbers as text too, as a form has them', async () => {
    const fields = Object.entries({ ...landmark, size: 3 }).map(([name, value]): [string, string] => [name, String(value)]);
    const payload = new URLSearchParams(fields).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const context = { mode: 'test' as const, units: GRID_UNITS };
    const response = await grank.call({ method: 'POST', url: '/grank/grid', payload, headers, context });
    expect(response.json().summary).toMatchObject({ points: 9, answered: 9 });
  });

  test('is asked for by POST alone', async () => {
    const refused = await grank.call({ method: 'GET', url: '/grank/grid', context: { mode: 'test' } });
    expect([refused.statusCode, refused.headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });

  test('is not answered at a gateway that took the price of one position', async () => {
    for (const units of [undefined, 1, 48]) {
      const refused = await grank.call({ method: 'POST', url: '/grank/grid', payload: landmark, context: { mode: 'test', units } });
      expect([refused.statusCode, refused.json().code]).toEqual([503, 'upstream_not_configured']);
    }
    const uncounted = { mode: 'test' as const, units: undefined, chargedDay: null, quota: null };
    expect((await grank.call({ method: 'POST', url: '/grank/grid', payload: landmark, context: uncounted })).statusCode).toBe(200);
  });
});

describe('test keys over the ranking WebSocket', () => {
  let grank: Harness;
  let hasty: Harness;
  beforeAll(async () => {
    const env = { SANDBOX_URL: sandbox.url, RANKING_TEST_SOURCE: 'ranking_websocket' };
    grank = await grankWith(env);
    hasty = await grankWith({ ...env, ...HASTY });
  });
  const post = poster(() => grank);
  const postHastily = poster(() => hasty);

  test('get the JSON of the upstream as it is, with its ok flag', async () => {
    const search = (await post('search', { ...POINT, keyword: 'dentist', max_results: 2 })).json();
    expect(search).toMatchObject({ ok: true, source: 'sandbox_ranking', count: 2 });
    const position = (await post('position', { ...POINT, keyword: 'dentist', business_name: 'orchid clinic' })).json();
    expect(position).toEqual({
      ok: true,
      source: 'sandbox_ranking',
      query: { keyword: 'dentist' },
      found: true,
      position: 2,
      checked: 20,
      match: { place_id: 'ChIJsandbox0002', name: 'Orchid Clinic' },
    });
  });

  test('get a grid of positions', async () => {
    const input = { ...POINT, keyword: 'sandbox-grid', radius_km: 3, size: 3 };
    for (const business of [{ business_name: 'sandbox landmark' }, { place_id: 'ChIJsandbox0100' }]) {
      const body = (await post('grid', { ...input, ...business })).json();
      expect(body).toMatchObject({ source: 'sandbox_ranking_websocket', summary: { answered: 9, found: 9, average_rank: 10.78 } });
      expect(body.points.map(({ rank }: any) => rank)).toEqual([14, 10, 14, 10, 1, 10, 14, 10, 14]);
    }
    const partly = (await post('grid', { ...input, keyword: 'sandbox-grid-partial', business_name: 'Sandbox Landmark' })).json();
    expect(partly.summary).toMatchObject({ answered: 5, failed: 4, found: 5 });
  });

  test.each([
    ['sandbox-upstream-error', 502, 'upstream_error'],
    ['sandbox-closed', 502, 'unreachable'],
    ['sandbox-bad-response', 502, 'bad_response'],
    ['sandbox-timeout', 504, undefined],
  ])('%s is %i', async (keyword, status, reason) => {
    for (const route of ['search', 'position', 'grid']) {
      const ask = status === 504 ? postHastily : post;
      const response = await ask(route, { ...POINT, keyword, business_name: 'x' });
      expect([response.statusCode, response.json().reason]).toEqual([status, reason]);
    }
  });
});

describe('a deployment without', () => {
  const input = { ...POINT, keyword: 'dentist', business_name: 'Lotus Clinic' };
  const UNSET = { code: 'upstream_not_configured' };

  test('a live source answers live keys 503, and serves test keys', async () => {
    const grank = await grankWith({ SANDBOX_URL: sandbox.url });
    const post = poster(() => grank);
    for (const route of ['search', 'position', 'grid', 'health']) {
      const response = await post(route, input, 'live');
      expect([route, response.statusCode]).toEqual([route, 503]);
      expect(response.json()).toMatchObject(UNSET);
      expect((await post(route, input)).statusCode).toBe(200);
    }
  });

  test('a sandbox answers test keys 503, whatever is configured live', async () => {
    const grank = await grankWith({ RANKING_GOOGLE_PLACES_KEY: 'k' });
    const response = await poster(() => grank)('search', input);
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject(UNSET);
  });

  test('a worker answers 503; its index is answered', async () => {
    const grank = await serviceWith(grankService);
    for (const route of ['search', 'position', 'grid', 'health']) {
      const response = await poster(() => grank)(route, input);
      expect([route, response.statusCode]).toEqual([route, 503]);
      expect(response.json()).toMatchObject(UNSET);
    }
    expect((await grank.call({ method: 'PUT', url: '/grank' })).json()).toMatchObject({ status: 'success', product: 'api-grank' });
  });

  test('a worker that runs is not ready, and fails calls with 502', async () => {
    const grank = await serviceWith(grankService, '127.0.0.1:1');
    const health = await grank.call({ method: 'GET', url: '/grank/health' });
    expect([health.statusCode, health.json().code]).toEqual([503, 'service_not_ready']);
    expect((await poster(() => grank)('search', input)).statusCode).toBe(502);
    await grank.app.close();
  });
});
