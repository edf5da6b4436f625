import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { z } from 'zod';
import { EXAMPLE_CONFIG } from '../../kit/read-catalogue';
import { PLAIN_NAME } from './plain-name';
import { readToken } from './tokens';
import { LOGO_TYPES, MAX_LOGO_BYTES, MAX_NAME_CHARACTERS, readBrandFile, type BrandFile } from './brand-file';

/** A picture, as it is sent. */
export interface Logo {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** How an installation shows itself to prospective customers. */
export interface Brand {
  readonly name: string;
  /** `#rrggbb`, the ground of buttons and of the line at the top. */
  readonly colour: string;
  readonly logo: Logo | undefined;
  /** Replaces the logo on dark pages. */
  readonly darkLogo?: Logo | undefined;
  /** Further texts of `brand.yml`. */
  readonly words?: Pick<BrandFile, 'headline' | 'subheadline' | 'support' | 'links' | 'powered_by'> | undefined;
}

const OWN_COLOUR = readToken('accent').light;

export const PLAIN_BRAND: Brand = { name: PLAIN_NAME, colour: OWN_COLOUR, logo: undefined };

/** Each setting takes precedence over `brand.yml`. */
export const brandSettings = z.object({
  /** The seller's folder, with `brand.yml`. */
  TOLLGATE_CONFIG: z.string().optional(),
  DASHBOARD_NAME: z.string().trim().min(1).max(MAX_NAME_CHARACTERS).optional(),
  DASHBOARD_COLOUR: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #3b5bdb')
    .optional(),
  /** Path of a file. */
  DASHBOARD_LOGO: z
    .string()
    .refine((path) => extname(path).toLowerCase() in LOGO_TYPES, 'must be a file that ends in .svg, .png or .webp')
    .optional(),
});

/** The folder with `brand.yml` and the seller's pages; the example's unless the settings name one. */
export const sellerFolder = ({ TOLLGATE_CONFIG }: Pick<z.output<typeof brandSettings>, 'TOLLGATE_CONFIG'>): string =>
  TOLLGATE_CONFIG || EXAMPLE_CONFIG;

/** @throws Error naming what in the folder cannot be used */
export function readBrand(settings: z.output<typeof brandSettings>): Brand {
  const { DASHBOARD_NAME, DASHBOARD_COLOUR, DASHBOARD_LOGO } = settings;
  const file = readBrandFile(sellerFolder(settings));
  const { light, dark } = file?.logo ?? {};
  const logo = DASHBOARD_LOGO ? readLogo(DASHBOARD_LOGO, 'DASHBOARD_LOGO') : light ? readLogo(light, 'logo.light of brand.yml') : undefined;
  return {
    name: DASHBOARD_NAME ?? file?.name ?? PLAIN_BRAND.name,
    colour: (DASHBOARD_COLOUR ?? file?.accent ?? OWN_COLOUR).toLowerCase(),
    logo,
    ...(dark && !DASHBOARD_LOGO && { darkLogo: readLogo(dark, 'logo.dark of brand.yml') }),
    ...(file && { words: file }),
  };
}

function readLogo(path: string, place: string): Logo {
  const bytes = readBytes(path, place);
  if (bytes.length > MAX_LOGO_BYTES) throw new Error(`${place} has more than ${MAX_LOGO_BYTES} bytes`);
  return { bytes, contentType: LOGO_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream' };
}

function readBytes(path: string, place: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new Error(`${place} cannot be read`, { cause });
  }
}
