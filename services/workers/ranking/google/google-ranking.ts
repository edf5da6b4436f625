import { z } from 'zod';
import { type Clock, type KeyMode } from '../../../../plugins/core/ports';
import { formatInstant } from '../../../kit/timestamp';
import { type UpstreamClient } from '../../../kit/upstream/upstream-client';
import { ServiceError } from '../../../kit/errors';
import { sourceFacts } from '../source-facts';
import { matchFirmly } from '../match-business';
import { type Place, type PlaceAddress } from '../place';
import { positionBody, type RankingFacts, searchBody, withoutRepeats } from '../rank-places';
import { type PlaceQuery, type RankingUpstream, type RankQuery, type UpstreamCall, type PlacePage } from '../ranking-upstream';

const SOURCE = 'google_places';

interface GoogleRankingOptions {
  readonly client: UpstreamClient;
  /** The live key is never sent to the sandbox. */
  readonly keys: Readonly<Record<KeyMode, string>>;
  readonly clock: Clock;
}

interface Found {
  readonly places: readonly Place[];
  readonly truncated: boolean;
}

function placeQueryOf(query: RankQuery): PlaceQuery {
  const { keyword, center, radiusKm, countryCode, languageCode } = query;
  return { text: keyword, bias: { center, radiusKm }, countryCode, languageCode };
}

/** Computes rankings from the order in which Google Places lists businesses. */
export function createGoogleRanking({ client, keys, clock }: GoogleRankingOptions): RankingUpstream {
  const findPage = (query: PlaceQuery, token: string | undefined, call: UpstreamCall): ReturnType<typeof searchText> =>
    searchText({ client, key: keys[call.mode] }, query, token, call);

  /** Reads pages until there are `maxResults` places, enough places, or no more pages: every page costs money. */
  async function findRanked(query: RankQuery, call: UpstreamCall, isEnough: (places: readonly Place[]) => boolean): Promise<Found> {
    let places: Place[] = [];
    let token: string | undefined;
    do {
      const page = await findPage(placeQueryOf(query), token, call);
      const known = places.length;
      places = withoutRepeats([...places, ...page.places]);
      // Without this check, a page without new places could be followed for ever.
      token = places.length > known ? page.nextToken : undefined;
    } while (token !== undefined && places.length < query.maxResults && !isEnough(places));
    return { places: places.slice(0, query.maxResults), truncated: token !== undefined || places.length > query.maxResults };
  }

  const factsOf = ({ truncated }: Found, { mode }: UpstreamCall): RankingFacts => {
    return { sourceFacts: sourceFacts(SOURCE, mode), fetchedAt: formatInstant(clock.now()), truncated };
  };

  return {
    source: SOURCE,
    async search(query, call) {
      const found = await findRanked(query, call, () => false);
      return JSON.stringify(searchBody(found.places, query, factsOf(found, call)));
    },
    async position(query, call) {
      const wanted = { name: query.businessName, placeId: query.placeId };
      const found = await findRanked(query, call, (places) => matchFirmly(places, wanted) !== undefined);
      return JSON.stringify(positionBody(found.places, query, factsOf(found, call)));
    },
    findPlaces: findPage,
    close: () => client.close(),
  };
}

/** Places that one page can hold. */
const PAGE_SIZE = 20;
/** Metres. Google refuses more. */
const WIDEST_BIAS = 50_000;

/** Every caller gets the same page size, because the order of a list must not depend on the requested length. */
function bodyOf({ text, bias, within, countryCode, languageCode }: PlaceQuery, pageToken: string | undefined): Record<string, unknown> {
  return {
    textQuery: text,
    ...(languageCode !== undefined && { languageCode }),
    ...(countryCode !== undefined && { regionCode: countryCode }),
    rankPreference: 'RELEVANCE',
    // Google accepts only one of the two.
    ...(within && { locationRestriction: { rectangle: within } }),
    ...(bias && !within && { locationBias: { circle: { center: bias.center, radius: Math.min(bias.radiusKm * 1_000, WIDEST_BIAS) } } }),
    pageSize: PAGE_SIZE,
    ...(pageToken !== undefined && { pageToken }),
  };
}

const UNUSABLE = 'The source of the ranking sent an unusable response.';

/** Omits Google's own text, which may repeat parts of the request. */
function failureOf(status: number, data: unknown): ServiceError {
  const parsed = googleError.safeParse(data);
  const code = parsed.data?.error.code ?? status;
  const name = parsed.data?.error.status ?? 'UNKNOWN';
  const cause = new Error(`Google Places responded with ${status} ${name}`);
  if (code === 504 || name === 'DEADLINE_EXCEEDED') return new ServiceError('upstream_timeout', { cause });
  const fail = (reason: string, detail: string): ServiceError =>
    new ServiceError('upstream_failed', { detail, members: { reason }, cause });
  if (code === 429) return fail('provider_quota', 'The source of the ranking accepts no more requests at present.');
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
 * Fetches one page of Google Places (New), `places:searchText`.
 * @param key sent in a header, never in the URL
 * @throws ServiceError as for {@link RankingUpstream}
 */
async function searchText(
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

/** All fields that any route shows. Every request uses the same mask. The price of a request depends on the mask. */
const FIELD_MASK = [
  ...[
    'id', 'displayName', 'formattedAddress', 'addressComponents', 'location', 'rating', 'userRatingCount', 'nationalPhoneNumber',
    'internationalPhoneNumber', 'websiteUri', 'googleMapsUri', 'businessStatus', 'primaryType', 'types',
    'regularOpeningHours.weekdayDescriptions',
  ].map((field) => `places.${field}`),
  'nextPageToken',
].join(','); // prettier-ignore

const component = z.looseObject({
  longText: z.string().optional(),
  shortText: z.string().optional(),
  types: z.array(z.string()).default([]),
});

const wirePlace = z.looseObject({
  id: z.string().min(1),
  displayName: z.looseObject({ text: z.string() }).optional(),
  formattedAddress: z.string().optional(),
  addressComponents: z.array(component).default([]),
  location: z.looseObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) }).optional(),
  rating: z.number().optional(),
  userRatingCount: z.number().int().optional(),
  nationalPhoneNumber: z.string().optional(),
  internationalPhoneNumber: z.string().optional(),
  websiteUri: z.string().optional(),
  googleMapsUri: z.string().optional(),
  businessStatus: z.string().optional(),
  primaryType: z.string().optional(),
  types: z.array(z.string()).default([]),
  regularOpeningHours: z.looseObject({ weekdayDescriptions: z.array(z.string()).optional() }).optional(),
});

/** A response of `places:searchText`. A search without results is `{}`. */
const searchTextResponse = z.looseObject({ places: z.array(wirePlace).default([]), nextPageToken: z.string().optional() });

/** The error format of every Google API. */
const googleError = z.looseObject({ error: z.looseObject({ code: z.number(), status: z.string().default('UNKNOWN') }) });

type WirePlace = z.output<typeof wirePlace>;

function addressOf({ formattedAddress, addressComponents }: WirePlace): PlaceAddress {
  const find = (type: string): z.output<typeof component> | undefined => addressComponents.find(({ types }) => types.includes(type));
  const long = (type: string): string | undefined => find(type)?.longText;
  const street = [long('street_number'), long('route')].filter((part) => part !== undefined).join(' ');
  return {
    formatted: formattedAddress ?? null,
    street: street === '' ? null : street,
    locality: long('locality') ?? long('postal_town') ?? null,
    region: long('administrative_area_level_1') ?? null,
    postalCode: long('postal_code') ?? null,
    country: long('country') ?? null,
    countryCode: find('country')?.shortText ?? null,
  };
}

/** A place without a name gets an empty one, because it still has a rank. */
function placeOf(wire: WirePlace): Place {
  return {
    placeId: wire.id,
    name: wire.displayName?.text ?? '',
    address: addressOf(wire),
    latitude: wire.location?.latitude ?? null,
    longitude: wire.location?.longitude ?? null,
    rating: wire.rating ?? null,
    reviews: wire.userRatingCount ?? null,
    phone: wire.nationalPhoneNumber ?? null,
    internationalPhone: wire.internationalPhoneNumber ?? null,
    website: wire.websiteUri ?? null,
    mapsUrl: wire.googleMapsUri ?? null,
    businessStatus: wire.businessStatus ?? null,
    category: wire.primaryType ?? wire.types[0] ?? null,
    types: wire.types,
    hours: wire.regularOpeningHours?.weekdayDescriptions ?? null,
  };
}
