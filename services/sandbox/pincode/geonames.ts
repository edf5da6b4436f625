import { type FastifyReply } from 'fastify';
import { neverAnswer, type SandboxUpstream } from '../sandbox-upstream';
import { findWorldPlaces, MAGIC_CODES } from './world-places';

function failure(value: number, message: string): unknown {
  return { status: { message, value } };
}

function answer(query: { postalcode?: string; country?: string; username?: string }, reply: FastifyReply): unknown {
  const { postalcode = '', country = '', username } = query;
  if (!username) return failure(10, 'user does not exist.');
  switch (postalcode) {
    case MAGIC_CODES.missing:
      return failure(15, 'no result found');
    case MAGIC_CODES.overQuota:
      return failure(
        19,
        'the hourly limit of 1000 credits has been exceeded. Please throttle your requests or use the commercial service.',
      );
    case MAGIC_CODES.notJson:
      return reply.type('text/html').send('<html></html>');
    case MAGIC_CODES.down:
      return failure(22, 'server overloaded');
    case MAGIC_CODES.closed:
      return failure(13, 'database timeout');
    case MAGIC_CODES.silent:
      return neverAnswer(reply);
    default:
      return { postalcodes: findWorldPlaces(country, postalcode).map(placeOf) };
  }
}

function placeOf(place: ReturnType<typeof findWorldPlaces>[number]): unknown {
  return {
    adminName1: place.state,
    adminCode1: place.stateCode,
    postalcode: place.code,
    countryCode: place.country,
    lng: place.longitude,
    lat: place.latitude,
    placeName: place.place,
  };
}

/** GeoNames' postal code look-up. It has the same codes with outcomes as zippopotam. A setting chooses between the two. */
export function createGeonames(): SandboxUpstream {
  return {
    name: 'geonames',
    examples: [],
    routes(app) {
      app.get<{ Querystring: Record<string, string> }>('/postalCodeLookupJSON', (request, reply) => answer(request.query, reply));
    },
  };
}
