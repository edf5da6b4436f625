import { outlineOf } from './judge-mask';
import { type BinaryMask, type Raster } from './raster';

/** Intersection over union of two masks; 0 when both are empty. */
export function agreementOf(one: BinaryMask, other: BinaryMask): number {
  let [both, either] = [0, 0];
  for (let at = 0; at < one.length; at++) {
    both += (one[at] ?? 0) & (other[at] ?? 0);
    either += (one[at] ?? 0) | (other[at] ?? 0);
  }
  return either === 0 ? 0 : both / either;
}

/** Levels a channel, so that a colour is one of 4,096. */
const LEVELS = 16;

/** Each pixel's colour as one number. Levels divide what a channel ranges over in this picture: two kinds of white are two colours. */
function coloursOf({ rgb }: Raster): Uint16Array {
  const colours = new Uint16Array(rgb.length / 3);
  for (const channel of [0, 1, 2]) {
    let [least, most] = [255, 0];
    for (let at = channel; at < rgb.length; at += 3) {
      least = Math.min(least, rgb[at] ?? 0);
      most = Math.max(most, rgb[at] ?? 0);
    }
    const step = LEVELS / (most - least + 1);
    colours.forEach((colour, at) => (colours[at] = colour * LEVELS + Math.floor(((rgb[at * 3 + channel] ?? 0) - least) * step)));
  }
  return colours;
}

/** The share of their colours that foreground and background have in common, 0–1: what their two histograms overlap. */
function overlapOf(mask: BinaryMask, raster: Raster): number {
  const [front, back] = [new Float64Array(LEVELS ** 3), new Float64Array(LEVELS ** 3)];
  const inside = mask.reduce((sum, value) => sum + value, 0);
  coloursOf(raster).forEach((colour, at) => {
    const [side, total] = mask[at] === 1 ? [front, inside] : [back, mask.length - inside];
    side[colour] = (side[colour] ?? 0) + 1 / total;
  });
  return front.reduce((sum, share, colour) => sum + Math.min(share, back[colour] ?? 0), 0);
}

/** An outline this many times as strong as the picture's mean gradient is one; the strength of the mean itself is none. */
const CLEAR_EDGE = 3;

/** How much stronger the outline is than the rest of the picture, 0–1. */
function edgeOf(mask: BinaryMask, raster: Raster, gradient: Float32Array): number {
  const mean = gradient.reduce((sum, value) => sum + value, 0) / gradient.length;
  const { edge } = outlineOf(mask, gradient, raster);
  return mean === 0 ? 0 : Math.min(Math.max((edge / mean - 1) / (CLEAR_EDGE - 1), 0), 1);
}

/**
 * How clear a cut is, 0–1: how far the other guesses come to the same foreground, less the colours that both sides share, less an outline
 * that is no stronger than the rest of the picture. A rank, not a probability. docs/products.md has what it says of 76 composites.
 * @param others masks of the guesses that follow colours
 */
export function confidenceIn(
  mask: BinaryMask,
  { others, raster, gradient }: { readonly others: readonly BinaryMask[]; readonly raster: Raster; readonly gradient: Float32Array },
): number {
  if (others.length === 0) return 0;
  const agreement = others.reduce((sum, other) => sum + agreementOf(mask, other), 0) / others.length;
  return agreement * (1 - overlapOf(mask, raster)) * edgeOf(mask, raster, gradient);
}
