import { placesExamples } from '../../../services/sandbox/ranking/places-examples';
import { placeHistory, type GridAnswer, historyInput } from '../../../services/products/grank/place-history';
import { fc } from '../../support/fast-check';

const success = placesExamples.find(({ route, outcome }) => route === '/grank/history' && outcome === 'success');
const [example] = historyInput.parse(success?.input).answers;
if (!example) throw new Error('the example has no answers');
const grid: GridAnswer = example;

type Told = number | 'absent' | 'error';

/** A grid whose points are told one by one. */
function told(fetchedAt: string, points: readonly Told[], more: Partial<GridAnswer> = {}): GridAnswer {
  return {
    ...grid,
    ...more,
    fetched_at: fetchedAt,
    points: grid.points.map((point, at) => {
      const what = points[at] ?? 'error';
      return { ...point, status: what === 'error' ? 'error' : 'ok', rank: typeof what === 'number' ? what : null };
    }),
  };
}

const OCTOBER = '2026-10-01T09:00:00Z';
const NOVEMBER = '2026-11-01T09:00:00Z';
const before = told(OCTOBER, [5, 5, 5, 'absent', 5, 'absent', 'error', 5, 'error']);
const after = told(NOVEMBER, [2, 5, 9, 4, 'absent', 'absent', 3, 'error', 'error']);

describe('the history of a place', () => {
  it('counts which way each point went, and says unknown where one was not answered', () => {
    const { change } = placeHistory([before, after]);
    expect(change.points).toEqual({ better: 1, same: 1, worse: 1, gained: 1, lost: 1, absent: 1, unknown: 3 });
    // (2 − 5 + 5 − 5 + 9 − 5) / 3, over the points with a rank in both.
    expect(change.average_rank).toBe(0.333);
  });

  it('tells what could not be asked from what was not found', () => {
    const [, , , absent, , , failed] = placeHistory([before, after]).points;
    expect(absent).toMatchObject({ ranks: [null, 4], answered: [true, true] });
    expect(failed).toMatchObject({ ranks: [null, 3], answered: [false, true] });
  });

  it('has no difference where there is nothing to compare', () => {
    const nothing = told(NOVEMBER, [], { summary: { answered: 0, found: 0, average_rank: null, top_3_share: null } });
    expect(placeHistory([before, nothing]).change).toMatchObject({ average_rank: null, top_3_share: null, points: { unknown: 9 } });
  });

  it('goes by the instants, whatever their offsets', () => {
    const [earlier, later] = [told('2026-11-01T01:00:00+05:30', [5]), told('2026-10-31T21:00:00Z', [2])];
    expect(placeHistory([later, earlier]).change.points).toMatchObject({ better: 1, worse: 0 });
  });

  it('says when the two ends were answered by different sources', () => {
    const history = placeHistory([before, { ...after, source: 'websocket', source_note: undefined }]);
    expect(history.change.same_source).toBe(false);
    expect(history.entries.map(({ source_note: note }) => note)).toEqual([expect.stringContaining('local pack'), null]);
  });

  const point = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom<Told>('absent', 'error'));
  const day = fc.integer({ min: 1, max: 28 }).map((each) => `2026-11-${String(each).padStart(2, '0')}T09:00:00Z`);
  const answers = fc
    .uniqueArray(fc.tuple(day, fc.array(point, { minLength: 9, maxLength: 9 })), { minLength: 2, maxLength: 8, selector: ([at]) => at })
    .map((list) => list.map(([at, points]) => told(at, points)));

  it('is the same in whatever order the answers come, counts every point once, and turns round with time', () => {
    fc.assert(
      fc.property(answers, (list) => {
        const history = placeHistory(list);
        expect(placeHistory(list.toReversed())).toEqual(history);
        expect(history.entries.map(({ fetched_at: at }) => at)).toEqual(list.map(({ fetched_at: at }) => at).toSorted());
        const { points } = history.change;
        expect(Object.values(points).reduce((sum, count) => sum + count, 0)).toBe(9);
        const [first, last] = [
          list.find(({ fetched_at: at }) => at === history.entries[0]?.fetched_at),
          list.find(({ fetched_at: at }) => at === history.entries.at(-1)?.fetched_at),
        ];
        if (!first || !last) throw new Error('an entry without its answer');
        const back = placeHistory([
          { ...first, fetched_at: NOVEMBER },
          { ...last, fetched_at: OCTOBER },
        ]).change;
        expect(back.points).toEqual({ ...points, better: points.worse, worse: points.better, gained: points.lost, lost: points.gained });
        expect(back.average_rank ?? 0).toBeCloseTo(-(history.change.average_rank ?? 0), 2);
      }),
    );
  });
});

describe('answers that make no history', () => {
  const parse = (list: unknown) => historyInput.safeParse({ answers: list });

  it.each<[string, unknown[], RegExp]>([
    ['one alone', [before], /at least two responses/],
    ['more than a year of weeks', Array(53).fill(before), /at most 52 responses/],
    ['of another keyword', [before, { ...after, query: { ...after.query, keyword: 'x' } }], /another business, keyword or grid/],
    ['of another middle', [before, { ...after, query: { ...after.query, latitude: 1 } }], /another business, keyword or grid/],
    ['that are none', [before, { ok: true }], /is not a response of \/grank\/grid/],
    ['with more points than a grid has', [before, { ...after, points: Array(50).fill(after.points[0]) }], /is not a response/],
  ])('%s', (_what, list, message) => {
    const parsed = parse(list);
    expect(parsed.error?.issues).toHaveLength(1);
    expect(parsed.error?.issues[0]?.message).toMatch(message);
  });

  it('a million mistakes are told as one', () => {
    expect(parse(Array(40_000).fill({})).error?.issues).toHaveLength(1);
  });
});
