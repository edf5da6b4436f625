import { z } from 'zod';
import { INDIA_FILE, type IndiaFile } from './india-file';
import { type PinQuery } from './parse-pin';
import { parseJson } from './provider';

/** Providers omit members, send null or send something else: all of that reads as unknown. */
const text = z
  .string()
  .transform((value) => (value.trim() === '' ? null : value.trim()))
  .nullish()
  .catch(null)
  .transform((value) => value ?? null);

/** Coordinates may be numbers or text. */
const coordinate = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\s*[+-]?\d/)
      .transform(Number),
  ])
  .pipe(z.number().min(-180).max(180))
  .nullish()
  .catch(null)
  .transform((value) => value ?? null);

const DELIVERY: ReadonlyMap<string, boolean> = new Map([
  ['delivery', true],
  ['non-delivery', false],
]);

const nullableText = z.string().nullable();

/** A place in the form that is the same for every provider; null for facts that the provider does not have. */
export const normalPlace = z
  .object({
    name: nullableText,
    postal_code: nullableText,
    /** Kind of an Indian post office, for example `Sub Post Office`. */
    kind: nullableText,
    /** Whether an Indian post office delivers. */
    delivers: z.boolean().nullable(),
    district: nullableText,
    state: nullableText,
    /** The provider's abbreviation. */
    state_code: nullableText,
    latitude: z.number().nullable(),
    longitude: z.number().nullable(),
  })
  .meta({ title: 'PincodeNormalPlace' });

export type NormalPlace = z.output<typeof normalPlace>;

const UNKNOWN: NormalPlace = {
  name: null, postal_code: null, kind: null, delivers: null, district: null, state: null, state_code: null, latitude: null, longitude: null,
}; // prettier-ignore

const india = z.tuple([
  z.object({
    PostOffice: z.array(
      z
        .object({
          ...{ Name: text, Pincode: text, BranchType: text, DeliveryStatus: text, District: text, State: text },
          // From the file that replaces the source, whose form has no coordinates.
          ...{ Latitude: coordinate, Longitude: coordinate },
        })
        .transform((office): NormalPlace => ({
          ...UNKNOWN,
          name: office.Name,
          postal_code: office.Pincode,
          kind: office.BranchType,
          delivers: DELIVERY.get(office.DeliveryStatus?.toLowerCase() ?? '') ?? null,
          district: office.District,
          state: office.State,
          latitude: office.Latitude,
          longitude: office.Longitude,
        })),
    ),
  }),
]);

const zippopotam = z.object({
  'post code': text,
  places: z.array(z.object({ 'place name': text, state: text, 'state abbreviation': text, latitude: coordinate, longitude: coordinate })),
});

const geonamesPlaces = z.array(
  z
    .object({ placeName: text, postalcode: text, adminName1: text, adminCode1: text, adminName2: text, lat: coordinate, lng: coordinate })
    .transform((place): NormalPlace => ({
      ...UNKNOWN,
      name: place.placeName,
      postal_code: place.postalcode,
      district: place.adminName2,
      state: place.adminName1,
      state_code: place.adminCode1,
      latitude: place.lat,
      longitude: place.lng,
    })),
);

function zippopotamPlaces(json: unknown): NormalPlace[] {
  const { places, 'post code': code } = zippopotam.parse(json);
  return places.map((place) => ({
    ...UNKNOWN,
    name: place['place name'],
    postal_code: code,
    state: place.state,
    state_code: place['state abbreviation'],
    latitude: place.latitude,
    longitude: place.longitude,
  }));
}

/** The list under any of the three spellings in use. */
function geonamesList(json: unknown): unknown {
  const names = ['postalcodes', 'postalCodes', 'postalCode'];
  return typeof json === 'object' && json !== null ? names.map((name): unknown => Reflect.get(json, name)).find(Array.isArray) : undefined;
}

const READERS: Readonly<Record<string, (json: unknown) => NormalPlace[]>> = {
  'postalpincode.in': (json) => india.parse(json)[0].PostOffice,
  [INDIA_FILE]: (json) => india.parse(json)[0].PostOffice,
  'zippopotam.us': zippopotamPlaces,
  'geonames.org': (json) => geonamesPlaces.parse(geonamesList(json)),
};

/**
 * The places of a usable response.
 * @param provider its name in results of the look-up
 * @throws Error for a response that the provider's judge would not call usable
 */
export function normalPlaces(provider: string, body: Buffer): NormalPlace[] {
  const read = READERS[provider];
  if (!read) throw new Error(`the form of ${provider}’s responses is unknown`);
  return read(parseJson(body));
}

const folded = (name: string | null): string =>
  (name ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .trim();

/**
 * Adds the file's coordinates of the place of the same name and PIN, if the provider has none.
 * @returns undefined if the file adds none
 */
export function withCoordinates(places: readonly NormalPlace[], file: IndiaFile): NormalPlace[] | undefined {
  const found = places.map((place): NormalPlace => {
    if (place.latitude !== null || place.postal_code === null) return place;
    const same = file.find(place.postal_code).find(({ name }) => folded(name) === folded(place.name));
    return same ? { ...place, latitude: same.latitude, longitude: same.longitude } : place;
  });
  return found.some((place, index) => place !== places[index]) ? found : undefined;
}

/** ISO 3166-1 alpha-2. */
export function countryOf(query: PinQuery): string {
  return query.kind === 'code' ? query.country : 'IN';
}
