import { z } from 'zod';
import { countryCodeField, languageCodeField, wordsField } from '../../kit/input/search-words';
import { instantWords, timestampField } from '../../kit/timestamp';

/** An empty field counts as absent, because forms send every field. */
function optional(schema: z.ZodType<string, string>): z.ZodType<string | undefined> {
  return z
    .string()
    .transform((value) => (value.trim() === '' ? undefined : value))
    .pipe(schema.optional())
    .optional();
}

const nearby = z.object({
  keyword: wordsField(200).describe('The search term.'),
  latitude: z.number().min(-90).max(90).describe('Of the centre, in degrees; negative is south.'),
  longitude: z.number().min(-180).max(180).describe('Of the centre, in degrees; negative is west.'),
  radius_km: z.number().gt(0).max(50).default(5).describe('Kilometres around the coordinates.'),
  country_code: optional(countryCodeField).describe('Two-letter code (ISO 3166-1), which places the source prefers.'),
  language_code: optional(languageCodeField).describe('Language code, for example en or en-IN.'),
  max_results: z.number().int().min(1).max(60).default(20).describe('Number of places checked.'),
});
const around = nearby.shape;

/** A grid at a higher latitude would have no meaningful east and west. */
const MAX_LATITUDE = 85;

/** Exactly one of `business_name` and `place_id`. */
export const gridInput = nearby
  .extend({
    latitude: z.number().min(-MAX_LATITUDE).max(MAX_LATITUDE).describe('Of the grid’s middle, in degrees; negative is south.'),
    longitude: around.longitude.describe('Of the grid’s middle, in degrees; negative is west.'),
    radius_km: around.radius_km.describe('Kilometres from the middle to the outermost rows and columns.'),
    max_results: around.max_results.describe('Number of places checked at each point.'),
    business_name: optional(wordsField(200)).describe('The business to find. Exactly one of business_name and place_id is required.'),
    place_id: optional(wordsField(300)).describe(
      'The id of the business at the source. Exactly one of business_name and place_id is required.',
    ),
    size: z.literal([3, 5, 7]).default(7).describe('Points per side: 9, 25 or 49 in all.'),
  })
  .superRefine((input, context) => {
    const complain = (field: string, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
    const { business_name: name, place_id: placeId } = input;
    if (name === undefined && placeId === undefined) complain('business_name', 'is required, or place_id');
    if (name !== undefined && placeId !== undefined) complain('place_id', 'must not be given together with business_name');
  });

const BUSINESS = 'The business to find in the ranking.';

export const searchInput = nearby.extend({
  business_name: optional(wordsField(200)).describe(BUSINESS),
  place_id: optional(wordsField(300)).describe('The id of the place at the source, to find it in the ranking.'),
});
export const positionInput = nearby.extend({ business_name: wordsField(200).describe(BUSINESS) });

/** The upstream's JSON, passed through. Only the flag is certain. */
export const rankingOutput = z.looseObject({ ok: z.boolean() });

const gridPoint = z.object({
  /** Counted from 0, north to south. */
  row: z.number(),
  /** Counted from 0, west to east. */
  column: z.number(),
  latitude: z.number(),
  longitude: z.number(),
  /** Distance from the middle of the grid. */
  distance_km: z.number(),
  status: z.enum(['ok', 'error']),
  /** Counted from 1; null if the business is not among those `checked`, or the point could not be asked. */
  rank: z.number().nullable(),
  place_id: z.string().nullable(),
  /** True if several businesses match and none matches best. */
  ambiguous: z.boolean().nullable(),
  checked: z.number().nullable(),
  /** Reason of an error: `timeout`, `not_asked`, or the failure of the source. */
  reason: z.string().nullable(),
});

/** The worker's result for a grid. */
export const gridData = z.object({
  /** Distance between neighbouring points, and the width of each point's surroundings. */
  spacing_km: z.number(),
  summary: z.object({
    points: z.number(),
    /** Points to which the source responded. The figures below are about these alone. */
    answered: z.number(),
    failed: z.number(),
    found: z.number(),
    ambiguous: z.number(),
    /** Mean over the points where the business was found; null if there are none. */
    average_rank: z.number().nullable(),
    /** Share of the `answered` points at which the business is among the first three, 0 to 1. */
    top_3_share: z.number().nullable(),
  }),
  /** Row by row, from the north-west. */
  points: z.array(gridPoint),
  /** Every business that points matched: one name may belong to several branches. */
  matches: z.array(z.object({ place_id: z.string(), name: z.string(), points: z.number() })),
  source: z.string(),
  source_note: z.string().nullable().describe('What the order of this source does not represent; null if nothing is known about it.'),
});

export const gridOutput = gridData.extend({
  ok: z.literal(true),
  query: z.object({
    keyword: z.string(),
    business_name: z.string().optional(),
    place_id: z.string().optional(),
    latitude: z.number(),
    longitude: z.number(),
    radius_km: z.number(),
    size: z.number(),
    max_results: z.number(),
    country_code: z.string().optional(),
    language_code: z.string().optional(),
  }),
  fetched_at: z.string().describe(instantWords('Time when the source was asked')),
});

export const healthOutput = z.object({
  ok: z.literal(true),
  status: z.literal('success'),
  data: z.object({ worker: z.literal('serving'), workers: z.number(), source: z.string() }),
  timestamp: timestampField,
});
