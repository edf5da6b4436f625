import { distanceKm } from './distance';
import { matchBusiness, type BusinessMatch, type Candidate, type WantedBusiness } from './match-business';
import { type Place } from './place';
import { type RankQuery } from './ranking-upstream';
import { type SourceFacts } from './source-facts';

/** A place with its rank. */
export interface RankedPlace {
  readonly place: Place;
  /** From 1, in the upstream's order. The radius does not affect it. */
  readonly position: number;
  /** Distance from the given point, to the metre; null when the upstream gives no location. */
  readonly distanceKm: number | null;
  /** Also false for a place without a location. */
  readonly inRadius: boolean;
}

const METRES = 1_000;

/** Keeps the first place of each id. A list that is read page by page may shift and repeat a place. */
export function withoutRepeats(places: readonly Place[]): Place[] {
  const seen = new Set<string>();
  return places.filter(({ placeId }) => !seen.has(placeId) && seen.add(placeId));
}

/** Gives every place of a list its rank and distance. Nothing is dropped: the radius only marks places. */
export function rankPlaces(places: readonly Place[], { center, radiusKm }: Pick<RankQuery, 'center' | 'radiusKm'>): RankedPlace[] {
  return places.map((place, index) => {
    const { latitude, longitude } = place;
    const exact = latitude === null || longitude === null ? null : distanceKm(center, { latitude, longitude });
    const rounded = exact === null ? null : Math.round(exact * METRES) / METRES;
    return { place, position: index + 1, distanceKm: rounded, inRadius: rounded !== null && rounded <= radiusKm };
  });
}

/** The last members of a body of search or position. */
export interface RankingFacts {
  readonly sourceFacts: SourceFacts;
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly fetchedAt: string;
  /** True when the upstream has more places than were examined. */
  readonly truncated: boolean;
}

/** The query, including the defaults that were used. */
function queryView(query: RankQuery): Record<string, unknown> {
  return {
    keyword: query.keyword,
    latitude: query.center.latitude,
    longitude: query.center.longitude,
    radius_km: query.radiusKm,
    max_results: query.maxResults,
    business_name: query.businessName,
    place_id: query.placeId,
    country_code: query.countryCode,
    language_code: query.languageCode,
  };
}

function resultView({ place, position, distanceKm, inRadius }: RankedPlace): Record<string, unknown> {
  return {
    position,
    place_id: place.placeId,
    name: place.name,
    address: place.address.formatted,
    latitude: place.latitude,
    longitude: place.longitude,
    distance_km: distanceKm,
    rating: place.rating,
    reviews: place.reviews,
    phone: place.phone,
    website: place.website,
    types: place.types,
    business_status: place.businessStatus,
    in_radius: inRadius,
  };
}

function competitorView({ place, position, distanceKm, inRadius }: RankedPlace): Record<string, unknown> {
  const { placeId, name, rating, reviews } = place;
  return { position, place_id: placeId, name, distance_km: distanceKm, rating, reviews, in_radius: inRadius };
}

function scoreOf(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}

function candidateViews(candidates: readonly Candidate[], ranked: readonly RankedPlace[]): Record<string, unknown>[] {
  return candidates.flatMap(({ index, score }) => {
    const one = ranked[index];
    return one ? [{ ...competitorView(one), address: one.place.address.formatted, score: scoreOf(score) }] : [];
  });
}

function matchView(match: BusinessMatch, matched: RankedPlace | undefined): Record<string, unknown> | null {
  if (match.kind !== 'found' || !matched) return null;
  return { place_id: matched.place.placeId, name: matched.place.name, method: match.method, score: scoreOf(match.score) };
}

interface Judged {
  readonly match: BusinessMatch;
  readonly matched: RankedPlace | undefined;
  readonly view: Record<string, unknown> | null;
  readonly candidates: readonly Record<string, unknown>[];
}

function judge(ranked: readonly RankedPlace[], wanted: WantedBusiness): Judged {
  const match = matchBusiness(
    ranked.map(({ place }) => place),
    wanted,
  );
  const matched = match.kind === 'found' ? ranked[match.index] : undefined;
  const candidates = match.kind === 'none' ? [] : candidateViews(match.candidates, ranked);
  return { match, matched, view: matchView(match, matched), candidates };
}

/** The body of a search. `match` and `candidates` appear only when a business was named. */
export function searchBody(places: readonly Place[], query: RankQuery, facts: RankingFacts): Record<string, unknown> {
  const ranked = rankPlaces(places, query);
  const wanted = { name: query.businessName, placeId: query.placeId };
  const isAsked = wanted.name !== undefined || wanted.placeId !== undefined;
  const { matched, view, candidates } = judge(ranked, wanted);
  return {
    ok: true,
    query: queryView(query),
    count: ranked.length,
    results: ranked.map(resultView),
    ...(isAsked && { match: view && { ...view, position: matched?.position }, candidates }),
    truncated: facts.truncated,
    ...facts.sourceFacts,
    fetched_at: facts.fetchedAt,
  };
}

/**
 * The body of a position. `position_in_radius` counts only places within the radius; it is null for a business outside. "Not found" is also
 * a success: `found: false`, with the number of places that were `checked`.
 */
export function positionBody(places: readonly Place[], query: RankQuery, facts: RankingFacts): Record<string, unknown> {
  const ranked = rankPlaces(places, query);
  const { matched, view, candidates } = judge(ranked, { name: query.businessName, placeId: query.placeId });
  const above = matched ? ranked.slice(0, matched.position - 1) : [];
  return {
    ok: true,
    query: queryView(query),
    found: matched !== undefined,
    position: matched?.position ?? null,
    position_in_radius: matched?.inRadius ? above.filter(({ inRadius }) => inRadius).length + 1 : null,
    match: view,
    candidates,
    checked: ranked.length,
    competitors_above: above.map(competitorView),
    truncated: facts.truncated,
    ...facts.sourceFacts,
    fetched_at: facts.fetchedAt,
  };
}
