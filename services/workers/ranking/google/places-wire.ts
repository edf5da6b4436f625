import { z } from 'zod';
import { type Place, type PlaceAddress } from '../place';

/** Everything that any route shows, in every request: the price of a request follows from the mask. */
export const FIELD_MASK = [
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
export const searchTextResponse = z.looseObject({ places: z.array(wirePlace).default([]), nextPageToken: z.string().optional() });

/** The error of every Google API. */
export const googleError = z.looseObject({ error: z.looseObject({ code: z.number(), status: z.string().default('UNKNOWN') }) });

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

/** A place without a name of its own has an empty one: it still holds its rank. */
export function placeOf(wire: WirePlace): Place {
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
