import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SHEET = readFileSync(join(__dirname, './tokens.css'), 'utf8');
const PAIR = /^light-dark\((.+), ([^,]+)\)$/;
/** Size of `rem` on a page that does not set it. */
const PX_PER_REM = 16;

/** The value of a variable of design/tokens.css on light and on dark pages. */
export interface DesignToken {
  readonly light: string;
  readonly dark: string;
}

/**
 * Reads a variable for mail programs, which do not support variables.
 * @param name without its dashes, such as `quiet`
 * @throws Error naming a variable that does not exist
 */
export function readToken(name: string): DesignToken {
  const value = new RegExp(`^ *--${name}: ([^;]+);`, 'm').exec(SHEET)?.[1];
  if (value === undefined) throw new Error(`design/tokens.css has no --${name}`);
  const [, light = value, dark = value] = PAIR.exec(value) ?? [];
  return { light, dark };
}

/** A length in rem as pixels: `16px`. */
export function readPixels(name: string): string {
  return `${Number.parseFloat(readToken(name).light) * PX_PER_REM}px`;
}

/** The variables of the design that a style sheet uses, for a page that loads no other file. */
export function variablesOf(sheet: string): string {
  const used = new Set([...sheet.matchAll(/var\(--([\w-]+)\)/g)].map(([, name]) => name));
  const lines = [...SHEET.matchAll(/^ +--([\w-]+): [^;]+;$/gm)].filter(([, name]) => used.has(name));
  return `:root { color-scheme: light dark; ${lines.map(([line]) => line.trim()).join(' ')} }`;
}
