import { agreementOf, chooseGuess, type Guess } from './confidence';
import { gradientOf, judgeMask } from './judge-mask';
import { toLab } from './lab';
import { matteOf } from './matte';
import { type OpenCv } from './open-cv';
import { type BinaryMask, boxBlur, fitInto, type Raster, resizeMask, resizeRaster } from './raster';
import { runGrabCut } from './run-grab-cut';
import { BACKGROUND, FOREGROUND, makeSeeds, PROBABLY_BACKGROUND, PROBABLY_FOREGROUND } from './seeds';
import { SIDES } from './sides';
import { tidyMask } from './tidy-mask';

/** Pixels of the longer side on which the five guesses are tried; the outline is then refined on the whole raster. */
const COARSE_SIDE = 256;
/** A guess by colour starts close to its answer: more rounds than these move under 0.2 % of the pixels, and rather away from the truth. */
const COLOUR_ITERATIONS = 2;
/** A guess by shape has farther to go. */
const SHAPE_ITERATIONS = 4;
const REFINING_ITERATIONS = 1;
/** Pixels to either side of the coarse outline in which refining may move it. */
const REFINING_BAND = 3;

export interface Foreground {
  /** 0–1 a pixel. */
  readonly alpha: Float32Array;
  /** 0–1: how clear the cut is; null where the method cannot tell. */
  readonly confidence: number | null;
}

/** No cut-out: its confidence, 0–1, is below what was asked for; 0 where no guess can be believed. */
export interface Unclear {
  readonly alpha: undefined;
  readonly confidence: number;
}

/**
 * Where the guesses that know the border come to the same within this, the portrait is not tried, which takes longest: GrabCut starts it from
 * a shape that fits nothing.
 */
const AGREED = 0.9;

/** Whether all guesses that know the border come to the same foreground. */
function doAgree(masks: readonly BinaryMask[]): boolean {
  const [first, ...others] = masks;
  return first !== undefined && others.every((mask) => agreementOf(first, mask) >= AGREED);
}

/** The most believable of what GrabCut makes of up to five guesses, and how clear it is. */
function bestCoarseMask(cv: OpenCv, raster: Raster, clear: BinaryMask): { mask: BinaryMask; confidence: number } | undefined {
  const lab = toLab(raster);
  const gradient = gradientOf(lab, raster);
  const seeds = makeSeeds(lab, raster, clear);
  const guesses: Guess[] = [];
  const byColour: BinaryMask[] = [];
  for (const { name, mask: start, closedSides } of seeds.guesses) {
    const [isBlind, isShape] = [name === 'portrait', name === 'portrait' || name === 'central'];
    if (isBlind && doAgree(byColour)) continue;
    const mask = tidyMask(runGrabCut(cv, raster, { mask: start, iterations: isShape ? SHAPE_ITERATIONS : COLOUR_ITERATIONS }), raster);
    if (!isShape) byColour.push(mask);
    guesses.push({ mask, score: judgeMask(mask, gradient, { ...raster, closedSides }), isBlind });
  }
  return chooseGuess(guesses, { raster, gradient, distance: seeds.distance });
}

/** Lets GrabCut move the outline within a band; keeps the coarse one where that fits the edges better. */
function refine(cv: OpenCv, raster: Raster, coarse: BinaryMask): BinaryMask {
  const near = boxBlur(coarse, raster, REFINING_BAND);
  const start = coarse.map((value, at) => {
    const mean = near[at] ?? 0;
    if (mean < 0.0001) return BACKGROUND;
    if (mean > 0.9999) return FOREGROUND;
    return value === 1 ? PROBABLY_FOREGROUND : PROBABLY_BACKGROUND;
  });
  const refined = tidyMask(runGrabCut(cv, raster, { mask: start, iterations: REFINING_ITERATIONS }), raster);
  const gradient = gradientOf(toLab(raster), raster);
  const scene = { ...raster, closedSides: SIDES.slice(0, 0) };
  return judgeMask(refined, gradient, scene) >= judgeMask(coarse, gradient, scene) ? refined : coarse;
}

/**
 * Finds the foreground without a trained model: GrabCut from five guesses, the most believable one refined, with a soft outline.
 * @param raster at most about 512 pixels a side: time grows with its area
 * @param wanted `clear` is 1 for pixels that are transparent in the image itself; a cut less clear than `leastConfidence` is not refined
 */
export function findForeground(
  cv: OpenCv,
  raster: Raster,
  { clear, leastConfidence }: { readonly clear: BinaryMask; readonly leastConfidence: number },
): Foreground | Unclear {
  const coarseSize = fitInto(raster, COARSE_SIDE);
  const coarse = bestCoarseMask(cv, resizeRaster(raster, coarseSize), resizeMask(clear, raster, coarseSize));
  if (!coarse) return { alpha: undefined, confidence: 0 };
  if (coarse.confidence < leastConfidence) return { alpha: undefined, confidence: coarse.confidence };
  const enlarged = resizeMask(coarse.mask, coarseSize, raster);
  return { alpha: matteOf(raster, refine(cv, raster, enlarged)), confidence: coarse.confidence };
}
