import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { createLog } from '../../../services/kit/log';
import { UpstreamClient } from '../../../services/kit/upstream/upstream-client';
import { type Sandbox } from '../../../services/sandbox/start-sandbox';
import { createGoogleRanking } from '../../../services/workers/ranking/google/google-ranking';
import { FIELD_MASK, googleError, searchTextResponse } from '../../../services/workers/ranking/google/places-wire';
import { type RankingUpstream, type RankQuery } from '../../../services/workers/ranking/ranking-upstream';
import { testClock } from '../../services/kit/test-clock';
import { startTestSandbox } from './setup';

const KEY = 'AIzaSecretOfTheOperator';
const MASKED_FIELDS = [
  'id', 'displayName', 'formattedAddress', 'addressComponents', 'location', 'rating', 'userRatingCount', 'nationalPhoneNumber',
  'internationalPhoneNumber', 'websiteUri', 'googleMapsUri', 'businessStatus', 'primaryType', 'types',
  'regularOpeningHours.weekdayDescriptions',
]; // prettier-ignore

/** One place as the service documents it, with members that nobody asked for. */
const WIRE_PLACE = {
  regularOpeningHours: { openNow: true, weekdayDescriptions: ['Monday: 9:00 AM – 6:00 PM'] },
  name: 'places/ChIJ1',
  id: 'ChIJ1',
  types: ['dentist', 'health', 'point_of_interest', 'establishment'],
  nationalPhoneNumber: '080 4123 4567',
  internationalPhoneNumber: '+91 80 4123 4567',
  formattedAddress: '12, MG Road, Bengaluru, Karnataka 560001, India',
  location: { latitude: 12.975, longitude: 77.606 },
  rating: 4.6,
  googleMapsUri: 'https://maps.google.com/?cid=1234567890123456789',
  websiteUri: 'https://smile.example.co.in/bengaluru?utm_source=gmb',
  businessStatus: 'OPERATIONAL',
  userRatingCount: 321,
  displayName: { text: 'Smile Dental Care', languageCode: 'en' },
  primaryType: 'dentist',
};

interface Recorded {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: any;
}

type Answer = (body: any, response: ServerResponse) => void;

interface FakeGoogle {
  readonly url: string;
  readonly requests: Recorded[];
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function googleThat(answer: Answer): Promise<FakeGoogle> {
  const requests: Recorded[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      requests.push({ path: request.url, headers: request.headers, body });
      answer(body, response);
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function json(response: ServerResponse, data: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(data));
}

function rankingAt(liveUrl: string): RankingUpstream {
  const target = { liveUrl, liveSetting: 'RANKING_GOOGLE_PLACES_URL', sandboxUrl: liveUrl };
  const client = new UpstreamClient({ name: 'google_places', target, timeoutMs: 2_000 });
  return createGoogleRanking({ client, keys: { live: KEY, test: 'sandbox' }, clock: testClock });
}

const query: RankQuery = {
  keyword: 'dentist', center: { latitude: 12.97, longitude: 77.59 }, radiusKm: 5, maxResults: 60, countryCode: 'IN', languageCode: 'en',
}; // prettier-ignore
const call = (mode: 'live' | 'test' = 'live') => ({ mode, signal: new AbortController().signal });
/** Forty-five places on three pages, whose tokens are t1 and t2. */
const pages: Answer = ({ pageToken }, response) => {
  const start = pageToken === 't2' ? 40 : pageToken === 't1' ? 20 : 0;
  const places = Array.from({ length: Math.min(20, 45 - start) }, (_, index) => ({
    id: `p${start + index + 1}`,
    displayName: { text: `Place ${start + index + 1} of the list` },
  }));
  json(response, { places, ...(start < 40 && { nextPageToken: start === 0 ? 't1' : 't2' }) });
};
const positionOf = async (ranking: RankingUpstream, businessName: string, maxResults = 60) =>
  JSON.parse(await ranking.position({ ...query, businessName, maxResults }, call()));

describe('the Google Places adapter', () => {
  test('asks as the service documents it, with the key in a header only', async () => {
    const google = await googleThat((_body, response) => json(response, {}));
    await rankingAt(google.url).search({ ...query, radiusKm: 50 }, call());
    const [request] = google.requests;
    expect(request?.path).toBe('/v1/places:searchText');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-goog-api-key': KEY,
      'x-goog-fieldmask': [...MASKED_FIELDS.map((field) => `places.${field}`), 'nextPageToken'].join(','),
    });
    expect(request?.body).toEqual({
      textQuery: 'dentist',
      languageCode: 'en',
      regionCode: 'IN',
      rankPreference: 'RELEVANCE',
      locationBias: { circle: { center: { latitude: 12.97, longitude: 77.59 }, radius: 50_000 } },
      pageSize: 20,
    });
  });

  test('never sends the live key for a test call', async () => {
    const google = await googleThat((_body, response) => json(response, {}));
    await rankingAt(google.url).search(query, call('test'));
    expect(google.requests[0]?.headers['x-goog-api-key']).toBe('sandbox');
  });

  test('reads a recorded response', async () => {
    const google = await googleThat((_body, response) => json(response, { places: [WIRE_PLACE], contextualContents: [{}] }));
    const ranking = rankingAt(google.url);
    expect(JSON.parse(await ranking.search(query, call())).results).toEqual([
      {
        position: 1,
        place_id: 'ChIJ1',
        name: 'Smile Dental Care',
        address: '12, MG Road, Bengaluru, Karnataka 560001, India',
        latitude: 12.975,
        longitude: 77.606,
        distance_km: 1.821,
        rating: 4.6,
        reviews: 321,
        phone: '080 4123 4567',
        website: 'https://smile.example.co.in/bengaluru?utm_source=gmb',
        types: ['dentist', 'health', 'point_of_interest', 'establishment'],
        business_status: 'OPERATIONAL',
        in_radius: true,
      },
    ]);
    const { places } = await ranking.findPlaces({ text: 'dentist' }, undefined, call());
    expect(places[0]).toMatchObject({ category: 'dentist', internationalPhone: '+91 80 4123 4567', mapsUrl: WIRE_PLACE.googleMapsUri });
    expect(places[0]?.hours).toEqual(['Monday: 9:00 AM – 6:00 PM']);
  });

  test('takes a place of which only the id is known, and an answer without places', async () => {
    const google = await googleThat(({ textQuery }, response) => json(response, textQuery === 'none' ? {} : { places: [{ id: 'x' }] }));
    const ranking = rankingAt(google.url);
    expect(JSON.parse(await ranking.search(query, call()))).toMatchObject({ count: 1, results: [{ place_id: 'x', distance_km: null }] });
    expect(JSON.parse(await ranking.search({ ...query, keyword: 'none' }, call()))).toMatchObject({ ok: true, count: 0, truncated: false });
  });

  test.each([
    [1, 1, true],
    [20, 1, true],
    [21, 2, true],
    [40, 2, true],
    [41, 3, true],
    [45, 3, false],
    [60, 3, false],
  ])('reads for %i results %i pages', async (maxResults, read, truncated) => {
    const google = await googleThat(pages);
    const body = JSON.parse(await rankingAt(google.url).search({ ...query, maxResults }, call()));
    expect([google.requests.length, body.count, body.truncated]).toEqual([read, Math.min(45, maxResults), truncated]);
    expect(google.requests.map(({ body: { pageToken } }) => pageToken)).toEqual([undefined, 't1', 't2'].slice(0, read));
    expect(google.requests.every(({ body: { pageSize } }) => pageSize === 20)).toBe(true);
  });

  test.each([
    ['Place 7 of the list', 7, 1],
    ['Place 20 of the list', 20, 1],
    ['Place 21 of the list', 21, 2],
    ['Place 45 of the list', 45, 3],
    ['Nowhere', null, 3],
  ])('looks for %s, at %p, on %i pages', async (name, position, read) => {
    const google = await googleThat(pages);
    const body = await positionOf(rankingAt(google.url), name);
    expect([body.position, body.checked, google.requests.length]).toEqual([position, Math.min(45, read * 20), read]);
  });

  test('ends when a page brings nothing new', async () => {
    const google = await googleThat((_body, response) => json(response, { places: [{ id: 'x' }], nextPageToken: 't' }));
    expect(JSON.parse(await rankingAt(google.url).search(query, call()))).toMatchObject({ count: 1 });
    expect(google.requests).toHaveLength(2);
  });

  const failing = (code: number, status: string, message = 'text') => ({ error: { code, message, status } });
  const errors: { status: number; data: unknown; problem: string; reason?: string; tries: number }[] = [
    { status: 400, data: failing(400, 'INVALID_ARGUMENT', `key ${KEY}`), problem: 'upstream_failed', reason: 'rejected', tries: 1 },
    { status: 403, data: failing(403, 'PERMISSION_DENIED', KEY), problem: 'upstream_failed', reason: 'rejected', tries: 1 },
    { status: 429, data: failing(429, 'RESOURCE_EXHAUSTED'), problem: 'upstream_failed', reason: 'provider_quota', tries: 1 },
    { status: 500, data: failing(500, 'INTERNAL'), problem: 'upstream_failed', reason: 'upstream_error', tries: 1 },
    { status: 503, data: failing(503, 'UNAVAILABLE'), problem: 'upstream_failed', reason: 'upstream_error', tries: 2 },
    { status: 504, data: failing(504, 'DEADLINE_EXCEEDED'), problem: 'upstream_timeout', tries: 2 },
    { status: 502, data: 'Bad Gateway', problem: 'upstream_failed', reason: 'bad_response', tries: 2 },
    { status: 200, data: [], problem: 'upstream_failed', reason: 'bad_response', tries: 1 },
    { status: 200, data: { places: 'none' }, problem: 'upstream_failed', reason: 'bad_response', tries: 1 },
    { status: 200, data: { places: [{ displayName: {} }] }, problem: 'upstream_failed', reason: 'bad_response', tries: 1 },
  ];
  test.each(errors)('maps $status $data to $problem, $reason, after $tries tries, and keeps the key to itself', async (expected) => {
    const google = await googleThat((_body, response) => json(response, expected.data, expected.status));
    const lines: string[] = [];
    const log = createLog('ranking-worker', { destination: { write: (line: string) => void lines.push(line) } });
    const failure: any = await rankingAt(google.url)
      .search(query, call())
      .catch((error: unknown) => error);
    const { problem, reason, tries } = expected;
    expect([failure.name, failure.problem, failure.options.members?.reason]).toEqual(['ServiceError', problem, reason]);
    expect(google.requests).toHaveLength(tries);
    log.warn({ err: failure }, 'a call failed');
    expect(lines).toHaveLength(1);
    expect(lines.join('') + JSON.stringify(failure)).not.toContain(KEY);
  });

  test('ends the exchange when the caller leaves', async () => {
    const leave = new AbortController();
    let closed: Promise<unknown> | undefined;
    const google = await googleThat((_body, response) => {
      closed = once(response, 'close');
      leave.abort(new Error('gone'));
    });
    await expect(rankingAt(google.url).search(query, { mode: 'live', signal: leave.signal })).rejects.toMatchObject({
      name: 'ServiceError',
    });
    await closed;
    expect(google.requests).toHaveLength(1);
  });
});

describe('the Google Places simulator', () => {
  let sandbox: Sandbox;
  beforeAll(async () => (sandbox = await startTestSandbox()));
  afterAll(() => sandbox.close());

  const send = async (body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${sandbox.url}/google-places/v1/places:searchText`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': 'any', 'x-goog-fieldmask': FIELD_MASK, ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as any };
  };

  test('answers places of the recorded shape, in pages of twenty', async () => {
    const { status, body } = await send({ textQuery: 'dentist' });
    expect(status).toBe(200);
    expect(searchTextResponse.parse(body).places).toHaveLength(20);
    const [place] = body.places;
    const { name: _name, ...documented } = WIRE_PLACE;
    expect(Object.keys(place).sort()).toEqual([...Object.keys(documented), 'addressComponents'].sort());
    for (const [field, value] of Object.entries(documented)) expect([field, typeof place[field]]).toEqual([field, typeof value]);
    const second = await send({ textQuery: 'dentist', pageToken: body.nextPageToken });
    const third = await send({ textQuery: 'dentist', pageToken: second.body.nextPageToken });
    expect([second.body.places.length, third.body.places.length, third.body.nextPageToken]).toEqual([20, 5, undefined]);
  });

  test('answers only what the mask asks for, and fewer when asked', async () => {
    const { body } = await send({ textQuery: 'dentist', pageSize: 3 }, { 'x-goog-fieldmask': 'places.id,places.location' });
    expect(body.places).toHaveLength(3);
    expect(Object.keys(body.places[0]).sort()).toEqual(['id', 'location']);
    expect(body).not.toHaveProperty('nextPageToken');
  });

  test('gives the same answer for ever, wherever it is asked', async () => {
    const near = (latitude: number, longitude: number) => ({
      textQuery: 'dentist',
      locationBias: { circle: { center: { latitude, longitude }, radius: 500 } },
    });
    expect(await send(near(1, 2))).toEqual(await send(near(1, 2)));
    for (const [latitude, longitude] of [
      [90, 0],
      [-90, 180],
      [0, 179.999],
    ] as const) {
      const { body } = await send(near(latitude, longitude));
      expect(searchTextResponse.safeParse(body).success).toBe(true);
    }
  });

  const tooWide = { circle: { center: { latitude: 0, longitude: 0 }, radius: 50_001 } };
  test.each([
    { what: 'no key', body: { textQuery: 'a' }, headers: { 'x-goog-api-key': '' }, code: 403, status: 'PERMISSION_DENIED' },
    { what: 'no field mask', body: { textQuery: 'a' }, headers: { 'x-goog-fieldmask': '' }, code: 400, status: 'INVALID_ARGUMENT' },
    { what: 'no text', body: {}, code: 400, status: 'INVALID_ARGUMENT' },
    { what: 'too wide a circle', body: { textQuery: 'a', locationBias: tooWide }, code: 400, status: 'INVALID_ARGUMENT' },
    { what: 'a token of another query', body: { textQuery: 'a', pageToken: 'x' }, code: 400, status: 'INVALID_ARGUMENT' },
    { what: 'too many requests', body: { textQuery: 'sandbox-over-quota' }, code: 429, status: 'RESOURCE_EXHAUSTED' },
  ])('refuses $what like the real one', async ({ body, headers, code, status }) => {
    const answer = await send(body, headers);
    expect(answer.status).toBe(code);
    expect(googleError.parse(answer.body).error).toMatchObject({ code, status, message: expect.any(String) });
  });
});
