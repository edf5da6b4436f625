import { setImmediate as settled } from 'node:timers/promises';
import { ServiceError } from '../../../../services/kit/errors';
import { rankGrid } from '../../../../services/workers/ranking/grid/rank-grid';
import { type RankQuery, type RankingUpstream } from '../../../../services/workers/ranking/ranking-upstream';
import { distanceKm } from '../../../../services/workers/ranking/distance';
import { gridPoints, spacingKm } from '../../../../services/workers/ranking/grid/grid-points';
import { createLog } from '../../../../services/kit/log';
import { createRankingHandlers } from '../../../../services/workers/ranking/handler';
import { answerOfFailure, parsePointAnswer } from '../../../../services/workers/ranking/grid/point-answer';

const QUERY: RankQuery = { keyword: 'dentist', center: { latitude: 0, longitude: 0 }, radiusKm: 3, maxResults: 20, placeId: 'p' };

type Ask = (query: RankQuery, signal: AbortSignal) => Promise<object>;

function upstreamThat(ask: Ask): RankingUpstream {
  const unused = () => Promise.reject(new Error('not of a grid'));
  return {
    source: 'google_places',
    search: unused,
    findPlaces: unused,
    close: () => Promise.resolve(),
    position: async (query, { signal }) => JSON.stringify(await ask(query, signal)),
  };
}

const found = (position: number | null) => ({
  ok: true,
  found: position !== null,
  position,
  checked: 20,
  match: position === null ? null : { place_id: 'p', name: 'Acme' },
});

const failure = (reason: string) => new ServiceError('upstream_failed', { members: { reason } });

function grid(ask: Ask, { size = 3, signal = new AbortController().signal, timeLeftMs = 28_000 } = {}): Promise<any> {
  return rankGrid(upstreamThat(ask), { query: QUERY, size }, { mode: 'live', signal, timeLeftMs: () => timeLeftMs });
}

describe('a grid', () => {
  it('asks about every point once, from the middle outwards, in surroundings as wide as the points are apart', async () => {
    const asked: RankQuery[] = [];
    await grid((query) => {
      asked.push(query);
      return Promise.resolve(found(1));
    });
    expect(asked).toHaveLength(9);
    expect(new Set(asked.map(({ center }) => `${center.latitude} ${center.longitude}`)).size).toBe(9);
    expect(asked[0]?.center).toEqual(QUERY.center);
    for (const query of asked) expect(query).toMatchObject({ keyword: 'dentist', placeId: 'p', radiusKm: 3, maxResults: 20 });
  });

  it('tells ranks where they are, their average over where the business was found and its share of the top three', async () => {
    // North to south: 1 in the first row, 4 in the second, none in the third.
    const body = await grid(({ center }) => Promise.resolve(found(center.latitude > 0 ? 1 : center.latitude === 0 ? 4 : null)));
    expect(body.points.map(({ rank }: any) => rank)).toEqual([1, 1, 1, 4, 4, 4, null, null, null]);
    expect(body.summary).toEqual({
      points: 9, answered: 9, failed: 0, found: 6, ambiguous: 0, average_rank: 2.5, top_3_share: 0.333,
    }); // prettier-ignore
    expect(body).toMatchObject({ spacing_km: 3, matches: [{ place_id: 'p', name: 'Acme', points: 6 }], source: 'google_places' });
    expect(body.points[0]).toMatchObject({ row: 0, column: 0, status: 'ok', place_id: 'p', ambiguous: false, checked: 20, reason: null });
  });

  it('counts what failed in no figure, and says how it failed', async () => {
    const body = await grid(({ center }) => (center.latitude < 0 ? Promise.reject(failure('upstream_error')) : Promise.resolve(found(2))));
    expect(body.summary).toMatchObject({ answered: 6, failed: 3, found: 6, average_rank: 2, top_3_share: 1 });
    const unknown = { rank: null, place_id: null, ambiguous: null, checked: null };
    expect(body.points[8]).toMatchObject({ status: 'error', reason: 'upstream_error', ...unknown });
  });

  it('names every business that a name was matched with', async () => {
    const body = await grid(({ center }) =>
      Promise.resolve({ ...found(1), match: { place_id: center.latitude > 0 ? 'north' : 'south', name: 'Acme' } }),
    );
    expect(body.matches).toEqual([
      { place_id: 'south', name: 'Acme', points: 6 },
      { place_id: 'north', name: 'Acme', points: 3 },
    ]);
  });

  it('asks about four points at a time', async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const answer = grid(async () => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        most = Math.max(most, waiting.length);
      });
      return found(1);
    }, { size: 5 }); // prettier-ignore
    let isDone = false;
    void answer.then(() => (isDone = true));
    while (!isDone) {
      waiting.shift()?.();
      await settled();
    }
    expect(most).toBe(4);
  });
});

describe('a grid whose source fails', () => {
  it.each([
    ['its error', failure('upstream_error')],
    ['its time-out', new ServiceError('upstream_timeout')],
  ])('at the first four points asks no further and fails as they did: by %s', async (_what, { problem, options }) => {
    let asked = 0;
    const answer = grid(() => {
      asked++;
      return Promise.reject(new ServiceError(problem, options));
    }, { size: 7 }); // prettier-ignore
    await expect(answer).rejects.toMatchObject({ problem, options });
    expect(asked).toBe(4);
  });

  it('everywhere alike, for want of a setting, fails as that', async () => {
    const failing = grid(() => Promise.reject(new ServiceError('upstream_not_configured')));
    await expect(failing).rejects.toMatchObject({ problem: 'upstream_not_configured' });
  });

  it('because its quota is used up is asked no more, and what is known is told', async () => {
    let asked = 0;
    const body = await grid(() => {
      asked++;
      return asked > 10 ? Promise.reject(failure('provider_quota')) : Promise.resolve(found(1));
    }, { size: 7 }); // prettier-ignore
    expect(asked).toBeLessThanOrEqual(14);
    expect(body.summary).toMatchObject({ points: 49, answered: 10, failed: 39 });
    expect(new Set(body.points.map(({ reason }: any) => reason))).toEqual(new Set([null, 'provider_quota', 'not_asked']));
  });
});

describe('the time of a grid', () => {
  const never = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new ServiceError('upstream_timeout')), { once: true }));

  it('ends with what is known: the rest is a time-out where it was asked, and not asked elsewhere', async () => {
    let asked = 0;
    const body = await grid((_query, signal) => (++asked <= 3 ? Promise.resolve(found(1)) : never(signal)), { timeLeftMs: 1_050 });
    expect(body.summary).toMatchObject({ answered: 3, failed: 6 });
    const reasons = body.points.flatMap(({ reason }: any) => reason ?? []).sort();
    expect(reasons).toEqual(['not_asked', 'not_asked', 'timeout', 'timeout', 'timeout', 'timeout']);
  });

  it('is a time-out where nothing is known', async () => {
    await expect(grid((_query, signal) => never(signal), { timeLeftMs: 1_010 })).rejects.toMatchObject({ problem: 'upstream_timeout' });
  });

  it('ends when the caller leaves, at the source too', async () => {
    const leave = new AbortController();
    const signals: AbortSignal[] = [];
    const answer = grid((_query, signal) => {
      signals.push(signal);
      return never(signal);
    }, { signal: leave.signal, size: 7 }); // prettier-ignore
    const gone = new Error('gone');
    leave.abort(gone);
    await expect(answer).rejects.toBe(gone);
    await settled();
    expect(signals.length).toBeLessThanOrEqual(4);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });
});

const BENGALURU = { latitude: 12.9716, longitude: 77.5946 };

describe('the points of a grid', () => {
  it.each([3, 5, 7])('of %i a side go row by row from the north west, with the middle in the middle', (size) => {
    const points = gridPoints({ center: BENGALURU, radiusKm: 5, size });
    expect(points.map(({ row, column }) => [row, column])).toEqual(
      Array.from({ length: size * size }, (_, index) => [Math.floor(index / size), index % size]),
    );
    const middle = points[(size * size - 1) / 2];
    expect(middle).toMatchObject({ center: BENGALURU, distanceKm: 0 });
    const [first] = points;
    expect(first?.center.latitude).toBeGreaterThan(BENGALURU.latitude);
    expect(first?.center.longitude).toBeLessThan(BENGALURU.longitude);
  });

  it.each([BENGALURU, { latitude: -33.87, longitude: 151.21 }, { latitude: 64.15, longitude: -21.94 }, { latitude: 0, longitude: 180 }])(
    'reach as far as the radius and lie evenly, at %j',
    (center) => {
      for (const radiusKm of [0.5, 5, 50]) {
        const points = gridPoints({ center, radiusKm, size: 5 });
        const at = (row: number, column: number) => points[row * 5 + column]?.center ?? center;
        const near = (km: number, wanted: number) => expect(Math.abs(km - wanted) / wanted).toBeLessThan(0.02);
        for (const [row, column] of [[0, 2], [4, 2], [2, 0], [2, 4]] as const) near(distanceKm(center, at(row, column)), radiusKm); // prettier-ignore
        for (const index of [0, 1, 2, 3]) {
          near(distanceKm(at(2, index), at(2, index + 1)), spacingKm({ radiusKm, size: 5 }));
          near(distanceKm(at(index, 2), at(index + 1, 2)), spacingKm({ radiusKm, size: 5 }));
        }
        near(points[0]?.distanceKm ?? 0, radiusKm * Math.SQRT2);
        for (const each of points) expect(Math.abs(each.center.longitude)).toBeLessThanOrEqual(180);
      }
    },
  );
});

const query = { keyword: 'dentist', latitude: 1, longitude: 2, radiusKm: 3, maxResults: 20, placeId: 'p' };
const answer = JSON.stringify({ ok: true, position: 1 });

it('one subscription has two grids asked for at a time, whose places are free again afterwards; others have their own', async () => {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const unused = () => Promise.reject(new Error('not of a grid'));
  const upstream: RankingUpstream = {
    source: 'google_places',
    search: unused,
    findPlaces: unused,
    close: () => Promise.resolve(),
    position: () => held.then(() => answer),
  };
  const handlers = createRankingHandlers({ serving: () => upstream, close: () => Promise.resolve() });
  const ask = (subscriptionId: string) =>
    handlers.Grid({ query, size: 3 }, {
      requestId: 'r',
      customerId: 'c',
      subscriptionId,
      mode: 'live',
      signal: new AbortController().signal,
      timeLeftMs: () => Infinity,
      log: createLog('test', { level: 'silent' }),
    }); // prettier-ignore
  const running = [ask('one'), ask('one'), ask('other')];
  await expect(ask('one')).rejects.toMatchObject({ problem: 'concurrency_exceeded' });
  letGo();
  for (const { dataJson } of await Promise.all(running)) expect(JSON.parse(dataJson ?? '')).toMatchObject({ summary: { found: 9 } });
  await expect(ask('one')).resolves.toHaveProperty('dataJson');
});

const parse = (body: object) => parsePointAnswer(JSON.stringify(body));

describe('the answer of a point', () => {
  it('is the rank, with the business that was matched', () => {
    const body = { ok: true, found: true, position: 4, checked: 20, match: { place_id: 'p', name: 'n', score: 1 }, candidates: [] };
    expect(parse(body)).toEqual({ status: 'ok', rank: 4, checked: 20, ambiguous: false, match: { placeId: 'p', name: 'n' } });
  });

  it('is no rank where the business is not in the list, and says when several may be it', () => {
    const none = { status: 'ok', rank: null, checked: 20, ambiguous: false, match: null };
    expect(parse({ ok: true, found: false, position: null, checked: 20, candidates: [] })).toEqual(none);
    expect(parse({ ok: true, found: false, position: null, checked: 20, candidates: [{}, {}] })).toEqual({ ...none, ambiguous: true });
  });

  it('takes the least that a source of rankings says', () => {
    const least = { status: 'ok', checked: null, ambiguous: false, match: null };
    expect(parse({ ok: true, position: 2 })).toEqual({ ...least, rank: 2 });
    expect(parse({ ok: true, found: false })).toEqual({ ...least, rank: null });
  });

  it.each([
    [{ ok: true }, 'bad_response'],
    [{ ok: true, position: 0 }, 'bad_response'],
    [{ ok: false, position: 3 }, 'upstream_error'],
  ])('%j is no answer: %s', (body, reason) => expect(parse(body)).toEqual({ status: 'error', reason }));

  it('is an error where the source failed', () => {
    expect(answerOfFailure(new ServiceError('upstream_timeout'))).toEqual({ status: 'error', reason: 'timeout' });
    const unreachable = new ServiceError('upstream_failed', { members: { reason: 'unreachable' } });
    expect(answerOfFailure(unreachable)).toEqual({ status: 'error', reason: 'unreachable' });
    expect(answerOfFailure(new ServiceError('upstream_failed'))).toEqual({ status: 'error', reason: 'upstream_error' });
  });

  it.each([new ServiceError('upstream_not_configured'), new TypeError('a defect')])('is not what fails everywhere: %s', (error) => {
    expect(() => answerOfFailure(error)).toThrow(error);
  });
});
