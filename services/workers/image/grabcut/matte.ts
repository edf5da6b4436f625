import { type BinaryMask, boxBlur, type Raster, type Size } from './raster';
import { SideColours, type WindowColours } from './side-colours';

/** Pixels to either side of the outline in which alpha may be neither 0 nor 1. */
const BAND = 4;
/** Pixels around in which the pure colours of both sides are looked for. */
const NEIGHBOURHOOD = 9;
/** Squared levels that two colours must differ by before their mixture can be told. */
const NOISE = 150;
/** Of a side's pixels around; with fewer its colours are unknown. */
const MIN_SIDE = 0.005;

/** 1 where the whole square of `2 · radius + 1` pixels has the value. */
function erode(mask: BinaryMask, size: Size, { radius, value }: { readonly radius: number; readonly value: 0 | 1 }): Uint8Array {
  const means = boxBlur(mask, size, radius);
  const result = new Uint8Array(mask.length);
  for (let at = 0; at < result.length; at++) {
    const mean = means[at] ?? 0;
    result[at] = (value === 1 ? mean > 0.9999 : mean < 0.0001) ? 1 : 0;
  }
  return result;
}

/** The share of foreground in a pixel that lies between the colours of both sides; `soft` as far as they cannot be told apart. */
function shareOf(
  pixel: Uint8Array,
  soft: number,
  { front, back }: { readonly front: WindowColours; readonly back: WindowColours },
): number {
  if (front.share < MIN_SIDE || back.share < MIN_SIDE) return soft;
  let [along, apart] = [0, 0];
  for (const channel of [0, 1, 2] as const) {
    const from = back.mean[channel];
    const step = front.mean[channel] - from;
    along += ((pixel[channel] ?? 0) - from) * step;
    apart += step * step;
  }
  const certainty = apart / (apart + 2 * (front.variance + back.variance) + NOISE);
  const share = Math.min(Math.max(along / Math.max(apart, 1), 0), 1);
  return certainty * share + (1 - certainty) * soft;
}

const noColours = (): WindowColours => ({ share: 0, mean: [0, 0, 0], variance: 0 });

/**
 * Alpha from a mask, 0–1 a pixel: the share of foreground colour in each pixel near the outline, as far as the colours of both sides
 * can be told apart there; else a small feather. Colours are looked at near the outline alone.
 */
export function matteOf(raster: Raster, mask: BinaryMask): Float32Array {
  const { rgb, width, height } = raster;
  const [inner, outer] = [erode(mask, raster, { radius: BAND, value: 1 }), erode(mask, raster, { radius: BAND, value: 0 })];
  const fronts = new SideColours(raster, erode(mask, raster, { radius: 1, value: 1 }), NEIGHBOURHOOD);
  const backs = new SideColours(raster, erode(mask, raster, { radius: 1, value: 0 }), NEIGHBOURHOOD);
  const sides = { front: noColours(), back: noColours() };
  const alpha = boxBlur(mask, raster, 1);
  for (let y = 0; y < height; y++) {
    let isHere = false;
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      if (inner[at] === 1 || outer[at] === 1) {
        alpha[at] = inner[at] ?? 0;
        continue;
      }
      if (!isHere) {
        fronts.moveTo(y);
        backs.moveTo(y);
        isHere = true;
      }
      fronts.read(x, sides.front);
      backs.read(x, sides.back);
      alpha[at] = shareOf(rgb.subarray(at * 3, at * 3 + 3), alpha[at] ?? 0, sides);
    }
  }
  return alpha;
}
