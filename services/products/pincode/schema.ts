import { z } from 'zod';
import { timestampField } from '../../kit/timestamp';
import { normalPlace } from './normal-places';

/** Country and PIN are required. Their valid values depend on the country. */
export const pincodeInput = z.object({
  country: z.string().trim().min(1).describe('Two-letter code: IN, or one of the countries listed in the response to another code.'),
  pin: z.string().describe('The postal code as the country writes it; for India a PIN of six digits or the name of a post office.'),
  format: z
    .enum(['provider', 'normal'])
    .default('provider')
    .describe('provider for the source’s own JSON unchanged, normal for the same form for every source.'),
});

const indianOffice = z.looseObject({
  Name: z.string(),
  BranchType: z.string().nullish(),
  DeliveryStatus: z.string().nullish(),
  District: z.string().nullish(),
  State: z.string().nullish(),
  Country: z.string().nullish(),
  Pincode: z.string().nullish(),
});

const india = z.tuple([
  z
    .looseObject({ Message: z.string(), Status: z.literal('Success'), PostOffice: z.array(indianOffice).min(1) })
    .meta({ title: 'PincodeOfIndia' }),
]);

const zippopotam = z
  .looseObject({
    'post code': z.string(),
    country: z.string(),
    'country abbreviation': z.string(),
    places: z.array(z.looseObject({ 'place name': z.string(), latitude: z.string(), longitude: z.string() })).min(1),
  })
  .meta({ title: 'PincodeOfZippopotam' });

const geonames = z
  .looseObject({ postalcodes: z.array(z.looseObject({ postalcode: z.string(), countryCode: z.string() })).min(1) })
  .meta({ title: 'PincodeOfGeonames' });

const normal = z
  .object({
    status: z.literal('success'),
    data: z.object({
      country: z.string(),
      provider: z.string(),
      coordinates_from: z
        .literal('geonames-file')
        .nullable()
        .describe('Source of coordinates that the provider does not have: GeoNames’ postal codes (CC BY 4.0). Null if none were added.'),
      attribution: z
        .string()
        .nullable()
        .describe('The source to credit, with the licence and the date of the data; null if no source requires it.'),
      places: z.array(normalPlace).min(1),
    }),
    timestamp: timestampField,
  })
  .meta({ title: 'PincodeNormalised' });

/**
 * The provider's JSON unchanged, or the last form with `format=normal`. `X-Upstream-Provider` names the provider. Described for readers,
 * not enforced.
 */
export const pincodeOutput = z.union([india, zippopotam, geonames, normal]);
