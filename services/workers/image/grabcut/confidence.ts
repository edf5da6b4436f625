import { type BinaryMask, type Raster, boxBlur, type Size } from '../vision/raster';
import { ramp } from '../vision/rate-mask';
import { outlineOf } from './judge-mask';

/** Intersection over union of two masks; 0 when both are empty. */
export function agreementOf(one: BinaryMask, other: BinaryMask): number {
  let [both, either] = [0, 0];
  for (let at = 0; at < one.length; at++) {
    both += (one[at] ?? 0) & (other[at] ?? 0);
    either += (one[at] ?? 0) | (other[at] ?? 0);
  }
  return either === 0 ? 0 : both / either;
}

/** Levels of each channel, so that there are 4,096 colours. */
const LEVELS = 16;

/** Each pixel's colour as one number. Levels divide the range of each channel in this picture, so that two whites are two colours. */
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

/** The share of colours that foreground and background have in common, from 0 to 1: the overlap of their two histograms. */
function overlapOf(mask: BinaryMask, colours: Uint16Array): number {
  const [front, back] = [new Float64Array(LEVELS ** 3), new Float64Array(LEVELS ** 3)];
  const inside = mask.reduce((sum, value) => sum + value, 0);
  colours.forEach((colour, at) => {
    const [side, total] = mask[at] === 1 ? [front, inside] : [back, mask.length - inside];
    side[colour] = (side[colour] ?? 0) + 1 / total;
  });
  return front.reduce((sum, share, colour) => sum + Math.min(share, back[colour] ?? 0), 0);
}

/**
 * An outline that is this many times as strong as the picture's mean gradient counts fully; an outline as strong as the mean counts for
 * nothing.
 */
const CLEAR_EDGE = 3;

/** How much stronger the outline is than the rest of the picture, from 0 to 1. */
function edgeOf(mask: BinaryMask, raster: Raster, gradient: Float32Array): number {
  const mean = gradient.reduce((sum, value) => sum + value, 0) / gradient.length;
  const { edge } = outlineOf(mask, gradient, raster);
  return mean === 0 ? 0 : Math.min(Math.max((edge / mean - 1) / (CLEAR_EDGE - 1), 0), 1);
}

/** A pixel outside the mask stands out when its distance from the border is at least this share of the foreground's mean distance. */
const STANDS_OUT = 0.6;

/**
 * Area that stands out from the border but is not in the mask, relative to the area of the foreground: for example the uniform below a
 * cut-out face.
 */
function leftOutOf(mask: BinaryMask, distance: Float32Array): number {
  let [sum, area, count] = [0, 0, 0];
  for (let at = 0; at < mask.length; at++) {
    sum += (mask[at] ?? 0) * (distance[at] ?? 0);
    area += mask[at] ?? 0;
  }
  const least = (STANDS_OUT * sum) / area;
  for (let at = 0; at < mask.length; at++) if (mask[at] === 0 && (distance[at] ?? 0) > least) count++;
  return count / area;
}

/** Shares of thin parts between which the confidence falls to 0. GrabCut often errs in legs and stems, and adds strips of a horizon. */
const MIN_THIN = 0.08;
const MAX_THIN = 0.15;

/** GrabCut's result for one guess. */
export interface Guess {
  readonly mask: BinaryMask;
  /** Score of {@link judgeMask}; 0 means not believable. */
  readonly score: number;
  /** True for a shape that ignores colour. Its disagreement says nothing about another guess. */
  readonly isBlind: boolean;
}

interface Scene {
  readonly raster: Raster;
  readonly gradient: Float32Array;
  /** Barrier distance of each pixel to the border. */
  readonly distance: Float32Array;
}

/** The agreement of each guess that uses colours with this guess, from 0 to 1. */
function agreementsWith(guess: Guess, guesses: readonly Guess[]): number[] {
  return guesses.filter((other) => other !== guess && !other.isBlind).map(({ mask }) => agreementOf(guess.mask, mask));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

/**
 * Chooses the most believable guess: along strong edges, similar to the others, with its own colours, and large rather than small, because
 * a part of an object has edges as strong as the whole.
 * @returns undefined when none is believable. `confidence` is from 0 to 1: the agreement of the guess that differs most, reduced by colours
 * that both sides share, a weak outline, thin parts, and areas that stand out but were left out. It is a rank, not a probability.
 */
export function chooseGuess(guesses: readonly Guess[], scene: Scene): { mask: BinaryMask; confidence: number } | undefined {
  const colours = coloursOf(scene.raster);
  let best: { guess: Guess; agreements: readonly number[]; overlap: number } | undefined;
  let most = 0;
  for (const guess of guesses) {
    if (guess.score === 0) continue;
    const [agreements, overlap] = [agreementsWith(guess, guesses), overlapOf(guess.mask, colours)];
    const total = guess.score * mean(agreements) * (1 - overlap) * Math.sqrt(mean([...guess.mask]));
    if (total > most) [best, most] = [{ guess, agreements, overlap }, total];
  }
  if (!best) return undefined;
  const { mask } = best.guess;
  const clear = Math.min(...best.agreements) * (1 - best.overlap) * edgeOf(mask, scene.raster, scene.gradient);
  const solid = ramp(thinShare(mask, scene.raster), MAX_THIN, MIN_THIN);
  return { mask, confidence: (clear * solid) / (1 + leftOutOf(mask, scene.distance)) };
}

/** Half the maximum width of thin parts, as a share of the picture's longer side: 5 pixels of 256. */
const HALF_WIDTH = 0.02;

/**
 * The share of a mask's area that is in thin parts: the area that is lost when the mask is eroded and dilated again. 0 for an empty mask.
 */
export function thinShare(mask: BinaryMask, size: Size): number {
  const radius = Math.max(1, Math.round(HALF_WIDTH * Math.max(size.width, size.height)));
  const eroded = boxBlur(mask, size, radius).map((mean) => (mean > 0.9999 ? 1 : 0));
  const opened = boxBlur(eroded, size, radius);
  let [area, thin] = [0, 0];
  for (let at = 0; at < mask.length; at++) {
    if (mask[at] !== 1) continue;
    area++;
    if ((opened[at] ?? 0) < 0.0001) thin++;
  }
  return area === 0 ? 0 : thin / area;
}
