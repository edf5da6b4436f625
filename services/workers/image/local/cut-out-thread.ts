import { parentPort, workerData } from 'node:worker_threads';
import { MIN_FOREGROUND, MAX_FOREGROUND } from '../limits';
import { loadOnnxFinder } from '../onnx/onnx-finder';
import type { CutOutAnswer, CutOutJob, ForegroundFinder, ThreadMethod, Pixels } from '../cut-out-job';
import { resizePlane, type Size, type BinaryMask, type Raster } from '../grabcut/raster';
import { findForeground } from '../grabcut/find-foreground';
import type { OpenCv } from '../grabcut/open-cv';

async function cutOut(find: ForegroundFinder, { picture, small, leastConfidence }: CutOutJob): Promise<CutOutAnswer> {
  const found = await find(small, leastConfidence);
  if (!found) return { kind: 'no_foreground' };
  if (!found.alpha) return { kind: 'unclear', confidence: found.confidence };
  const share = applyAlpha(picture.rgba, picture, { alpha: found.alpha, width: small.width, height: small.height });
  if (share < MIN_FOREGROUND || share > MAX_FOREGROUND) {
    // A method without a confidence stands by its cut.
    return found.confidence === null ? { kind: 'no_foreground' } : { kind: 'unclear', confidence: 0 };
  }
  return { kind: 'cut_out', rgba: picture.rgba, confidence: found.confidence };
}

/** Serves one job at a time, in their order. An error in a job is reported; an error here ends the thread. */
function serve(method: ThreadMethod): void {
  const finder = method.kind === 'grabcut' ? loadGrabCutFinder() : loadOnnxFinder(method.model);
  parentPort?.on('message', (job: CutOutJob) => {
    void finder
      .then((find) => cutOut(find, job))
      .catch((error: unknown): CutOutAnswer => ({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }))
      .then((answer) => parentPort?.postMessage(answer, answer.kind === 'cut_out' ? [answer.rgba.buffer] : []));
  });
}

serve(workerData as ThreadMethod);

/** Contrast added to an enlarged mask, so that its outline stays sharp: half of the enlargement, three at most. */
const SHARPENING = 0.5;
const MAX_SHARPENING = 3;

/** Rows that are enlarged at a time. A plane for a whole large picture would take four more bytes a pixel. */
const BAND_ROWS = 64;

/**
 * Gives a picture the alpha of a smaller mask. Transparent pixels stay transparent. Colours under alpha 0 are erased: a cut-out must not
 * carry its background along.
 * @param rgba four bytes a pixel, changed in place
 * @param mask from 0 to 1 for each pixel, of `maskSize`
 * @returns mean alpha, from 0 to 1
 */
function applyAlpha(rgba: Uint8Array, size: Size, mask: { readonly alpha: Float32Array } & Size): number {
  const enlargement = Math.max(size.width / mask.width, size.height / mask.height);
  const contrast = Math.min(Math.max(1 + (enlargement - 1) * SHARPENING, 1), MAX_SHARPENING);
  let sum = 0;
  for (let top = 0; top < size.height; top += BAND_ROWS) {
    const rows = Math.min(BAND_ROWS, size.height - top);
    const band = resizePlane(mask.alpha, mask, size, { top, rows });
    for (let index = 0; index < band.length; index++) {
      const at = (top * size.width + index) * 4;
      const share = Math.min(Math.max(((band[index] ?? 0) - 0.5) * contrast + 0.5, 0), 1);
      const alpha = Math.round(share * (rgba[at + 3] ?? 0));
      if (alpha === 0) rgba[at] = rgba[at + 1] = rgba[at + 2] = 0;
      rgba[at + 3] = alpha;
      sum += alpha;
    }
  }
  return sum / 255 / (size.width * size.height);
}

/** Gives transparent pixels black or white, whichever is less like the rest. */
function flatten({ rgba, width, height }: Pixels): { raster: Raster; clear: BinaryMask } {
  const clear = new Uint8Array(width * height);
  let [sum, opaque] = [0, 0];
  for (let at = 0; at < clear.length; at++) {
    clear[at] = (rgba[at * 4 + 3] ?? 0) < 128 ? 1 : 0;
    if (clear[at] === 1) continue;
    sum += (rgba[at * 4] ?? 0) + (rgba[at * 4 + 1] ?? 0) + (rgba[at * 4 + 2] ?? 0);
    opaque++;
  }
  const ground = sum / 3 > 127 * opaque ? 0 : 255;
  const rgb = new Uint8Array(width * height * 3);
  for (let at = 0; at < clear.length; at++) {
    const share = (rgba[at * 4 + 3] ?? 0) / 255;
    for (let channel = 0; channel < 3; channel++) {
      rgb[at * 3 + channel] = Math.round((rgba[at * 4 + channel] ?? 0) * share + ground * (1 - share));
    }
  }
  return { raster: { rgb, width, height }, clear };
}

/** Loads OpenCV, which takes about a second. Call it in its own thread. */
async function loadGrabCutFinder(): Promise<ForegroundFinder> {
  // The module is a promise, which its types do not say.
  const loaded: unknown = await import('@techstark/opencv-js');
  const openCv = (await Reflect.get(loaded as object, 'default')) as OpenCv;
  return (small, leastConfidence) => {
    const { raster, clear } = flatten(small);
    return Promise.resolve(findForeground(openCv, raster, { clear, leastConfidence }));
  };
}
