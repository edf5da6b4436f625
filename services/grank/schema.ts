import { z } from 'zod';

/** Text for an upstream: trimmed, not empty, without control characters and broken surrogates. */
function text(most: number): z.ZodType<string, string> {
  return z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((value) => !/[\p{Cc}\p{Cs}]/u.test(value), 'must not hold control characters');
}

/** Forms send every field: an empty one is an absent one. */
function optional(schema: z.ZodType<string, string>): z.ZodType<string | undefined> {
  return z
    .string()
    .transform((value) => (value.trim() === '' ? undefined : value))
    .pipe(schema.optional())
    .optional();
}

const countryCode = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code');
const languageCode = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'must be a language code such as en or en-IN');

const nearby = z.object({
  keyword: text(200),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  /** Kilometres. */
  radius_km: z.number().gt(0).max(50).default(5),
  country_code: optional(countryCode),
  language_code: optional(languageCode),
  max_results: z.number().int().min(1).max(60).default(20),
});

export const searchInput = nearby.extend({ business_name: optional(text(200)), place_id: optional(text(300)) });
export const positionInput = nearby.extend({ business_name: text(200) });

/** The upstream's JSON, passed through; only the flag is certain. */
export const rankingOutput = z.looseObject({ ok: z.boolean() });

export const healthOutput = z.object({
  ok: z.literal(true),
  status: z.literal('success'),
  data: z.object({ worker: z.literal('serving'), workers: z.number(), source: z.string() }),
  timestamp: z.string(),
});
