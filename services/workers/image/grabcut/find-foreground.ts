import { agreementOf, chooseGuess, type Guess } from './confidence';
import { gradientOf, judgeMask } from './judge-mask';
import { toLab } from './lab';
import { matteOf } from './matte';
import type { OpenCv } from './open-cv';
import { type BinaryMask, boxBlur, fitInto, type Raster, resizeMask, resizeRaster, type Size } from './raster';
import { BACKGROUND, FOREGROUND, makeSeeds, PROBABLY_BACKGROUND, PROBABLY_FOREGROUND } from './seeds';
import { SIDES } from './sides';

/** Pixels of the longer side at which the five guesses are tried. The outline is then refined on the whole raster. */
const COARSE_SIDE = 256;
/** A guess by colour starts close to its result. More rounds than these move under 0.2 % of the pixels, and rather away from the truth. */
const COLOUR_ITERATIONS = 2;
/** A guess by shape has farther to go. */
const SHAPE_ITERATIONS = 4;
const REFINING_ITERATIONS = 1;
/** Pixels to either side of the coarse outline within which refining may move it. */
const REFINING_BAND = 3;

export interface Foreground {
  /** From 0 to 1 for each pixel. */
  readonly alpha: Float32Array;
  /** From 0 to 1: how clear the cut is; null when the method cannot tell. */
  readonly confidence: number | null;
}

/** No cut-out. Its confidence, from 0 to 1, is below the wanted one; it is 0 when no guess is believable. */
export interface Unclear {
  readonly alpha: undefined;
  readonly confidence: number;
}

/**
 * If the guesses that know the border agree this much, the portrait is not tried. It takes longest, because GrabCut starts it from a shape
 * that fits nothing.
 */
const AGREED = 0.9;

/** True when all guesses that know the border find the same foreground. */
function doAgree(masks: readonly BinaryMask[]): boolean {
  const [first, ...others] = masks;
  return first !== undefined && others.every((mask) => agreementOf(first, mask) >= AGREED);
}

/** The most believable result of GrabCut from up to five guesses, and how clear it is. */
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

/** Lets GrabCut move the outline within a band, and keeps the coarse outline when that fits the edges better. */
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
 * Finds the foreground without a trained model: GrabCut from five guesses, with the most believable one refined and a soft outline.
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

/** GrabCut's colour models start from chance. With a fixed seed the same image gives the same result. */
const RANDOM_SEED = 7;
/** GrabCut groups each side's colours five times, and fails with fewer samples. */
const MIN_SAMPLES = 16;

/** Runs GrabCut from a mask of its four values. A guess that lacks one side comes back unchanged. */
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

interface Component {
  readonly area: number;
  /** Number of its pixels on the picture's border. */
  readonly atBorder: number;
}

/** Pieces smaller than this share of the largest are specks. */
const MIN_OF_LARGEST = 0.03;
/** Share of the picture. */
const MIN_OF_PICTURE = 0.0004;
/** Holes smaller than this share of the picture are filled. */
const SMALL_HOLE = 0.0008;
/** A piece is background along the border when its border pixels outnumber the side of a square of its area by this factor. */
const ALONG_BORDER = 4;

/** Finds pieces of pixels with `value` that are connected by their sides. `labels` counts from 1 in the order of `list`. */
function findComponents(mask: BinaryMask, { width, height }: Size, value: number): { labels: Int32Array; list: readonly Component[] } {
  const labels = new Int32Array(mask.length);
  const list: Component[] = [];
  const stack = new Int32Array(mask.length);
  let [depth, label] = [0, 1];
  const visit = (at: number): void => {
    if (mask[at] !== value || labels[at] !== 0) return;
    labels[at] = label;
    stack[depth++] = at;
  };
  for (let start = 0; start < mask.length; start++) {
    if (mask[start] !== value || labels[start] !== 0) continue;
    visit(start);
    let [area, atBorder] = [0, 0];
    while (depth > 0) {
      const at = stack[--depth] ?? 0;
      const [x, y] = [at % width, Math.floor(at / width)];
      area++;
      if (x === 0 || y === 0 || x === width - 1 || y === height - 1) atBorder++;
      if (x > 0) visit(at - 1);
      if (x < width - 1) visit(at + 1);
      if (y > 0) visit(at - width);
      if (y < height - 1) visit(at + width);
    }
    list.push({ area, atBorder });
    label++;
  }
  return { labels, list };
}

/** Drops specks and pieces along the border, and fills pinholes. */
function tidyMask(mask: BinaryMask, size: Size): BinaryMask {
  const result = mask.slice();
  const pieces = findComponents(mask, size, 1);
  const largest = pieces.list.reduce((most, { area }) => Math.max(most, area), 0);
  const least = Math.max(MIN_OF_LARGEST * largest, MIN_OF_PICTURE * mask.length);
  const isDropped = pieces.list.map(({ area, atBorder }) => area < least || atBorder > ALONG_BORDER * Math.sqrt(area));
  for (let at = 0; at < result.length; at++) if (isDropped[(pieces.labels[at] ?? 0) - 1] === true) result[at] = 0;
  const holes = findComponents(result, size, 0);
  const isFilled = holes.list.map(({ area, atBorder }) => atBorder === 0 && area < SMALL_HOLE * mask.length);
  for (let at = 0; at < result.length; at++) if (isFilled[(holes.labels[at] ?? 0) - 1] === true) result[at] = 1;
  return result;
}
