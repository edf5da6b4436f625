import { type OpenCv } from './open-cv';
import { type BinaryMask, type Raster } from './raster';
import { FOREGROUND, PROBABLY_FOREGROUND } from './seeds';

/** GrabCut's colour models start from chance; a fixed start makes the same image give the same answer. */
const RANDOM_SEED = 7;
/** GrabCut groups each side's colours five times and fails without that many samples. */
const MIN_SAMPLES = 16;

/** Runs GrabCut from a mask of its four values. A guess without both sides comes back as it is. */
export function runGrabCut(cv: OpenCv, raster: Raster, start: { readonly mask: Uint8Array; readonly iterations: number }): BinaryMask {
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
