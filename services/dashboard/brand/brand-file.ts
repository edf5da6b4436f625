import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { linkKind } from './link-target';

export const LOGO_TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png', '.webp': 'image/webp' };
/** Maximum bytes, because every page loads it. */
export const MAX_LOGO_BYTES = 262_144;
/** The name shares a line with the navigation of a phone. */
export const MAX_NAME_CHARACTERS = 40;
const MAX_HEADLINE_CHARACTERS = 80;
const MAX_SUBHEADLINE_CHARACTERS = 240;

const logoFile = z.string().refine((path) => extname(path).toLowerCase() in LOGO_TYPES, 'must be a file that ends in .svg, .png or .webp');
const address = z
  .string()
  .refine(
    (text) => (linkKind(text) === 'place' && text.startsWith('/')) || (linkKind(text) === 'https' && text.startsWith('https://')),
    'must be a URL that starts with https://, or a path of this site that starts with /',
  );

/** `brand.yml`; kong/new-folder/brand.yml describes every member. */
const brandFile = z.strictObject({
  name: z.string().trim().min(1).max(MAX_NAME_CHARACTERS).optional(),
  accent: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as "#3b5bdb"')
    .optional(),
  logo: z.strictObject({ light: logoFile, dark: logoFile.optional() }).optional(),
  headline: z.string().trim().min(1).max(MAX_HEADLINE_CHARACTERS).optional(),
  subheadline: z.string().trim().min(1).max(MAX_SUBHEADLINE_CHARACTERS).optional(),
  support: z.email('must be an email address').optional(),
  links: z
    .strictObject({ terms: address.optional(), privacy: address.optional(), imprint: address.optional(), status: address.optional() })
    .default({}),
  powered_by: z.boolean().default(true),
});

export type BrandFile = z.output<typeof brandFile>;

/**
 * Reads the seller's brand from its folder.
 * @param folder the one that TOLLGATE_CONFIG names
 * @returns undefined when there is no `brand.yml`; logos as absolute paths
 * @throws Error naming the file and everything that is wrong with it
 */
export function readBrandFile(folder: string): BrandFile | undefined {
  const file = join(folder, 'brand.yml');
  if (!existsSync(file)) return undefined;
  let content: unknown;
  try {
    content = parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file} is not valid YAML`, { cause });
  }
  const { data, error } = brandFile.safeParse(content ?? {});
  if (!data) {
    const problems = error.issues.map(({ path, message }) => `  ${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`);
    throw new Error(`${file} cannot be used:\n${problems.join('\n')}`);
  }
  if (!data.logo) return data;
  const { light, dark } = data.logo;
  return { ...data, logo: { light: resolve(dirname(file), light), ...(dark && { dark: resolve(dirname(file), dark) }) } };
}
