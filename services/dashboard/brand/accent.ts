import { readToken, type DesignToken } from './tokens';

/** WCAG 2.2: contrast for text of usual size. */
const READABLE = 4.5;
/** The background on which a link is hardest to read. */
const HARDEST_GROUND = readToken('code');
const STEPS = 20;

const partsOf = (colour: string): number[] => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

/** Relative luminance (WCAG 2.2) of `#rrggbb`. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The luminance at which black and white have equal contrast: √(1.05 · 0.05) − 0.05. Both reach 4.5 to 1 there. */
const LIGHT_GROUND = 0.179;

/** Black or white, whichever is readable on a colour `#rrggbb`. */
export function textOn(colour: string): string {
  return luminance(colour) > LIGHT_GROUND ? '#000' : '#fff';
}

/** The colour, with as much black or white as it needs to be readable on a ground. */
function readableOn(ground: string, colour: string, towards: 0 | 255): string {
  for (let step = 0; step <= STEPS; step++) {
    const mixed = partsOf(colour).map((part) => Math.round(part + ((towards - part) * step) / STEPS));
    const hex = `#${mixed.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
    if (contrast(hex, ground) >= READABLE) return hex;
  }
  return towards === 0 ? '#000000' : '#ffffff';
}

/** The accent in a shade that is readable as the colour of a link. */
export function linkColour(colour: string): DesignToken {
  return { light: readableOn(HARDEST_GROUND.light, colour, 0), dark: readableOn(HARDEST_GROUND.dark, colour, 255) };
}

const SERIES = ['chart-2', 'chart-3', 'chart-4', 'chart-5', 'chart-6', 'chart-7'];

/** How far apart two colours `#rrggbb` are, without a unit. */
function distance(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)];
  return Math.hypot(...left.map((part, at) => part - (right[at] ?? 0)));
}

/** The first colour of charts is the accent. Our colour that is most like it is dropped, so that every two still differ. */
function chartColours(accent: DesignToken): string {
  const nearest = SERIES.map((name) => ({ name, apart: distance(readToken(name).light, accent.light) })).sort(
    (a, b) => a.apart - b.apart,
  )[0];
  const own = readToken('chart-1');
  const first = `--chart-1:light-dark(${accent.light}, ${accent.dark})`;
  if (!nearest || distance(own.light, accent.light) <= nearest.apart) return first;
  return `${first};--${nearest.name}:light-dark(${own.light}, ${own.dark})`;
}

/**
 * The variables of design/tokens.css that follow from a seller's accent `#rrggbb`. `:root:root` makes them win wherever the file is linked.
 */
export function accentSheet(colour: string): string {
  const { light, dark } = linkColour(colour);
  const surface = readToken('surface');
  const ground = `light-dark(color-mix(in srgb, ${colour} 9%, ${surface.light}), color-mix(in srgb, ${colour} 18%, ${surface.dark}))`;
  return `:root:root{--accent:${colour};--on-accent:${textOn(colour)};--link:light-dark(${light}, ${dark});--accent-ground:${ground};${chartColours({ light, dark })}}\n`;
}
