import { parentPort, workerData } from 'node:worker_threads';
import type { CutOutAnswer, CutOutJob, ForegroundFinder, Pixels, ThreadMethod } from '../cut-out-job';
import { findForeground } from '../grabcut/find-foreground';
import { loadModel, createOnnxFinder } from '../onnx/load-model';
import { loadPersonModel } from '../person/person-model';
import { loadOpenCv } from '../vision/open-cv';
import { factsOf, rateMask } from '../vision/rate-mask';
import { resizePlane, type Size, type BinaryMask, type Raster } from '../vision/raster';

/** The mask's alpha where the picture itself is visible. */
function visible(alpha: Float32Array, { rgba }: Pixels): Float32Array {
  return alpha.map((value, at) => (value * (rgba[at * 4 + 3] ?? 0)) / 255);
}

async function cutOut(find: ForegroundFinder, method: ThreadMethod, job: CutOutJob): Promise<CutOutAnswer> {
  const { picture, small, leastConfidence } = job;
  const found = await find(small, leastConfidence);
  if (!found) return { kind: 'no_foreground' };
  if (!found.alpha) return { kind: 'unclear', confidence: found.confidence };
  const rating = rateMask(factsOf(visible(found.alpha, small), small));
  // GrabCut always cuts out something. If a model cuts out nothing, there is nothing.
  if (rating === undefined) return method.kind === 'onnx' ? { kind: 'no_foreground' } : { kind: 'unclear', confidence: 0 };
  const confidence = found.confidence * rating;
  if (confidence < leastConfidence) return { kind: 'unclear', confidence };
  applyAlpha(picture.rgba, picture, { alpha: found.alpha, width: small.width, height: small.height });
  return { kind: 'cut_out', rgba: picture.rgba, engine: found.engine, confidence };
}

/** Serves one job at a time, in order. An error in a job is reported; an error outside ends the thread. */
function serve(method: ThreadMethod): void {
  const finder =
    method.kind === 'grabcut' ? loadGrabCutFinder() : loadModel(method.model).then((model) => createOnnxFinder(method.model, model));
  parentPort?.on('message', (job: CutOutJob) => {
    void finder
      .then((find) => cutOut(find, method, job))
      .catch((error: unknown): CutOutAnswer => ({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }))
      .then((answer) => parentPort?.postMessage(answer, answer.kind === 'cut_out' ? [answer.rgba.buffer] : []));
  });
}

serve(workerData as ThreadMethod);

/** Contrast added to an enlarged mask, so that its outline stays sharp: half of the enlargement, at most three. */
const SHARPENING = 0.5;
const MAX_SHARPENING = 3;

/** Rows that are enlarged at a time. A plane for a whole large picture would take four more bytes a pixel. */
const BAND_ROWS = 64;

/**
 * Gives a picture the alpha of a smaller mask. Transparent pixels stay transparent. Colours under alpha 0 are erased, because a cut-out
 * must not contain its background.
 * @param rgba four bytes a pixel, changed in place
 * @param mask from 0 to 1 for each pixel, of `maskSize`
 */
function applyAlpha(rgba: Uint8Array, size: Size, mask: { readonly alpha: Float32Array } & Size): void {
  const enlargement = Math.max(size.width / mask.width, size.height / mask.height);
  const contrast = Math.min(Math.max(1 + (enlargement - 1) * SHARPENING, 1), MAX_SHARPENING);
  for (let top = 0; top < size.height; top += BAND_ROWS) {
    const rows = Math.min(BAND_ROWS, size.height - top);
    const band = resizePlane(mask.alpha, mask, size, { top, rows });
    for (let index = 0; index < band.length; index++) {
      const at = (top * size.width + index) * 4;
      const share = Math.min(Math.max(((band[index] ?? 0) - 0.5) * contrast + 0.5, 0), 1);
      const alpha = Math.round(share * (rgba[at + 3] ?? 0));
      if (alpha === 0) rgba[at] = rgba[at + 1] = rgba[at + 2] = 0;
      rgba[at + 3] = alpha;
    }
  }
}

/** Makes transparent pixels black or white, whichever differs more from the rest. */
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

/** Loads GrabCut and the people model. */
async function loadGrabCutFinder(): Promise<ForegroundFinder> {
  const openCv = await loadOpenCv();
  const findPerson = await loadPersonModel(openCv);
  return (small, leastConfidence) => {
    const { raster, clear } = flatten(small);
    return Promise.resolve(findForeground(openCv, raster, { clear, leastConfidence, findPerson }));
  };
}
