import { createLog } from '../../../services/kit/log';
import { UpstreamClient } from '../../../services/kit/upstream/upstream-client';
import { createGoogleRanking } from '../../../services/workers/ranking/google/google-ranking';
import { type RankingUpstream, type RankQuery } from '../../../services/workers/ranking/ranking-upstream';
import { testClock } from '../../kit/test-clock';
import { type HttpScript, type ScriptedHttp, startScriptedHttp } from '../identity/support/scripted-http';
import { grankService } from '../../../services/products/grank/routes';
import { rankingWorkerSettings } from '../../../services/workers/ranking/settings';
import { startScriptedLink } from '../../support/scripted-link';
import { serviceWith, startTestWorker } from './setup';

describe('Google Places', () => {
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

  const servers: ScriptedHttp[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

  async function googleThat(script: HttpScript): Promise<ScriptedHttp> {
    const server = await startScriptedHttp(script);
    servers.push(server);
    return server;
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
  const pages: HttpScript = ({ json: { pageToken } }) => {
    const start = pageToken === 't2' ? 40 : pageToken === 't1' ? 20 : 0;
    const places = Array.from({ length: Math.min(20, 45 - start) }, (_, index) => ({
      id: `p${start + index + 1}`,
      displayName: { text: `Place ${start + index + 1} of the list` },
    }));
    return { body: { places, ...(start < 40 && { nextPageToken: start === 0 ? 't1' : 't2' }) } };
  };
  const positionOf = async (ranking: RankingUpstream, businessName: string, maxResults = 60) =>
    JSON.parse(await ranking.position({ ...query, businessName, maxResults }, call()));

  describe('the Google Places adapter', () => {
    it('asks as the service documents it, with the key in a header only', async () => {
      const google = await googleThat(() => ({ body: {} }));
      await rankingAt(google.url).search({ ...query, radiusKm: 50 }, call());
      const [request] = google.seen;
      expect(request?.url).toBe('/v1/places:searchText');
      expect(request?.headers).toMatchObject({
        'content-type': 'application/json',
        'x-goog-api-key': KEY,
        'x-goog-fieldmask': [...MASKED_FIELDS.map((field) => `places.${field}`), 'nextPageToken'].join(','),
      });
      expect(request?.json).toEqual({
        textQuery: 'dentist',
        languageCode: 'en',
        regionCode: 'IN',
        rankPreference: 'RELEVANCE',
        locationBias: { circle: { center: { latitude: 12.97, longitude: 77.59 }, radius: 50_000 } },
        pageSize: 20,
      });
    });

    it('never sends the live key for a test call', async () => {
      const google = await googleThat(() => ({ body: {} }));
      await rankingAt(google.url).search(query, call('test'));
      expect(google.seen[0]?.headers['x-goog-api-key']).toBe('sandbox');
    });

    it('reads a recorded response', async () => {
      const google = await googleThat(() => ({ body: { places: [WIRE_PLACE], contextualContents: [{}] } }));
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

    it('takes a place of which only the id is known, and an answer without places', async () => {
      const google = await googleThat(({ json }) => ({ body: json.textQuery === 'none' ? {} : { places: [{ id: 'x' }] } }));
      const ranking = rankingAt(google.url);
      expect(JSON.parse(await ranking.search(query, call()))).toMatchObject({ count: 1, results: [{ place_id: 'x', distance_km: null }] });
      expect(JSON.parse(await ranking.search({ ...query, keyword: 'none' }, call()))).toMatchObject({
        ok: true,
        count: 0,
        truncated: false,
      });
    });

    it.each([
      [20, 1, true],
      [21, 2, true],
      [41, 3, true],
      [45, 3, false],
    ])('reads for %i results %i pages', async (maxResults, read, truncated) => {
      const google = await googleThat(pages);
      const body = JSON.parse(await rankingAt(google.url).search({ ...query, maxResults }, call()));
      expect([google.seen.length, body.count, body.truncated]).toEqual([read, Math.min(45, maxResults), truncated]);
      expect(google.seen.map(({ json }) => json.pageToken)).toEqual([undefined, 't1', 't2'].slice(0, read));
      expect(google.seen.every(({ json }) => json.pageSize === 20)).toBe(true);
    });

    it.each([
      ['Place 20 of the list', 20, 1],
      ['Place 21 of the list', 21, 2],
      ['Nowhere', null, 3],
    ])('looks for %s, at %p, on %i pages', async (name, position, read) => {
      const google = await googleThat(pages);
      const body = await positionOf(rankingAt(google.url), name);
      expect([body.position, body.checked, google.seen.length]).toEqual([position, Math.min(45, read * 20), read]);
    });

    it('ends when a page brings nothing new', async () => {
      const google = await googleThat(() => ({ body: { places: [{ id: 'x' }], nextPageToken: 't' } }));
      expect(JSON.parse(await rankingAt(google.url).search(query, call()))).toMatchObject({ count: 1 });
      expect(google.seen).toHaveLength(2);
    });

    const failing = (code: number, status: string, message = 'text') => ({ error: { code, message, status } });
    const errors: { status: number; data: object | string; problem: string; reason?: string; tries: number }[] = [
      { status: 400, data: failing(400, 'INVALID_ARGUMENT', `key ${KEY}`), problem: 'upstream_failed', reason: 'rejected', tries: 1 },
      { status: 429, data: failing(429, 'RESOURCE_EXHAUSTED'), problem: 'upstream_failed', reason: 'provider_quota', tries: 1 },
      { status: 503, data: failing(503, 'UNAVAILABLE'), problem: 'upstream_failed', reason: 'upstream_error', tries: 2 },
      { status: 502, data: 'Bad Gateway', problem: 'upstream_failed', reason: 'bad_response', tries: 2 },
      { status: 200, data: { places: 'none' }, problem: 'upstream_failed', reason: 'bad_response', tries: 1 },
    ];
    it.each(errors)('maps $status $data to $problem, $reason, after $tries tries, and keeps the key to itself', async (expected) => {
      const google = await googleThat(() => ({ status: expected.status, body: expected.data }));
      const lines: string[] = [];
      const log = createLog('ranking-worker', { destination: { write: (line: string) => void lines.push(line) } });
      const failure: any = await rankingAt(google.url)
        .search(query, call())
        .catch((error: unknown) => error);
      const { problem, reason, tries } = expected;
      expect([failure.name, failure.problem, failure.options.members?.reason]).toEqual(['ServiceError', problem, reason]);
      expect(google.seen).toHaveLength(tries);
      log.warn({ err: failure }, 'a call failed');
      expect(lines).toHaveLength(1);
      expect(lines.join('') + JSON.stringify(failure)).not.toContain(KEY);
    });

    it('ends the exchange when the caller leaves', async () => {
      const leave = new AbortController();
      const google = await googleThat(() => {
        leave.abort(new Error('gone'));
        return 'hang';
      });
      await expect(rankingAt(google.url).search(query, { mode: 'live', signal: leave.signal })).rejects.toMatchObject({
        problem: 'upstream_failed',
      });
      expect(google.seen).toHaveLength(1);
    });
  });
});

describe('a worker', () => {
  describe('the settings', () => {
    const problemsOf = (env: Record<string, string>) =>
      rankingWorkerSettings.safeParse(env).error?.issues.map(({ path }) => path.join('.')) ?? [];
    const socket = { RANKING_WEBSOCKET_URL: 'wss://rank.example/link' };
    const places = { RANKING_GOOGLE_PLACES_KEY: 'k' };

    it.each([
      [{}, []],
      [{ ...socket, ...places, RANKING_SOURCE: 'google_places' }, []],
      [{ ...socket, ...places }, ['RANKING_SOURCE']],
      [{ ...places, RANKING_SOURCE: 'ranking_websocket' }, ['RANKING_WEBSOCKET_URL']],
      [{ ...socket, RANKING_SOURCE: 'google_places' }, ['RANKING_GOOGLE_PLACES_KEY']],
      [{ RANKING_WEBSOCKET_URL: 'https://rank.example' }, ['RANKING_WEBSOCKET_URL']],
    ])('%j have problems with %j', (env, problems) => expect(problemsOf(env)).toEqual(problems));
  });

  it('a live call goes to the configured WebSocket, and its bytes come back unchanged', async () => {
    const body = '{ "ok" : true, "cid": 12345678901234567890, "score": 1.0 }';
    const link = await startScriptedLink(({ id }, say) => say(`{"type":"result","id":${JSON.stringify(id)},"body":${body}}`));
    const worker = await startTestWorker({ RANKING_WEBSOCKET_URL: `${link.url}/rank` });
    const grank = await serviceWith(grankService, worker.address);
    const payload = { keyword: 'dentist', latitude: 12.97, longitude: 77.59, business_name: 'Acme' };
    for (const route of ['search', 'position']) {
      const response = await grank.call({ method: 'POST', url: `/grank/${route}`, payload, context: { mode: 'live' } });
      expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(response.body).toBe(body);
      expect(response.headers['x-tollgate-mode']).toBeUndefined();
    }
    const health = await grank.call({ method: 'GET', url: '/grank/health', context: { mode: 'live' } });
    expect(health.json().data).toEqual({ worker: 'serving', workers: 1, source: 'ranking_websocket' });
    await grank.app.close();
    await worker.close(100);
    await link.close();
  });
});
