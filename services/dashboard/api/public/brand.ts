import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { z } from 'zod';
import { PLAIN_NAME } from '../mail/mail-sender';

/** How an installation shows itself to those who consider buying. */
export interface Brand {
  readonly name: string;
  /** `#rrggbb`, the ground of buttons and of the line at the top. */
  readonly colour: string;
  readonly logo: { readonly bytes: Buffer; readonly contentType: string } | undefined;
}

/** The accent of the dashboard itself. */
const OWN_COLOUR = '#3b5bdb';

export const PLAIN_BRAND: Brand = { name: PLAIN_NAME, colour: OWN_COLOUR, logo: undefined };

const LOGO_TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png', '.webp': 'image/webp' };

/** Every page loads it. */
const MOST_LOGO_BYTES = 262_144;
/** It stands in a line with the navigation of a phone. */
const MOST_NAME_CHARACTERS = 40;

export const brandSettings = z.object({
  DASHBOARD_NAME: z.string().trim().min(1).max(MOST_NAME_CHARACTERS).default(PLAIN_BRAND.name),
  DASHBOARD_COLOUR: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #3b5bdb')
    .default(OWN_COLOUR),
  /** A file. */
  DASHBOARD_LOGO: z
    .string()
    .refine((path) => extname(path).toLowerCase() in LOGO_TYPES, 'must be a file that ends in .svg, .png or .webp')
    .optional(),
});

/** @throws Error naming the logo when it cannot be read, or is too large */
export function readBrand({ DASHBOARD_NAME, DASHBOARD_COLOUR, DASHBOARD_LOGO }: z.output<typeof brandSettings>): Brand {
  return { name: DASHBOARD_NAME, colour: DASHBOARD_COLOUR.toLowerCase(), logo: DASHBOARD_LOGO ? readLogo(DASHBOARD_LOGO) : undefined };
}

function readLogo(path: string): Brand['logo'] {
  const bytes = readBytes(path);
  if (bytes.length > MOST_LOGO_BYTES) throw new Error(`DASHBOARD_LOGO has more than ${MOST_LOGO_BYTES} bytes`);
  return { bytes, contentType: LOGO_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream' };
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new Error('DASHBOARD_LOGO cannot be read', { cause });
  }
}
