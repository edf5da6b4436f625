import { findForeground } from '../grabcut/find-foreground';
import { type OpenCv } from '../grabcut/open-cv';
import { type BinaryMask, type Raster } from '../grabcut/raster';
import { type ForegroundFinder, type Pixels } from '../cut-out-job';

/** Transparent pixels get the one of black and white that is less like what is there. */
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

/** Loads OpenCV, which takes about a second; call it in a thread of its own. */
export async function loadGrabCutFinder(): Promise<ForegroundFinder> {
  // The module is a promise, which its types do not say.
  const loaded: unknown = await import('@techstark/opencv-js');
  const openCv = (await Reflect.get(loaded as object, 'default')) as OpenCv;
  return (small, leastConfidence) => {
    const { raster, clear } = flatten(small);
    return Promise.resolve(findForeground(openCv, raster, { clear, leastConfidence }));
  };
}
