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
function overlapOf(mask: BinaryMask, colours: Uint16Array): number {
  const [front, back] = [new Float64Array(LEVELS ** 3), new Float64Array(LEVELS ** 3)];
  const inside = mask.reduce((sum, value) => sum + value, 0);
  colours.forEach((colour, at) => {
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

/** A pixel outside stands out when it is this share as far from the border as the foreground is in the mean. */
const STANDS_OUT = 0.6;

/** What stands out from the border though the mask leaves it out, in areas of the foreground: the uniform below a cut-out face. */
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

/** What GrabCut made of one guess. */
export interface Guess {
  readonly mask: BinaryMask;
  /** {@link judgeMask}; 0 is not believable. */
  readonly score: number;
  /** A shape that knows no colour: that it differs says nothing of another guess. */
  readonly isBlind: boolean;
}

export interface Scene {
  readonly raster: Raster;
  readonly gradient: Float32Array;
  /** Barrier distance of each pixel to the border. */
  readonly distance: Float32Array;
}

/** How far the guesses that know colours come to the same as this one, each 0–1. */
function agreementsWith(guess: Guess, guesses: readonly Guess[]): number[] {
  return guesses.filter((other) => other !== guess && !other.isBlind).map(({ mask }) => agreementOf(guess.mask, mask));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

/**
 * The most believable guess: along strong edges, like the others, of colours of its own, and large rather than small, since a part of an object
 * has edges as strong as the whole.
 * @returns undefined when none is believable. `confidence` is 0–1: how far the guess that differs most comes to the same, less the colours
 *   that both sides share, an outline no stronger than the rest of the picture, and what stands out and was left out. A rank, not a
 *   probability.
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
  return { mask, confidence: clear / (1 + leftOutOf(mask, scene.distance)) };
}
