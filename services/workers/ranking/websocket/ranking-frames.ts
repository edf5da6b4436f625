import { z } from 'zod';
import { type RankQuery } from '../ranking-upstream';
import { type JsonFrame } from '../../../kit/upstream/json-link';
import { memberText } from '../../../kit/upstream/member-text';

/** The routes that send queries. The upstream may reply to each in its own shape. */
export type RankOperation = 'search' | 'position';

/** The query, in the names of the public parameters. */
export type RankParameters = Readonly<Record<string, string | number | undefined>>;

export function parametersOf(operation: RankOperation, query: RankQuery): RankParameters {
  return {
    operation,
    keyword: query.keyword,
    latitude: query.center.latitude,
    longitude: query.center.longitude,
    business_name: query.businessName,
    radius_km: query.radiusKm,
    place_id: query.placeId,
    country_code: query.countryCode,
    language_code: query.languageCode,
    max_results: query.maxResults,
  };
}

/** `{"type":"rank","id":…,…parameters}` */
export function rankMessage(id: string, parameters: RankParameters): object {
  return { ...parameters, type: 'rank', id };
}

const frame = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('result'), id: z.string(), body: z.looseObject({ ok: z.boolean() }).optional().catch(undefined) }),
  z.looseObject({ type: z.literal('error'), id: z.string().optional() }),
]);
/** Without a type, it can only be a broken reply to the query that it names. */
const untyped = z.object({
  type: z
    .unknown()
    .optional()
    .refine((type) => typeof type !== 'string'),
  id: z.string(),
});

export type RankingFrame =
  /** `bodyText` is absent when the body is not an object with an `ok` flag. */
  | { readonly kind: 'result'; readonly id: string; readonly bodyText: string | undefined }
  /** Without an id it concerns all queries. */
  | { readonly kind: 'error'; readonly id: string | undefined }
  | { readonly kind: 'unknown' };

/** Reads a message from the upstream. Messages of other types are `unknown`, and so is anything but an object. */
export function parseRankingFrame({ text, value }: JsonFrame): RankingFrame {
  const parsed = frame.safeParse(value);
  const broken = untyped.safeParse(value).data;
  if (broken) return { kind: 'result', id: broken.id, bodyText: undefined };
  if (!parsed.success) return { kind: 'unknown' };
  const { data } = parsed;
  if (data.type === 'error') return { kind: 'error', id: data.id };
  return { kind: 'result', id: data.id, bodyText: data.body && memberText(text, 'body') };
}
