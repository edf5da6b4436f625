import { z } from 'zod';
import { booleanSetting, listSetting, numberSetting, urlSetting } from '../../../plugins/core/settings';

/**
 * Countries whose postal codes the world provider has, ISO 3166-1 alpha-2 (GF, YT and others have country codes of their own there). India
 * is always supported and has a provider of its own.
 */
export const WORLD_COUNTRIES: readonly string[] = (
  'AD AR AS AT AU BD BE BG BR CA CH CZ DE DK DO ES FI FO FR GB GF GG GL GP GT GU GY HR HU IM IN IS IT JE JP LI LK LT LU MC MD MH MK MP ' +
  'MQ MX MY NL NO NZ PH PK PL PM PR PT RE RU SE SI SJ SK SM TH TR US VA VI YT ZA'
).split(' ');

/** Environment of the pincode service. */
export const pincodeSettings = z
  .object({
    PINCODE_INDIA_URL: urlSetting().default('https://api.postalpincode.in'),
    /** The source for other countries. */
    PINCODE_WORLD_PROVIDER: z.enum(['zippopotam', 'geonames'], 'must be zippopotam or geonames').default('zippopotam'),
    PINCODE_ZIPPOPOTAM_URL: urlSetting().default('https://api.zippopotam.us'),
    PINCODE_GEONAMES_URL: urlSetting().default('https://secure.geonames.org'),
    /** Account for GeoNames. Required if it is the provider. Otherwise, GeoNames is asked if the other provider fails. */
    PINCODE_GEONAMES_USERNAME: z.string().optional(),
    /**
     * GeoNames' postal codes of India, as `npx tollgate data update india_pins` stores them. They are used if India's provider fails, and
     * add coordinates. The file may be created later.
     */
    PINCODE_INDIA_PINS: z.string().optional(),
    /** Whether another source may be used if the first fails: with `format=normal` another provider, in any form the file. */
    PINCODE_FALLBACK: booleanSetting().default(true),
    /** Milliseconds for one request to one provider. */
    PINCODE_TIMEOUT_MS: numberSetting({ min: 100, max: 25_000 }).default(8_000),
    /** Supported countries besides India, comma-separated. */
    PINCODE_COUNTRIES: listSetting()
      .refine((codes) => codes.every((code) => /^[A-Z]{2}$/.test(code)), 'must be two-letter country codes in upper case')
      .default([...WORLD_COUNTRIES]),
  })
  .refine((settings) => settings.PINCODE_WORLD_PROVIDER !== 'geonames' || settings.PINCODE_GEONAMES_USERNAME !== undefined, {
    path: ['PINCODE_GEONAMES_USERNAME'],
    message: 'is required when PINCODE_WORLD_PROVIDER is geonames',
  });

export type PincodeSettings = z.output<typeof pincodeSettings>;
