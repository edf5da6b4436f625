import { createHash } from 'node:crypto';
import { getDomain } from 'tldts';
import { z } from 'zod';
import { ServiceError, invalidInput } from '../../kit/errors';
import { sourceFacts } from './source-facts';
import { type CrawlCall, type EmailCrawl, type SiteEmails, unknownEmails } from './emails/email-crawl';
import { distanceKm } from './distance';
import type { Place } from './place';
import { isInTile, type Tile, tilesOf } from './tiles';
import type { PlacePage, PlaceQuery, RankingUpstream, UpstreamCall } from './ranking-upstream';

interface LeadFilters {
  /** Places without a rating are left out. */
  readonly minRating?: number | undefined;
  /** True: only places with a website. False: only places without one. */
  readonly hasWebsite?: boolean | undefined;
  readonly hasPhone?: boolean | undefined;
  /** Places without reviews count as having 0. */
  readonly minReviews?: number | undefined;
  /** True: only places that are in business. False: only places that are reported closed, temporarily or permanently. */
  readonly isOperational?: boolean | undefined;
  /** True if only places within the radius of the query's centre count. */
  readonly isBounded: boolean;
}

export interface LeadRequest {
  readonly query: PlaceQuery;
  readonly filters: LeadFilters;
  /** From 1 to 60. */
  readonly limit: number;
  readonly pageToken?: string | undefined;
  /** Splits the area around the query's centre into this many tiles a side. Each tile is searched separately. */
  readonly grid?: number | undefined;
}

/** Maximum upstream pages for one request, whatever the filters drop. Google has no more than three. */
const MAX_PAGES = 3;

function isWithin(place: Place, { bias }: PlaceQuery): boolean {
  const { latitude, longitude } = place;
  if (!bias) return true;
  return latitude !== null && longitude !== null && distanceKm(bias.center, { latitude, longitude }) <= bias.radiusKm;
}

function isInside({ latitude, longitude }: Place, tile: Tile): boolean {
  return latitude !== null && longitude !== null && isInTile({ latitude, longitude }, tile);
}

function passes(place: Place, { query, filters }: LeadRequest): boolean {
  const { minRating, minReviews, hasWebsite, hasPhone, isOperational, isBounded } = filters;
  if (minRating !== undefined && (place.rating === null || place.rating < minRating)) return false;
  if (minReviews !== undefined && (place.reviews ?? 0) < minReviews) return false;
  // A place without a known state is neither open nor closed.
  const isOpen = place.businessStatus === null ? undefined : place.businessStatus === 'OPERATIONAL';
  if (isOperational !== undefined && isOpen !== isOperational) return false;
  if (hasWebsite !== undefined && hasWebsite !== (place.website !== null)) return false;
  if (hasPhone !== undefined && hasPhone !== (place.phone !== null || place.internationalPhone !== null)) return false;
  return !isBounded || isWithin(place, query);
}

function leadView(place: Place, { emails, reason }: SiteEmails): Record<string, unknown> {
  const { address } = place;
  return {
    place_id: place.placeId,
    name: place.name,
    category: place.category,
    types: place.types,
    phone: place.phone,
    international_phone: place.internationalPhone,
    website: place.website,
    domain: place.website === null ? null : getDomain(place.website),
    address: {
      formatted: address.formatted,
      street: address.street,
      locality: address.locality,
      region: address.region,
      postal_code: address.postalCode,
      country: address.country,
      country_code: address.countryCode,
    },
    latitude: place.latitude,
    longitude: place.longitude,
    rating: place.rating,
    reviews: place.reviews,
    business_status: place.businessStatus,
    hours: place.hours,
    socials: socialsOf(place.website),
    maps_url: place.mapsUrl,
    emails,
    emails_reason: reason,
  };
}

/** The first page of a request may depend on the caller's token. A refusal is then for the caller to correct. */
async function findPage(upstream: RankingUpstream, query: PlaceQuery, point: PagePoint, call: UpstreamCall): Promise<PlacePage> {
  try {
    return await upstream.findPlaces(query, point.upstreamToken, call);
  } catch (error) {
    const isRejected = error instanceof ServiceError && error.options.members?.['reason'] === 'rejected';
    throw isRejected && point.upstreamToken !== undefined ? invalidPageToken() : error;
  }
}

interface Collected {
  readonly places: readonly Place[];
  readonly next: PagePoint | undefined;
  /** Undefined when the area is not split. */
  readonly tiles: readonly Tile[] | undefined;
}

function queryIn(query: PlaceQuery, tile: Tile | undefined): PlaceQuery {
  if (!tile) return query;
  const { low, high, center, radiusKm } = tile;
  return { ...query, bias: { center, radiusKm }, within: { low, high } };
}

/** The point after a page: the same tile while it has more, else the start of the next tile; undefined at the end. */
function pointAfter({ tile }: PagePoint, nextToken: string | undefined, tiles: number): PagePoint | undefined {
  if (nextToken !== undefined) return { upstreamToken: nextToken, skip: 0, tile };
  return tile + 1 < tiles ? { upstreamToken: undefined, skip: 0, tile: tile + 1 } : undefined;
}

/** Collects each place once. In a split area a place counts only for the tile that contains it. */
async function collect(upstream: RankingUpstream, request: LeadRequest, call: UpstreamCall): Promise<Collected> {
  const { query, limit, pageToken, grid } = request;
  const tiles = grid !== undefined && query.bias ? tilesOf(query.bias, grid) : undefined;
  const places: Place[] = [];
  let point: PagePoint = pageToken === undefined ? { upstreamToken: undefined, skip: 0, tile: 0 } : parsePageToken(request, pageToken);
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const tile = tiles?.[point.tile];
    if (tiles && !tile) throw invalidPageToken();
    const page = await findPage(upstream, queryIn(query, tile), point, call);
    for (const [index, place] of page.places.entries()) {
      if (index < point.skip || !passes(place, request) || (tile && !isInside(place, tile))) continue;
      if (places.length === limit) return { places, next: { ...point, skip: index }, tiles };
      places.push(place);
    }
    const next = pointAfter(point, page.nextToken, tiles?.length ?? 1);
    if (!next) return { places, next, tiles };
    point = next;
    if (places.length === limit) break;
  }
  return { places, next: point, tiles };
}

function emailsFor({ website }: Place, found: ReadonlyMap<string, SiteEmails> | undefined): SiteEmails {
  if (!found) return unknownEmails('not_configured');
  return website === null ? unknownEmails('no_website') : (found.get(website) ?? unknownEmails('timeout'));
}

interface LeadSources {
  readonly upstream: RankingUpstream;
  /** Undefined when no crawl is configured. In that case all `emails` are null. */
  readonly emails: EmailCrawl | undefined;
}

/**
 * Businesses with their contacts, in the upstream's order. `next_page_token` is null when there are no more.
 * @throws ServiceError 422 for a page token that does not fit; 502 and 504 from the upstream
 */
export async function collectLeads(
  { upstream, emails }: LeadSources,
  request: LeadRequest,
  call: CrawlCall,
): Promise<Record<string, unknown>> {
  const { places, next, tiles } = await collect(upstream, request, call);
  const websites = places.flatMap(({ website }) => website ?? []);
  const found = await emails?.findEmails(websites, call);
  return {
    count: places.length,
    leads: places.map((place) => leadView(place, emailsFor(place, found))),
    next_page_token: next ? formatPageToken(request, next) : null,
    tiles: tiles ? { count: tiles.length, searched: next ? next.tile : tiles.length } : null,
    ...sourceFacts(upstream.source, call.mode),
  };
}

/** Where the next page of leads starts. */
interface PagePoint {
  /** The upstream's token of the page; undefined for the first page. */
  readonly upstreamToken: string | undefined;
  /** Number of that page's places that were already examined. */
  readonly skip: number;
  /** Index of the tile, from 0; 0 when the area is not split. */
  readonly tile: number;
}

/** A search that continues from page to page. */
interface PagedQuery {
  readonly query: PlaceQuery;
  /** Tiles a side; undefined when the area is not split. */
  readonly grid?: number | undefined;
}

/** An upstream's token is valid only for its own query, so our token records that query. */
function fingerprint({ query, grid }: PagedQuery): string {
  const { text, bias, countryCode, languageCode } = query;
  const facts = [
    text,
    bias?.center.latitude,
    bias?.center.longitude,
    bias?.radiusKm,
    countryCode,
    languageCode,
    ...(grid === undefined ? [] : [grid]),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 16);
}

/** The tile is absent when the area is not split. */
const wireToken = z.tuple([z.string().length(16), z.int().min(0).max(1_000), z.string(), z.int().min(0).max(1_000).optional()]);

function formatPageToken(search: PagedQuery, { upstreamToken, skip, tile }: PagePoint): string {
  const facts = [fingerprint(search), skip, upstreamToken ?? '', ...(search.grid === undefined ? [] : [tile])];
  return Buffer.from(JSON.stringify(facts)).toString('base64url');
}

function invalidPageToken(): ReturnType<typeof invalidInput> {
  return invalidInput([{ field: 'page_token', message: 'is not one of this search, or has expired' }], 422);
}

/** @throws ServiceError 422 when it is not one of our tokens or belongs to another query */
function parsePageToken(search: PagedQuery, token: string): PagePoint {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw invalidPageToken();
  }
  const parsed = wireToken.safeParse(value);
  if (!parsed.success || parsed.data[0] !== fingerprint(search)) throw invalidPageToken();
  const [, skip, upstreamToken, tile = 0] = parsed.data;
  return { skip, tile, upstreamToken: upstreamToken === '' ? undefined : upstreamToken };
}

/** Networks where businesses keep a page in place of a website, by domain. */
const NETWORKS: ReadonlyMap<string, string> = new Map([
  ['facebook.com', 'facebook'],
  ['fb.com', 'facebook'],
  ['instagram.com', 'instagram'],
  ['linkedin.com', 'linkedin'],
  ['linktr.ee', 'linktree'],
  ['tiktok.com', 'tiktok'],
  ['twitter.com', 'x'],
  ['wa.me', 'whatsapp'],
  ['x.com', 'x'],
  ['youtube.com', 'youtube'],
]);

interface SocialProfile {
  readonly network: string;
  readonly url: string;
}

/** The profiles that a business gives. No source has a member for them, but many given websites are profiles. */
export function socialsOf(website: string | null): readonly SocialProfile[] {
  const network = website === null ? undefined : NETWORKS.get(getDomain(website) ?? '');
  return website === null || network === undefined ? [] : [{ network, url: website }];
}
