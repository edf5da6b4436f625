import { z } from 'zod';
import { listOf } from '../../kit/input/list-of';
import { timestampField } from '../../kit/timestamp';
import { gridOutput } from './schema';

/** One response a week for a year. */
const MAX_ANSWERS = 52;

const query = gridOutput.shape.query;
const summary = gridOutput.shape.summary.pick({ answered: true, found: true, average_rank: true, top_3_share: true });
const place = gridOutput.shape.points.element.pick({ row: true, column: true, latitude: true, longitude: true });

const answer = z.object({
  query,
  summary,
  points: z.array(place.extend(gridOutput.shape.points.element.pick({ status: true, rank: true }).shape)).max(49),
  source: z.string().max(200),
  source_note: z.string().max(1_000).nullish(),
  fetched_at: z.iso.datetime({ offset: true }),
});

export type GridAnswer = z.output<typeof answer>;

const FACTS = ['keyword', 'latitude', 'longitude', 'radius_km', 'size', 'max_results', 'country_code', 'language_code'] as const;

/** Must be equal for two grids to belong to one history. */
function questionOf({ query: asked }: GridAnswer): string {
  return JSON.stringify([...FACTS.map((name) => asked[name]), asked.business_name, asked.place_id]);
}

export const historyInput = z.object({
  answers: listOf(answer, 'is not a response of /grank/grid')
    .superRefine((answers, context) => {
      const complain = (message: string, ...path: number[]): void => context.addIssue({ code: 'custom', message, path });
      if (answers.length < 2) complain('must have at least two responses');
      if (answers.length > MAX_ANSWERS) complain(`must have at most ${MAX_ANSWERS} responses`);
      const [first] = answers;
      const other = answers.findIndex((each) => first && questionOf(each) !== questionOf(first));
      if (other > 0) complain('asks for another business, keyword or grid than the first', other);
    })
    .meta({
      description:
        'Responses of /grank/grid to the same question, complete or with query, summary, points, source, source_note and fetched_at; in any order.',
      minItems: 2,
      maxItems: MAX_ANSWERS,
    }),
});

const difference = z.number().nullable();

export const historyOutput = z.object({
  ok: z.literal(true),
  query,
  entries: z
    .array(summary.extend({ fetched_at: gridOutput.shape.fetched_at, source: z.string(), source_note: gridOutput.shape.source_note }))
    .describe('The summaries, earliest first.'),
  change: z
    .object({
      average_rank: difference.describe('Negative is better. Covers the points at which the business was found in both.'),
      top_3_share: difference.describe('0.1 means that ten more points of a hundred are among the first three.'),
      same_source: z.boolean().describe('False: the two are from different sources and cannot be compared well.'),
      points: z
        .object({
          better: z.number(),
          same: z.number(),
          worse: z.number(),
          gained: z.number().describe('Found where it was not found before.'),
          lost: z.number(),
          absent: z.number().describe('Found neither before nor after.'),
          unknown: z.number().describe('Without a response in one of the two.'),
        })
        .describe('Number of points of the grid by direction of change.'),
    })
    .describe('The latest response compared with the earliest.'),
  points: z.array(
    place
      .extend({
        answered: z
          .array(z.boolean())
          .describe('One for each entry. False: the point could not be asked at that time, so its rank means nothing.'),
        ranks: z.array(z.number().nullable()).describe('One for each entry; null if the business was not among those checked.'),
      })
      .meta({ title: 'GrankPointHistory' }),
  ),
  timestamp: timestampField,
});

type PlaceHistory = Omit<z.output<typeof historyOutput>, 'ok' | 'timestamp'>;

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
