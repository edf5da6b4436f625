import { createHash } from 'node:crypto';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  addressAt,
  DEFAULT_POINT,
  locate,
  MAGIC_KEYWORDS,
  magicIn,
  SANDBOX_BUSINESSES,
  type SandboxBusiness,
  type SandboxPoint,
  typeFor,
} from './places-businesses';
import { businessesAt, failsAt, isOfGrids } from './places-landmark';
import { placesExamples } from './places-examples';
import { closeConnection, neverAnswer, type SandboxUpstream } from '../sandbox-upstream';

const WIDEST_CIRCLE_METRES = 50_000;
const MAX_PAGE = 20;

const latLng = z.object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) });

const searchText = z.object({
  textQuery: z.string().min(1),
  languageCode: z.string().optional(),
  regionCode: z.string().length(2).optional(),
  rankPreference: z.enum(['RELEVANCE', 'DISTANCE']).optional(),
  locationBias: z
    .object({
      circle: z.object({
        center: latLng,
        radius: z.number().min(0).max(WIDEST_CIRCLE_METRES),
      }),
    })
    .optional(),
  locationRestriction: z.object({ rectangle: z.object({ low: latLng, high: latLng }) }).optional(),
  pageSize: z.number().int().min(0).default(MAX_PAGE),
  pageToken: z.string().optional(),
});

function fail(reply: FastifyReply, code: number, status: string, message: string): FastifyReply {
  return reply.code(code).send({ error: { code, message, status } });
}

/** A token that is invalid for any other query, like real ones. */
function tokenFor(start: number, textQuery: string): string {
  return Buffer.from(JSON.stringify({ start, textQuery })).toString('base64url');
}

/** @returns the index of the page's first business; undefined for a token that is not this query's */
function startOf(token: string | undefined, textQuery: string): number | undefined {
  if (token === undefined) return 0;
  const start = SANDBOX_BUSINESSES.findIndex((_, index) => tokenFor(index, textQuery) === token);
  return start > 0 ? start : undefined;
}

const HOURS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
  .map((day) => `${day}: 9:00 AM – 6:00 PM`)
  .concat('Sunday: Closed');

type Rectangle = Readonly<Record<'low' | 'high', SandboxPoint>>;

interface Surroundings {
  readonly from: SandboxPoint;
  readonly businesses: readonly SandboxBusiness[];
}

/** Businesses around a point, or those around a rectangle's middle that lie inside it. Every rectangle has its own. */
function surroundingsOf(keyword: string, center: SandboxPoint = DEFAULT_POINT, rectangle?: Rectangle): Surroundings {
  if (!rectangle) return { from: center, businesses: businessesAt(keyword, center) };
  const { low, high } = rectangle;
  const width = (high.longitude - low.longitude + 360) % 360;
  const from = {
    latitude: (low.latitude + high.latitude) / 2,
    longitude: ((low.longitude + width / 2 + 540) % 360) - 180,
  };
  const suffix = createHash('sha256').update(JSON.stringify(rectangle)).digest('hex').slice(0, 6);
  const isInside = (business: SandboxBusiness): boolean => {
    const { latitude, longitude } = locate(business, from);
    return latitude >= low.latitude && latitude <= high.latitude && (longitude - low.longitude + 360) % 360 <= width;
  };
  return { from, businesses: SANDBOX_BUSINESSES.filter(isInside).map((each) => ({ ...each, id: `${each.id}-${suffix}` })) };
}

function fullPlace(business: SandboxBusiness, { from, type }: { from: SandboxPoint; type: string }): Record<string, unknown> {
  const { id, name, rating, reviews, phone, website, status } = business;
  const { area, phonePrefix, countryCode, parts } = addressAt(from);
  const number = Number(/^ChIJsandbox(\d{4})/.exec(business.id)?.[1]);
  return {
    id,
    types: [type, 'point_of_interest', 'establishment'],
    nationalPhoneNumber: phone && `${phonePrefix}${phone}`,
    internationalPhoneNumber: phone && `${countryCode}${phone}`,
    formattedAddress: `${number}, Sandbox Road, ${area}`,
    addressComponents: [
      { longText: String(number), shortText: String(number), types: ['street_number'], languageCode: 'en-US' },
      { longText: 'Sandbox Road', shortText: 'Sandbox Rd', types: ['route'], languageCode: 'en' },
      ...parts.map(([kind, longText, shortText]) => ({ longText, shortText, types: [kind, 'political'], languageCode: 'en' })),
    ],
    location: locate(business, from),
    rating,
    googleMapsUri: `https://maps.google.com/?cid=${1_000 + number}`,
    websiteUri: website,
    businessStatus: status,
    userRatingCount: reviews,
    displayName: { text: name, languageCode: 'en' },
    primaryType: type,
    ...(phone !== undefined && { regularOpeningHours: { openNow: true, weekdayDescriptions: HOURS } }),
  };
}

/** Only the fields of the field mask, so that a field that an adapter forgets to request is missing here too. */
function masked(place: Record<string, unknown>, mask: ReadonlySet<string>): Record<string, unknown> {
  if (mask.has('*') || mask.has('places')) return place;
  const isAsked = (field: string): boolean => [...mask].some((path) => path === `places.${field}` || path.startsWith(`places.${field}.`));
  return Object.fromEntries(Object.entries(place).filter(([field]) => isAsked(field)));
}

function magicAnswer(keyword: string, reply: FastifyReply): unknown {
  switch (keyword) {
    case MAGIC_KEYWORDS.upstreamError:
      return fail(reply, 503, 'UNAVAILABLE', 'The service is currently unavailable.');
    case MAGIC_KEYWORDS.overQuota:
      return fail(reply, 429, 'RESOURCE_EXHAUSTED', "Quota exceeded for quota metric 'SearchTextRequest'.");
    case MAGIC_KEYWORDS.refused:
      return fail(reply, 403, 'PERMISSION_DENIED', 'Places API (New) has not been used in this project before or it is disabled.');
    case MAGIC_KEYWORDS.notJson:
      return reply.type('text/html').send('<!DOCTYPE html><title>Error</title>');
    case MAGIC_KEYWORDS.closed:
      return closeConnection(reply);
    case MAGIC_KEYWORDS.timeout:
      return neverAnswer(reply);
    default:
      return {};
  }
}

function answer(request: FastifyRequest, reply: FastifyReply): unknown {
  const { 'x-goog-api-key': key = '', 'x-goog-fieldmask': fieldMask = '' } = request.headers;
  if (key === '') {
    return fail(reply, 403, 'PERMISSION_DENIED', "Method doesn't allow unregistered callers (callers without established identity).");
  }
  const mask = new Set(String(fieldMask).split(','));
  if (fieldMask === '') {
    return fail(
      reply,
      400,
      'INVALID_ARGUMENT',
      'FieldMask is a required parameter. See https://cloud.google.com/apis/docs/system-parameters',
    );
  }
  const parsed = searchText.safeParse(request.body);
  if (!parsed.success) return fail(reply, 400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.');
  const { textQuery, locationBias, locationRestriction, pageSize, pageToken } = parsed.data;
  if (locationBias && locationRestriction)
    return fail(reply, 400, 'INVALID_ARGUMENT', 'Only one of location_bias and location_restriction can be set.');
  const magic = magicIn(textQuery);
  if (magic !== undefined && !isOfGrids(magic)) return magicAnswer(magic, reply);
  if (failsAt(textQuery, locationBias?.circle.center ?? DEFAULT_POINT)) return magicAnswer(MAGIC_KEYWORDS.upstreamError, reply);
  const start = startOf(pageToken, textQuery);
  if (start === undefined) return fail(reply, 400, 'INVALID_ARGUMENT', 'Invalid page token.');
  const end = start + Math.min(pageSize === 0 ? MAX_PAGE : pageSize, MAX_PAGE);
  const { from, businesses } = surroundingsOf(textQuery, locationBias?.circle.center, locationRestriction?.rectangle);
  const hasMore = end < businesses.length && mask.has('nextPageToken');
  return {
    places: businesses.slice(start, end).map((business) => masked(fullPlace(business, { from, type: typeFor(textQuery) }), mask)),
    ...(hasMore && { nextPageToken: tokenFor(end, textQuery) }),
  };
}

/** Google Places (New): text search. */
export function createGooglePlaces(): SandboxUpstream {
  return {
    name: 'google-places',
    examples: placesExamples,
    routes(app) {
      // A colon in a path is written twice.
      app.post('/v1/places::searchText', answer);
    },
  };
}
