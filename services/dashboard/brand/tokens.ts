import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SHEET = readFileSync(join(__dirname, './tokens.css'), 'utf8');
const PAIR = /^light-dark\((.+), ([^,]+)\)$/;
/** What `rem` is where a page sets nothing else. */
const PX_PER_REM = 16;

/** What a variable of design/tokens.css is on light and on dark pages. */
export interface Token {
  readonly light: string;
  readonly dark: string;
}

/**
 * Reads a variable, for what cannot have variables: mail programs know none.
 * @param name without its dashes, as `quiet`
 * @throws Error naming a variable that is not there
 */
export function readToken(name: string): Token {
  const value = new RegExp(`^ *--${name}: ([^;]+);`, 'm').exec(SHEET)?.[1];
  if (value === undefined) throw new Error(`design/tokens.css has no --${name}`);
  const [, light = value, dark = value] = PAIR.exec(value) ?? [];
  return { light, dark };
}

/** A length in rem as pixels: `16px`. */
export function readPixels(name: string): string {
  return `${Number.parseFloat(readToken(name).light) * PX_PER_REM}px`;
}

/** The variables of the design that a style sheet uses, for a page that loads nothing. */
export function variablesOf(sheet: string): string {
  const used = new Set([...sheet.matchAll(/var\(--([\w-]+)\)/g)].map(([, name]) => name));
  const lines = [...SHEET.matchAll(/^ +--([\w-]+): [^;]+;$/gm)].filter(([, name]) => used.has(name));
  return `:root { color-scheme: light dark; ${lines.map(([line]) => line.trim()).join(' ')} }`;
}
