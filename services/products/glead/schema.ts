import { z } from 'zod';
import { countryCodeField, languageCodeField, wordsField } from '../../kit/input/search-words';
import { timestampField } from '../../kit/timestamp';

const fields = z.object({
  query: wordsField(200).optional().describe('The kind of business. Exactly one of query and keyword is required.'),
  keyword: wordsField(200).optional().describe('Another name for query.'),
  location: wordsField(200).optional().describe('A place in words, for example a town.'),
  latitude: z.number().min(-90).max(90).optional().describe('Of the centre, in degrees; needs longitude too.'),
  longitude: z.number().min(-180).max(180).optional().describe('Of the centre, in degrees; needs latitude too.'),
  /** Leads outside the radius are left out. */
  radius_km: z.number().gt(0).max(50).optional().describe('Kilometres around the coordinates.'),
  country_code: countryCodeField.optional().describe('Two-letter code (ISO 3166-1), which places the source prefers.'),
  language_code: languageCodeField.optional().describe('Language code, for example en or en-IN.'),
  limit: z.number().int().min(1).max(60).default(20).describe('Maximum number of entries in the response.'),
  grid: z
    .number()
    .int()
    .min(2)
    .max(5)
    .optional()
    .describe('Splits the area into this many tiles per side, each with up to 60 results; needs radius_km.'),
  page_token: z
    .string()
    .min(1)
    .max(8_192)
    .optional()
    .describe('next_page_token of the previous response, for the page after it. The search must be the same.'),
  filters: z
    .object({
      min_rating: z.number().min(0).max(5).optional().describe('Only leads with at least this rating.'),
      has_website: z.boolean().optional().describe('true: only leads with a website; false: only leads without.'),
      has_phone: z.boolean().optional().describe('true: only leads with a phone number; false: only leads without.'),
      min_reviews: z.number().int().min(0).max(1_000_000_000).optional().describe('Only leads with at least this many reviews.'),
      operational: z.boolean().optional().describe('true: only leads in business; false: only leads reported as closed.'),
    })
    .optional()
    .describe('Removes leads from the source’s results.'),
});

/** Requires exactly one of `query` and `keyword`, and both coordinates or none. A radius needs coordinates. */
export const leadSearchInput = fields.superRefine((input, context) => {
  const complain = (field: string, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
  if (input.query === undefined && input.keyword === undefined) complain('query', 'is required');
  if (input.query !== undefined && input.keyword !== undefined) complain('keyword', 'must not be given together with query');
  if (input.latitude === undefined && input.longitude !== undefined) complain('latitude', 'is required together with longitude');
  if (input.longitude === undefined && input.latitude !== undefined) complain('longitude', 'is required together with latitude');
  if (input.radius_km !== undefined && (input.latitude === undefined || input.longitude === undefined)) {
    complain('radius_km', 'needs latitude and longitude');
  }
  if (input.grid !== undefined && input.radius_km === undefined) complain('grid', 'needs latitude, longitude and radius_km');
});

const optionalText = z.string().nullable();

const lead = z.object({
  place_id: z.string(),
  name: z.string(),
  category: optionalText,
  types: z.array(z.string()),
  phone: optionalText,
  international_phone: optionalText,
  website: optionalText,
  domain: optionalText,
  address: z.object({
    formatted: optionalText,
    street: optionalText,
    locality: optionalText,
    region: optionalText,
    postal_code: optionalText,
    country: optionalText,
    country_code: optionalText,
  }),
  latitude: z.number().nullable(),
  longitude: z.number().nullable(),
  rating: z.number().nullable(),
  reviews: z.number().nullable(),
  business_status: optionalText,
  /** One text for each weekday, beginning with Monday, in the requested language; null if the source has none. */
  hours: z.array(z.string()).nullable(),
  /** Profiles listed in place of a website. The sources have no others. */
  socials: z.array(z.object({ network: z.string(), url: z.string() })),
  maps_url: optionalText,
  emails: z
    .array(z.string())
    .nullable()
    .describe('Addresses on the website; empty if its pages were read and have none. Null if that is not known.'),
  emails_reason: z
    .string()
    .nullable()
    .describe(
      'Why emails is null: `not_configured` (websites are not read here), `no_website`, `timeout`, `other_site` (the website leads to ' +
        'another), `robots_txt`, or the failure of a page. Null if emails is a list.',
    ),
});

export const leadData = z.object({
  count: z.number(),
  leads: z.array(lead),
  /** Null on the last page. */
  next_page_token: optionalText,
  /** Tiles of a split area, and how many were fully read so far; null without `grid`. */
  tiles: z.object({ count: z.number(), searched: z.number() }).nullable(),
  source: z.string(),
  source_note: z.string().nullable().describe('What the order of this source does not represent; null if nothing is known about it.'),
});

export const leadSearchOutput = z.object({ status: z.literal('success'), data: leadData, timestamp: timestampField });

export const healthOutput = z.object({
  status: z.literal('success'),
  data: z.object({ worker: z.literal('serving'), workers: z.number(), source: z.string() }),
  timestamp: timestampField,
});
