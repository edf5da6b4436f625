import { type Place } from '../../../services/workers/ranking/place';

/** A place with an id, a name and, when given, a location. */
export function placeNamed(name: string, changes: Partial<Place> = {}): Place {
  const nowhere = { street: null, locality: null, region: null, postalCode: null, country: null, countryCode: null };
  return {
    placeId: `id of ${name}`,
    name,
    address: { formatted: null, ...nowhere },
    latitude: null,
    longitude: null,
    rating: null,
    reviews: null,
    phone: null,
    internationalPhone: null,
    website: null,
    mapsUrl: null,
    businessStatus: null,
    category: null,
    types: [],
    hours: null,
    ...changes,
  };
}
