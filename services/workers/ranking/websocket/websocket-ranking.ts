import { z } from 'zod';
import { ServiceError } from '../../../kit/errors';
import { type Log } from '../../../kit/log';
import { type Metrics } from '../../../kit/metrics';
import { type LinkTimings } from '../../../kit/upstream/link-connection';
import { LinksByMode, type LinkTarget } from '../../../kit/upstream/links-by-mode';
import { type Place } from '../place';
import { type PlaceQuery, type RankingUpstream } from '../ranking-upstream';
import { parametersOf, type RankParameters } from './ranking-frames';
import { RankingLink } from './ranking-link';

export interface WebSocketRankingOptions {
  readonly target: LinkTarget;
  readonly timings: LinkTimings;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}

/** The upstream has no pages, so everything is requested at once. */
const MAX_RESULTS = 60;

const text = z.string().nullish().catch(null);
const number = z.number().nullish().catch(null);
const result = z.looseObject({
  place_id: z.string(),
  name: z.string(),
  address: text,
  latitude: number,
  longitude: number,
  rating: number,
  reviews: number,
  phone: text,
  website: text,
  types: z.array(z.string()).catch([]),
  business_status: text,
});
const rankedBody = z.looseObject({ ok: z.literal(true), results: z.array(result) });

function placeOf(wire: z.output<typeof result>): Place {
  const unknown = { street: null, locality: null, region: null, postalCode: null, country: null, countryCode: null };
  const phone = wire.phone ?? null;
  return {
    placeId: wire.place_id,
    name: wire.name,
    address: { formatted: wire.address ?? null, ...unknown },
    latitude: wire.latitude ?? null,
    longitude: wire.longitude ?? null,
    rating: wire.rating ?? null,
    reviews: wire.reviews ?? null,
    phone,
    internationalPhone: phone?.startsWith('+') ? phone : null,
    website: wire.website ?? null,
    mapsUrl: null,
    hours: null,
    businessStatus: wire.business_status ?? null,
    category: wire.types[0] ?? null,
    types: wire.types,
  };
}

function leadParameters({ text: keyword, bias, countryCode, languageCode }: PlaceQuery): RankParameters {
  return {
    operation: 'search',
    keyword,
    latitude: bias?.center.latitude,
    longitude: bias?.center.longitude,
    radius_km: bias?.radiusKm,
    country_code: countryCode,
    language_code: languageCode,
    max_results: MAX_RESULTS,
  };
}

/** @throws ServiceError `upstream_failed` when the body holds no list of businesses */
function placesIn(bodyText: string): Place[] {
  const parsed = rankedBody.safeParse(JSON.parse(bodyText));
  if (parsed.success) return parsed.data.results.map(placeOf);
  const detail = 'The source of the ranking responded without a list of businesses.';
  throw new ServiceError('upstream_failed', { detail, members: { reason: 'bad_response' }, cause: parsed.error });
}

/** A ranking upstream that does all the work. Its bodies are passed through. Leads are read from the results of its search. */
export function createWebSocketRanking({ target, ...options }: WebSocketRankingOptions): RankingUpstream {
  const links = new LinksByMode(target, (place) => new RankingLink({ ...options, ...place }));
  return {
    source: 'ranking_websocket',
    search: async (query, call) => links.linkFor(call.mode).ask(parametersOf('search', query), call.signal),
    position: async (query, call) => links.linkFor(call.mode).ask(parametersOf('position', query), call.signal),
    findPlaces: async (query, _token, call) => ({
      places: placesIn(await links.linkFor(call.mode).ask(leadParameters(query), call.signal)),
    }),
    close: () => {
      links.close();
      return Promise.resolve();
    },
  };
}
