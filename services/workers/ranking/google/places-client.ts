import { ServiceError } from '../../../kit/errors';
import { type UpstreamClient } from '../../../kit/upstream/upstream-client';
import { type PlacePage, type PlaceQuery, type UpstreamCall } from '../ranking-upstream';
import { FIELD_MASK, googleError, placeOf, searchTextResponse } from './places-wire';

/** The most that one page holds. */
const PAGE_SIZE = 20;
/** Metres; Google refuses more. */
const WIDEST_BIAS = 50_000;

/** The same page size for every caller: the order of a list must not hang on how much of it is wanted. */
function bodyOf({ text, bias, within, countryCode, languageCode }: PlaceQuery, pageToken: string | undefined): Record<string, unknown> {
  return {
    textQuery: text,
    ...(languageCode !== undefined && { languageCode }),
    ...(countryCode !== undefined && { regionCode: countryCode }),
    rankPreference: 'RELEVANCE',
    // Google takes one of the two.
    ...(within && { locationRestriction: { rectangle: within } }),
    ...(bias && !within && { locationBias: { circle: { center: bias.center, radius: Math.min(bias.radiusKm * 1_000, WIDEST_BIAS) } } }),
    pageSize: PAGE_SIZE,
    ...(pageToken !== undefined && { pageToken }),
  };
}

const UNUSABLE = 'The source of the ranking answered with something that cannot be used.';

/** Google's own text is left out: it may repeat parts of the request. */
function failureOf(status: number, data: unknown): ServiceError {
  const parsed = googleError.safeParse(data);
  const code = parsed.data?.error.code ?? status;
  const name = parsed.data?.error.status ?? 'UNKNOWN';
  const cause = new Error(`Google Places answered ${status} ${name}`);
  if (code === 504 || name === 'DEADLINE_EXCEEDED') return new ServiceError('upstream_timeout', { cause });
  const fail = (reason: string, detail: string): ServiceError =>
    new ServiceError('upstream_failed', { detail, members: { reason }, cause });
  if (code === 429) return fail('provider_quota', 'The source of the ranking takes no more requests at the moment.');
  if (code >= 400 && code < 500) return fail('rejected', 'The source of the ranking refused the request.');
  return parsed.success ? fail('upstream_error', 'The source of the ranking failed.') : fail('bad_response', UNUSABLE);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * One page of Google Places (New), `places:searchText`.
 * @param key sent in a header, never in the URL
 * @throws ServiceError as {@link RankingUpstream} says
 */
export async function searchText(
  { client, key }: { client: UpstreamClient; key: string },
  query: PlaceQuery,
  token: string | undefined,
  call: UpstreamCall,
): Promise<PlacePage> {
  const { status, bytes } = await client.request({
    mode: call.mode,
    method: 'POST',
    path: '/v1/places:searchText',
    headers: { 'X-Goog-Api-Key': key, 'X-Goog-FieldMask': FIELD_MASK },
    json: bodyOf(query, token),
    signal: call.signal,
    idempotent: true,
  });
  const data = parseJson(bytes);
  if (status !== 200) throw failureOf(status, data);
  const parsed = searchTextResponse.safeParse(data);
  if (!parsed.success) {
    throw new ServiceError('upstream_failed', { detail: UNUSABLE, members: { reason: 'bad_response' }, cause: parsed.error });
  }
  const { places, nextPageToken } = parsed.data;
  return { places: places.map(placeOf), nextToken: nextPageToken === '' ? undefined : nextPageToken };
}
