import { type BinaryMask, boxBlur, type Raster, type Size } from './raster';

/** Pixels to either side of the outline in which alpha may be neither 0 nor 1. */
const BAND = 4;
/** Radius in pixels within which the pure colours of both sides are searched for. */
const NEIGHBOURHOOD = 9;
/** Squared levels by which two colours must differ before their mixture can be measured. */
const NOISE = 150;
/** Minimum share of one side's pixels in the neighbourhood. Below it, the side's colours are unknown. */
const MIN_SIDE = 0.005;

/** Gives 1 where the whole square of `2 · radius + 1` pixels has the value. */
function erode(mask: BinaryMask, size: Size, { radius, value }: { readonly radius: number; readonly value: 0 | 1 }): Uint8Array {
  const means = boxBlur(mask, size, radius);
  const result = new Uint8Array(mask.length);
  for (let at = 0; at < result.length; at++) {
    const mean = means[at] ?? 0;
    result[at] = (value === 1 ? mean > 0.9999 : mean < 0.0001) ? 1 : 0;
  }
  return result;
}

/** The share of foreground in a pixel whose colour is between the colours of both sides; `soft` if the two cannot be distinguished. */
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
 * Computes alpha from a mask, from 0 to 1 for each pixel. Near the outline it is the share of foreground colour in the pixel, if the
 * colours of both sides can be distinguished there; otherwise a small feather.
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

/** Fields of each chosen pixel: 1, red, green, blue, and the sum of the squares of the three. */
const FIELDS = 5;

/** Statistics of the chosen pixels in a window. */
interface WindowColours {
  /** Share of the window's pixels that are chosen, from 0 to 1. */
  share: number;
  readonly mean: [number, number, number];
  /** Variance of the three channels together, in squared levels. */
  variance: number;
}

/**
 * Mean colour and variance of the chosen pixels in squares of `2 · radius + 1` pixels, cut off at the borders. The window moves down the
 * picture row by row, so that each pixel costs a few operations whatever the radius, and no plane of the picture's size is needed. All sums
 * are exact integers.
 */
class SideColours {
  private readonly columns: Float64Array;
  /** Sums of all columns to the left. */
  private readonly before: Float64Array;
  private firstRow = 0;
  private endRow = 0;

  /** @param chosen 1 for the pixels that count */
  constructor(
    private readonly raster: Raster,
    private readonly chosen: Uint8Array,
    private readonly radius: number,
  ) {
    this.columns = new Float64Array(raster.width * FIELDS);
    this.before = new Float64Array((raster.width + 1) * FIELDS);
  }

  /** Centres the window on a row. Rows must only increase. */
  moveTo(y: number): void {
    const { radius, raster, columns, before } = this;
    while (this.endRow < Math.min(y + radius + 1, raster.height)) this.addRow(this.endRow++, 1);
    while (this.firstRow < y - radius) this.addRow(this.firstRow++, -1);
    for (let at = 0; at < columns.length; at++) before[at + FIELDS] = (before[at] ?? 0) + (columns[at] ?? 0);
  }

  /** Fills `found` with the colours of the window around a pixel of the row; undefined colours are 0. */
  read(x: number, found: WindowColours): void {
    const { radius, raster, before } = this;
    const [left, right] = [Math.max(x - radius, 0), Math.min(x + radius + 1, raster.width)];
    const [from, to] = [left * FIELDS, right * FIELDS];
    const count = (before[to] ?? 0) - (before[from] ?? 0);
    found.share = count / ((right - left) * (this.endRow - this.firstRow));
    const some = Math.max(count, 1);
    let squaredMeans = 0;
    for (const channel of [0, 1, 2] as const) {
      const mean = ((before[to + 1 + channel] ?? 0) - (before[from + 1 + channel] ?? 0)) / some;
      found.mean[channel] = mean;
      squaredMeans += mean * mean;
    }
    found.variance = Math.max(((before[to + 4] ?? 0) - (before[from + 4] ?? 0)) / some - squaredMeans, 0);
  }

  private addRow(y: number, sign: 1 | -1): void {
    const { chosen, columns, raster } = this;
    const { rgb, width } = raster;
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      if (chosen[at] !== 1) continue;
      const [red, green, blue] = [rgb[at * 3] ?? 0, rgb[at * 3 + 1] ?? 0, rgb[at * 3 + 2] ?? 0];
      const to = x * FIELDS;
      columns[to] = (columns[to] ?? 0) + sign;
      columns[to + 1] = (columns[to + 1] ?? 0) + sign * red;
      columns[to + 2] = (columns[to + 2] ?? 0) + sign * green;
      columns[to + 3] = (columns[to + 3] ?? 0) + sign * blue;
      columns[to + 4] = (columns[to + 4] ?? 0) + sign * (red * red + green * green + blue * blue);
    }
  }
}
