import { type GridAnswer, type PlaceHistory } from './history-schema';

type Point = GridAnswer['points'][number];
type Way = keyof PlaceHistory['change']['points'];

const nameOf = ({ row, column }: Point): string => `${row} ${column}`;

/** How a point changed; unknown unless both grids have a response for it. */
function wayOf(before: Point | undefined, after: Point | undefined): Way {
  if (before?.status !== 'ok' || after?.status !== 'ok') return 'unknown';
  if (before.rank === null) return after.rank === null ? 'absent' : 'gained';
  if (after.rank === null) return 'lost';
  if (before.rank === after.rank) return 'same';
  return after.rank < before.rank ? 'better' : 'worse';
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : rounded(values.reduce((sum, value) => sum + value, 0) / values.length);
}

/** Compares the latest grid with the earliest, point by point. */
function changeOf(first: GridAnswer, last: GridAnswer): PlaceHistory['change'] {
  const after = new Map(last.points.map((point) => [nameOf(point), point]));
  const ways: Record<Way, number> = { better: 0, same: 0, worse: 0, gained: 0, lost: 0, absent: 0, unknown: 0 };
  const moves: number[] = [];
  for (const point of first.points) {
    const then = after.get(nameOf(point));
    const way = wayOf(point, then);
    ways[way]++;
    if (way === 'better' || way === 'same' || way === 'worse') moves.push((then?.rank ?? 0) - (point.rank ?? 0));
  }
  const [before, now] = [first.summary.top_3_share, last.summary.top_3_share];
  return {
    average_rank: meanOf(moves),
    top_3_share: before === null || now === null ? null : rounded(now - before),
    same_source: first.source === last.source,
    points: ways,
  };
}

/** The history of a business from grids of the same question. @param answers two or more, in any order */
export function placeHistory(answers: readonly GridAnswer[]): PlaceHistory {
  const sorted = answers.toSorted((one, other) => Date.parse(one.fetched_at) - Date.parse(other.fetched_at));
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) throw new Error('a history of no answers');
  const byName = sorted.map(({ points }) => new Map(points.map((point) => [nameOf(point), point])));
  return {
    query: first.query,
    entries: sorted.map(({ fetched_at: at, source, source_note: note = null, summary }) => ({
      ...{ fetched_at: at, source, source_note: note },
      ...summary,
    })),
    change: changeOf(first, last),
    points: first.points.map((point) => {
      const { row, column, latitude, longitude } = point;
      const each = byName.map((points) => points.get(nameOf(point)));
      return {
        row,
        column,
        latitude,
        longitude,
        answered: each.map((then) => then?.status === 'ok'),
        ranks: each.map((then) => (then?.status === 'ok' ? then.rank : null)),
      };
    }),
  };
}
