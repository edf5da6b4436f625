import { type BinaryMask, boxBlur, type Raster, type Size } from './raster';

/** Pixels to either side of the outline in which alpha may be neither 0 nor 1. */
const BAND = 4;
/** Pixels around in which the pure colours of both sides are looked for. */
const NEIGHBOURHOOD = 9;
/** Squared levels that two colours must differ by before their mixture can be told. */
const NOISE = 150;

/** 1 where the whole square of `2 · radius + 1` pixels has the value 1. */
function erode(mask: ArrayLike<number>, size: Size, radius: number): Uint8Array {
  return Uint8Array.from(boxBlur(mask, size, radius), (mean) => (mean > 0.9999 ? 1 : 0));
}

/** Local mean colour and variance of the pixels that `weights` selects. */
interface LocalColours {
  readonly weight: Float32Array;
  readonly means: readonly Float32Array[];
  readonly variance: Float32Array;
}

function localColours({ rgb, ...size }: Raster, weights: Uint8Array): LocalColours {
  const weight = boxBlur(weights, size, NEIGHBOURHOOD);
  const variance = new Float32Array(weight.length);
  const means = [0, 1, 2].map((channel) => {
    const values = Float32Array.from(weights, (isIn, at) => isIn * (rgb[at * 3 + channel] ?? 0));
    const squares = values.map((value) => value * value);
    const mean = boxBlur(values, size, NEIGHBOURHOOD).map((sum, at) => sum / Math.max(weight[at] ?? 0, 1e-6));
    boxBlur(squares, size, NEIGHBOURHOOD).forEach((sum, at) => {
      variance[at] = (variance[at] ?? 0) + Math.max(sum / Math.max(weight[at] ?? 0, 1e-6) - (mean[at] ?? 0) ** 2, 0);
    });
    return mean;
  });
  return { weight, means, variance };
}

/**
 * Alpha from a mask, 0–1 a pixel: the share of foreground colour in each pixel near the outline, as far as the colours of both sides
 * can be told apart there; else a small feather.
 */
export function matteOf(raster: Raster, mask: BinaryMask): Float32Array {
  const { rgb, width, height } = raster;
  const size = { width, height };
  const outside = mask.map((value) => 1 - value);
  const [front, back] = [localColours(raster, erode(mask, size, 1)), localColours(raster, erode(outside, size, 1))];
  const [inner, outer] = [erode(mask, size, BAND), erode(outside, size, BAND)];
  const feather = boxBlur(mask, size, 1);
  return feather.map((soft, at) => {
    if (inner[at] === 1) return 1;
    if (outer[at] === 1) return 0;
    if ((front.weight[at] ?? 0) < 0.005 || (back.weight[at] ?? 0) < 0.005) return soft;
    let [along, apart] = [0, 0];
    for (let channel = 0; channel < 3; channel++) {
      const from = back.means[channel]?.[at] ?? 0;
      const step = (front.means[channel]?.[at] ?? 0) - from;
      along += ((rgb[at * 3 + channel] ?? 0) - from) * step;
      apart += step * step;
    }
    const certainty = apart / (apart + 2 * ((front.variance[at] ?? 0) + (back.variance[at] ?? 0)) + NOISE);
    const share = Math.min(Math.max(along / Math.max(apart, 1), 0), 1);
    return certainty * share + (1 - certainty) * soft;
  });
}
