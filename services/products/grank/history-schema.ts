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

export type PlaceHistory = Omit<z.output<typeof historyOutput>, 'ok' | 'timestamp'>;
