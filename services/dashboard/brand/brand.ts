import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { z } from 'zod';
import { EXAMPLE_CONFIG } from '../../kit/read-catalogue';
import { textOn } from './accent';
import { escapeXml } from './escape-xml';
import { PLAIN_NAME } from './plain-name';
import { readToken } from './tokens';
import { LOGO_TYPES, MAX_LOGO_BYTES, MAX_NAME_CHARACTERS, readBrandFile, type BrandFile } from './brand-file';

/** A picture, as it is sent. */
export interface Logo {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** How an installation presents itself to prospective customers. */
export interface Brand {
  readonly name: string;
  /** `#rrggbb`, the background of buttons and of the line at the top. */
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

export type BrandSettings = z.output<typeof brandSettings>;

/** The folder with `brand.yml` and the seller's pages; the example's unless a setting names one. */
export const sellerFolder = ({ TOLLGATE_CONFIG }: Pick<BrandSettings, 'TOLLGATE_CONFIG'>): string => TOLLGATE_CONFIG || EXAMPLE_CONFIG;

/** @throws Error naming each file in the folder that cannot be used */
export function readBrand(settings: BrandSettings): Brand {
  const { DASHBOARD_NAME, DASHBOARD_COLOUR, DASHBOARD_LOGO } = settings;
  const file = readBrandFile(sellerFolder(settings));
  const { light, dark } = file?.logo ?? {};
  const logo = DASHBOARD_LOGO ? readLogo(DASHBOARD_LOGO, 'DASHBOARD_LOGO') : light ? readLogo(light, 'logo.light of brand.yml') : undefined;
  const name = DASHBOARD_NAME ?? file?.name ?? PLAIN_BRAND.name;
  const colour = (DASHBOARD_COLOUR ?? file?.accent ?? OWN_COLOUR).toLowerCase();
  return {
    name,
    colour,
    logo: logo ?? initialOf(name, colour),
    ...(dark && !DASHBOARD_LOGO && { darkLogo: readLogo(dark, 'logo.dark of brand.yml') }),
    ...(file && { words: file }),
  };
}

/**
 * A logo made of the name's first letter in its colour.
 * @returns undefined for our own name, which has our own logo
 */
function initialOf(name: string, colour: string): Logo | undefined {
  const [initial] = new Intl.Segmenter().segment(name.toUpperCase());
  if (name === PLAIN_BRAND.name || !initial) return undefined;
  const letter = `<text x="16" y="23" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="20" fill="${textOn(colour)}">${escapeXml(initial.segment)}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colour}"/>${letter}</svg>`;
  return { bytes: Buffer.from(svg), contentType: 'image/svg+xml' };
}

/** Paths of the brand's pictures; none if `brand.yml` cannot be used. */
export function logoFiles(settings: BrandSettings): string[] {
  if (settings.DASHBOARD_LOGO !== undefined) return [settings.DASHBOARD_LOGO];
  try {
    const { light, dark } = readBrandFile(sellerFolder(settings))?.logo ?? {};
    return [light, dark].filter((file) => file !== undefined);
  } catch {
    return [];
  }
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
