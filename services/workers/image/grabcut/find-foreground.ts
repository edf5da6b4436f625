import type { Foreground, Unclear } from '../cut-out-job';
import { CERTAIN_FROM } from '../limits';
import { type PersonFinder, type PersonMask, ratePerson, unopposed } from '../person/rate-person';
import { fillHoles } from '../vision/holes';
import { matteOf } from '../vision/matte';
import type { OpenCv } from '../vision/open-cv';
import { findPieces } from '../vision/pieces';
import { type BinaryMask, boxBlur, fitInto, type Raster, resizeMask, resizeRaster, type Size, toMask } from '../vision/raster';
import { factsOf, ramp } from '../vision/rate-mask';
import { SIDES, stripOf, stripThickness } from '../vision/sides';
import { agreementOf, chooseGuess, type Guess } from './confidence';
import { gradientOf, judgeMask } from './judge-mask';
import { toLab } from './lab';
import { BACKGROUND, FOREGROUND, makeSeeds, PROBABLY_BACKGROUND, PROBABLY_FOREGROUND } from './seeds';

/** Pixels of the longer side at which the five guesses are tried. The outline is then refined on the whole raster. */
const COARSE_SIDE = 256;
/** A guess by colour starts close to its result. More rounds move under 0.2 % of the pixels, and more often away from the truth. */
const COLOUR_ITERATIONS = 2;
/** A guess by shape starts farther from its result. */
const SHAPE_ITERATIONS = 4;
const REFINING_ITERATIONS = 1;
/** Pixels to either side of the coarse outline within which refining may move it. */
const REFINING_BAND = 3;

/**
 * If the guesses that know the border agree this much, the portrait is not tried. It takes longest, because GrabCut starts from a shape
 * that fits nothing.
 */
const AGREED = 0.9;

/** True when all guesses that know the border find the same foreground. */
function doAgree(masks: readonly BinaryMask[]): boolean {
  const [first, ...others] = masks;
  return first !== undefined && others.every((mask) => agreementOf(first, mask) >= AGREED);
}

/** The most believable result of GrabCut from up to five guesses, with its confidence. */
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

/** Lets GrabCut move the outline within a band, and keeps the coarse outline if that fits the edges better. */
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

/** A mask of the raster's proportions. */
interface Coarse extends Size {
  readonly mask: BinaryMask;
  readonly confidence: number;
  readonly engine: string;
}

/** Pixels by which an outline is moved outwards and inwards to see whether GrabCut finds it again. */
const MOVED = 8;
/** Pixels of the longer side. In a smaller picture, little remains of an outline that was moved this far. */
const MIN_MOVABLE = 128;
/** Agreements between which the confidence rises from 0. Wrong cut-outs agreed by at most 0.86; right ones, except two, by 0.92. */
const UNSTEADY = 0.8;
const STEADY = 0.9;

/** Maximum steps of 255 by which a flat colour is moved up or down. Photographs have as much noise of their own. */
const GRAIN = 4;

/**
 * Share of pixels equal to the pixel to their right, above which a picture counts as a drawing. Photographs have up to 0.72, flat drawings
 * from 0.9.
 */
const MIN_DRAWN = 0.8;

function isDrawn({ rgb }: Raster): boolean {
  let alike = 0;
  for (let at = 0; at + 5 < rgb.length; at += 3) {
    if (rgb[at] === rgb[at + 3] && rgb[at + 1] === rgb[at + 4] && rgb[at + 2] === rgb[at + 5]) alike++;
  }
  return alike > (MIN_DRAWN * rgb.length) / 3;
}

/**
 * Colours with grain, the same each time. GrabCut's model of one flat colour is so narrow that only the pixels nearest to an outline would
 * decide.
 */
function withGrain(rgb: Uint8Array): Uint8Array {
  let state = RANDOM_SEED;
  return rgb.map((value) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.min(Math.max(value + ((state >>> 24) % (2 * GRAIN + 1)) - GRAIN, 0), 255);
  });
}

/**
 * How well GrabCut finds a mask again from a larger and from a smaller one, from 0 to 1. Parts of an object that were left out come back.
 */
function steadinessOf(cv: OpenCv, raster: Raster, mask: BinaryMask): number {
  if (Math.max(raster.width, raster.height) < MIN_MOVABLE) return 1;
  const near = boxBlur(mask, raster, MOVED);
  const grained = isDrawn(raster) ? { ...raster, rgb: withGrain(raster.rgb) } : raster;
  const strip = stripOf(SIDES, { ...raster, thickness: stripThickness(raster) });
  const agreements = [0.02, 0.98].map((least) => {
    const start = Uint8Array.from(near, (mean) => (mean > least ? PROBABLY_FOREGROUND : PROBABLY_BACKGROUND));
    for (const at of strip) if (mask[at] === 0) start[at] = BACKGROUND;
    return agreementOf(mask, tidyMask(runGrabCut(cv, grained, { mask: start, iterations: COLOUR_ITERATIONS }), raster));
  });
  return ramp(Math.min(...agreements), UNSTEADY, STEADY);
}

/** The people model's cut, and the share of GrabCut's confidence that remains. */
function secondOpinion(person: PersonMask, found: Coarse | undefined): { readonly cut: Coarse; readonly left: number } {
  const { alpha, width, height } = person;
  const mask = toMask(alpha);
  const agreement = found ? agreementOf(found.mask, resizeMask(mask, person, found)) : 0;
  const facts = factsOf(alpha, person);
  const cut = { mask, width, height, confidence: ratePerson(facts, agreement), engine: 'selfie_segmentation' };
  return { cut, left: unopposed(facts, agreement) };
}

/** The clearer of GrabCut's mask and the people model's. Neither is a cut-out yet. */
function bestCoarse(cv: OpenCv, raster: Raster, { clear, findPerson, leastConfidence }: Wanted): Coarse | undefined {
  const size = fitInto(raster, COARSE_SIDE);
  const small = resizeRaster(raster, size);
  const best = bestCoarseMask(cv, small, resizeMask(clear, raster, size));
  const found = best && { ...best, ...size, engine: 'grabcut' };
  const second = findPerson && secondOpinion(findPerson(raster), found);
  if (!found) return second?.cut;
  const confidence = found.confidence * (second?.left ?? 1);
  if (second && second.cut.confidence > confidence) return second.cut;
  if (confidence < Math.max(leastConfidence, CERTAIN_FROM)) return { ...found, confidence };
  const steady = confidence * steadinessOf(cv, small, found.mask);
  return second && second.cut.confidence > steady ? second.cut : { ...found, confidence: steady };
}

export interface Wanted {
  /** 1 for pixels that are transparent in the picture itself. */
  readonly clear: BinaryMask;
  /** A cut with less confidence than this is not refined. */
  readonly leastConfidence: number;
  /** The people model. Without it, GrabCut alone decides. */
  readonly findPerson?: PersonFinder;
}

/**
 * Finds the foreground: GrabCut from five guesses, or the people model if that is clearer. The outline is then refined and softened.
 * @param raster at most about 512 pixels a side: time grows with its area
 */
export function findForeground(cv: OpenCv, raster: Raster, wanted: Wanted): Foreground | Unclear {
  const coarse = bestCoarse(cv, raster, wanted);
  if (!coarse) return { alpha: undefined, confidence: 0 };
  if (coarse.confidence < wanted.leastConfidence) return { alpha: undefined, confidence: coarse.confidence };
  const { mask, doubt } = fillHoles(refine(cv, raster, resizeMask(coarse.mask, coarse, raster)), raster);
  return { alpha: matteOf(raster, mask), confidence: coarse.confidence * (1 - doubt), engine: coarse.engine };
}

/** GrabCut initialises its colour models at random. With a fixed seed the same image gives the same result. */
const RANDOM_SEED = 7;
/** GrabCut groups each side's colours five times, and fails with fewer samples. */
const MIN_SAMPLES = 16;

/** Runs GrabCut from a mask of its four values. A guess without foreground or background is returned unchanged. */
function runGrabCut(cv: OpenCv, raster: Raster, start: { readonly mask: Uint8Array; readonly iterations: number }): BinaryMask {
  const guessed = start.mask.map((value) => (value === FOREGROUND || value === PROBABLY_FOREGROUND ? 1 : 0));
  const inside = guessed.reduce((sum, value) => sum + value, 0);
  if (inside < MIN_SAMPLES || guessed.length - inside < MIN_SAMPLES) return guessed;
  const image = new cv.Mat(raster.height, raster.width, cv.CV_8UC3);
  const mask = new cv.Mat(raster.height, raster.width, cv.CV_8UC1);
  const [backModel, frontModel] = [new cv.Mat(), new cv.Mat()];
  try {
    image.data.set(raster.rgb);
    mask.data.set(start.mask);
    cv.setRNGSeed(RANDOM_SEED);
    cv.grabCut(image, mask, new cv.Rect(0, 0, 1, 1), backModel, frontModel, start.iterations, cv.GC_INIT_WITH_MASK);
    return mask.data.map((value) => value & 1);
  } finally {
    for (const each of [image, mask, backModel, frontModel]) each.delete();
  }
}

/** Pieces smaller than this share of the largest are specks. */
const MIN_OF_LARGEST = 0.03;
/** Minimum size of a piece, as a share of the picture. */
const MIN_OF_PICTURE = 0.0004;
/** Holes smaller than this share of the picture are filled. */
const SMALL_HOLE = 0.0008;
/** A piece counts as background along the border when its border pixels exceed the side of a square of its area by this factor. */
const ALONG_BORDER = 4;

/** Drops specks and pieces along the border, and fills pinholes. */
function tidyMask(mask: BinaryMask, size: Size): BinaryMask {
  const result = mask.slice();
  const pieces = findPieces(mask, size, 1);
  const largest = pieces.list.reduce((most, { area }) => Math.max(most, area), 0);
  const least = Math.max(MIN_OF_LARGEST * largest, MIN_OF_PICTURE * mask.length);
  const isDropped = pieces.list.map(({ area, atBorder }) => area < least || atBorder > ALONG_BORDER * Math.sqrt(area));
  for (let at = 0; at < result.length; at++) if (isDropped[(pieces.labels[at] ?? 0) - 1] === true) result[at] = 0;
  const holes = findPieces(result, size, 0);
  const isFilled = holes.list.map(({ area, atBorder }) => atBorder === 0 && area < SMALL_HOLE * mask.length);
  for (let at = 0; at < result.length; at++) if (isFilled[(holes.labels[at] ?? 0) - 1] === true) result[at] = 1;
  return result;
}
