import { grankService } from '../../../services/grank/routes';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { serviceWith, startTestSandbox, startTestWorker } from '../../workers/ranking/setup';
import { type Harness } from '../kit/harness';
import { fc } from '../../support/fast-check';

const POINT = { latitude: 12.9716, longitude: 77.5946 };

let sandbox: Sandbox;
let worker: WorkerServer;
let grank: Harness;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  worker = await startTestWorker({ SANDBOX_URL: sandbox.url });
  grank = await serviceWith(grankService, worker.address);
});
afterAll(async () => {
  await grank.app.close();
  await worker.close(100);
  await sandbox.close();
});

const post = (route: string, payload: object) => grank.call({ method: 'POST', url: `/grank/${route}`, payload, context: { mode: 'test' } });

describe('input of grank', () => {
  const valid = { ...POINT, keyword: 'dentist', business_name: 'Lotus Clinic' };
  const text = Object.entries({ ...valid, radius_km: '5', max_results: '20', country_code: 'in', language_code: 'en' });

  test('may be JSON, form-data, urlencoded or query, by every method', async () => {
    const boundary = 'xx';
    const parts = text.map(([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
    const urlencoded = new URLSearchParams(Object.fromEntries(text.map(([name, value]) => [name, String(value)]))).toString();
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const multipart = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const calls = [
      { method: 'POST' as const, payload: valid },
      { method: 'PUT' as const, payload: urlencoded, headers: form },
      { method: 'PATCH' as const, payload: `${parts.join('')}--${boundary}--\r\n`, headers: multipart },
      { method: 'GET' as const, query: urlencoded },
      { method: 'DELETE' as const, query: urlencoded },
      { method: 'POST' as const, query: { keyword: 'other' }, payload: valid },
    ];
    for (const call of calls) {
      for (const route of ['search', 'position']) {
        const response = await grank.call({ url: `/grank/${route}`, context: { mode: 'test' }, ...call });
        expect([call.method, route, response.statusCode]).toEqual([call.method, route, 200]);
        expect(response.json().query.keyword).toBe('dentist');
      }
    }
  });

  test('treats an empty optional field as absent', async () => {
    const payload = 'keyword=a&latitude=1&longitude=2&place_id=&business_name=&country_code=&language_code=&radius_km=&max_results=';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await grank.call({ method: 'POST', url: '/grank/search', payload, headers, context: { mode: 'test' } });
    expect(response.statusCode).toBe(200);
    expect(response.json().query).toEqual({ keyword: 'a', latitude: 1, longitude: 2, radius_km: 5, max_results: 20 });
  });

  const broken: [string, object, string, string][] = [
    ['keyword is missing', { keyword: undefined }, 'keyword', 'is required'],
    ['keyword is blank', { keyword: '  ' }, 'keyword', 'must not be empty'],
    ['keyword is a list', { keyword: [7] }, 'keyword', 'must be text'],
    ['keyword is too long', { keyword: 'x'.repeat(201) }, 'keyword', 'must have at most 200 characters'],
    ['keyword holds a control character', { keyword: 'a\u0000b' }, 'keyword', 'must not hold control characters'],
    ['keyword holds half a character', { keyword: 'a\ud800' }, 'keyword', 'must not hold control characters'],
    ['latitude is missing', { latitude: undefined }, 'latitude', 'is required'],
    ['latitude is out of range', { latitude: 90.1 }, 'latitude', 'must be at most 90'],
    ['longitude is missing', { longitude: undefined }, 'longitude', 'is required'],
    ['longitude is null', { longitude: null }, 'longitude', 'must be a number'],
    ['longitude is out of range', { longitude: -181 }, 'longitude', 'must be at least -180'],
    ['radius_km is 0', { radius_km: 0 }, 'radius_km', 'must be more than 0'],
    ['radius_km is too wide', { radius_km: 50.1 }, 'radius_km', 'must be at most 50'],
    ['max_results is 0', { max_results: 0 }, 'max_results', 'must be at least 1'],
    ['max_results is 61', { max_results: 61 }, 'max_results', 'must be at most 60'],
    ['max_results is a fraction', { max_results: 1.5 }, 'max_results', 'must be a whole number'],
    ['country_code has three letters', { country_code: 'IND' }, 'country_code', 'must be a two-letter country code'],
    ['language_code is no code', { language_code: 'english please' }, 'language_code', 'must be a language code such as en or en-IN'],
  ];

  test.each(broken)('is refused with 422 when %s', async (_what, change, field, message) => {
    for (const route of ['search', 'position']) {
      const response = await post(route, { ...valid, ...change });
      expect([route, response.statusCode]).toEqual([route, 422]);
      expect(response.json()).toMatchObject({ code: 'validation_failed', errors: [{ field, message }] });
    }
  });

  test.each([{}, { business_name: '' }, { business_name: ['a'] }])('is refused for a position without a business: %j', async (change) => {
    const response = await post('position', { ...POINT, keyword: 'dentist', ...change });
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ field: 'business_name' })]);
  });

  test('lists everything that is wrong at once', async () => {
    const { errors } = (await post('position', {})).json();
    expect(errors.map(({ field }: any) => field)).toEqual(['keyword', 'latitude', 'longitude', 'business_name']);
  });

  const json = { 'content-type': 'application/json' };
  test.each([
    ['broken JSON', '{"keyword":', json, 400],
    ['an array', '[]', json, 400],
    ['deep JSON', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, json, 400],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), json, 400],
    ['ten megabytes', JSON.stringify({ keyword: 'x'.repeat(10_000_000) }), json, 413],
    ['another content type', '<a/>', { 'content-type': 'text/xml' }, 415],
    ['a broken multipart body', '--xx\r\nnonsense', { 'content-type': 'multipart/form-data; boundary=xx' }, 400],
    ['a field twice', 'keyword=a&keyword=b', { 'content-type': 'application/x-www-form-urlencoded' }, 400],
  ])('answers %s with its own 4xx', async (_what, payload, headers, status) => {
    const response = await grank.call({ method: 'POST', url: '/grank/search', payload, headers, context: { mode: 'test' } });
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  test('that satisfies the schema is answered, and any other is refused with 422', async () => {
    const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    const good = fc.record(
      {
        keyword: fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }).filter((value) => /^[^\p{Cc}\p{Cs}]+$/u.test(value.trim())),
        latitude: number(-90, 90),
        longitude: number(-180, 180),
        business_name: fc.constantFrom('Lotus Clinic', 'क', '!!!', "D'Souza & Co. (P) Ltd"),
        radius_km: number(0.001, 50),
        place_id: fc.constantFrom('', 'ChIJsandbox0003', 'x y'),
        country_code: fc.constantFrom('in', 'US', ''),
        language_code: fc.constantFrom('en', 'pt-BR', 'zh-Hant-TW', ''),
        max_results: fc.integer({ min: 1, max: 60 }),
      },
      { requiredKeys: ['keyword', 'latitude', 'longitude', 'business_name'] },
    );
    const bad = fc.record({
      field: fc.constantFrom('keyword', 'latitude', 'longitude', 'business_name', 'radius_km', 'max_results', 'country_code'),
      value: fc.oneof(fc.constantFrom(null, true, [], {}, 1e300, 'x'.repeat(400)), fc.object()),
    });
    await fc.assert(
      fc.asyncProperty(good, bad, fc.constantFrom('search', 'position'), async (input, { field, value }, route) => {
        const answered = await post(route, input);
        expect(answered.statusCode).toBe(200);
        expect(answered.json().ok).toBe(true);
        const refused = await post(route, { ...input, [field]: value });
        expect([refused.statusCode, refused.json().errors[0].field.split('.')[0]]).toEqual([422, field]);
      }),
      { numRuns: 60 },
    );
  });
});
