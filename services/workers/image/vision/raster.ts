/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Three bytes a pixel, with rows from the top. */
export interface Raster extends Size {
  readonly rgb: Uint8Array;
}

/** One byte a pixel: 1 is foreground. */
export type BinaryMask = Uint8Array;

/** Positions of the target's rows or columns between two of the source. */
interface Taps {
  readonly before: Int32Array;
  readonly after: Int32Array;
  /** Weight of the later one, from 0 to 1. */
  readonly share: Float64Array;
}

function tapsOf(from: number, to: number): Taps {
  const taps = { before: new Int32Array(to), after: new Int32Array(to), share: new Float64Array(to) };
  for (let index = 0; index < to; index++) {
    const at = Math.min(Math.max(((index + 0.5) * from) / to - 0.5, 0), from - 1);
    const before = Math.floor(at);
    taps.before[index] = before;
    taps.after[index] = Math.min(before + 1, from - 1);
    taps.share[index] = at - before;
  }
  return taps;
}

/**
 * Resizes a plane bilinearly, with one value a pixel. Shrinking to less than half the size would skip pixels.
 * @param band only these rows of the result
 */
export function resizePlane(
  plane: Uint8Array | Float32Array,
  from: Size,
  to: Size,
  band: { readonly top: number; readonly rows: number } = { top: 0, rows: to.height },
): Float32Array {
  const result = new Float32Array(to.width * band.rows);
  const [columns, lines] = [tapsOf(from.width, to.width), tapsOf(from.height, to.height)];
  let at = 0;
  for (let y = band.top; y < band.top + band.rows; y++) {
    const [top, bottom] = [(lines.before[y] ?? 0) * from.width, (lines.after[y] ?? 0) * from.width];
    const down = lines.share[y] ?? 0;
    for (let x = 0; x < to.width; x++) {
      const [before, after, share] = [columns.before[x] ?? 0, columns.after[x] ?? 0, columns.share[x] ?? 0];
      const upper = (plane[top + before] ?? 0) * (1 - share) + (plane[top + after] ?? 0) * share;
      const lower = (plane[bottom + before] ?? 0) * (1 - share) + (plane[bottom + after] ?? 0) * share;
      result[at++] = upper * (1 - down) + lower * down;
    }
  }
  return result;
}

/** Resizes a raster bilinearly. Returns the same raster when the size is right already. */
export function resizeRaster(raster: Raster, to: Size): Raster {
  if (raster.width === to.width && raster.height === to.height) return raster;
  const rgb = new Uint8Array(to.width * to.height * 3);
  const source = new Uint8Array(raster.width * raster.height);
  for (let channel = 0; channel < 3; channel++) {
    for (let at = 0; at < source.length; at++) source[at] = raster.rgb[at * 3 + channel] ?? 0;
    const plane = resizePlane(source, raster, to);
    for (let at = 0; at < plane.length; at++) rgb[at * 3 + channel] = Math.round(plane[at] ?? 0);
  }
  return { rgb, width: to.width, height: to.height };
}

/** 1 where alpha is at least a half. */
export function toMask(alpha: Float32Array): BinaryMask {
  const mask = new Uint8Array(alpha.length);
  for (let at = 0; at < mask.length; at++) mask[at] = (alpha[at] ?? 0) >= 0.5 ? 1 : 0;
  return mask;
}

/** Resizes a mask bilinearly. A pixel is 1 when at least half of it is foreground. */
export function resizeMask(mask: BinaryMask, from: Size, to: Size): BinaryMask {
  return toMask(resizePlane(mask, from, to));
}

/** The size with the same proportions whose longer side is `longest`. A smaller picture keeps its size, unless `enlarges` is set. */
export function fitInto({ width, height }: Size, longest: number, { enlarges = false } = {}): Size {
  const scale = Math.min(enlarges ? Infinity : 1, longest / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Means over a sliding window along each row. The window is cut off at the ends. */
function blurRows(source: Uint8Array | Float32Array, { width, height }: Size, radius: number): Float32Array {
  const target = new Float32Array(width * height);
  for (let start = 0; start < width * height; start += width) {
    let sum = 0;
    for (let x = 0; x < Math.min(radius, width); x++) sum += source[start + x] ?? 0;
    for (let x = 0; x < width; x++) {
      if (x + radius < width) sum += source[start + x + radius] ?? 0;
      if (x > radius) sum -= source[start + x - radius - 1] ?? 0;
      target[start + x] = sum / (Math.min(x + radius, width - 1) - Math.max(x - radius, 0) + 1);
    }
  }
  return target;
}

/** Means along the columns, computed row by row. Column by column would miss the processor's cache at every step. */
function blurColumns(source: Float32Array, { width, height }: Size, radius: number): Float32Array {
  const target = new Float32Array(width * height);
  const sums = new Float64Array(width);
  const add = (y: number, sign: 1 | -1): void => {
    for (let x = 0; x < width; x++) sums[x] = (sums[x] ?? 0) + sign * (source[y * width + x] ?? 0);
  };
  for (let y = 0; y < Math.min(radius, height); y++) add(y, 1);
  for (let y = 0; y < height; y++) {
    if (y + radius < height) add(y + radius, 1);
    if (y > radius) add(y - radius - 1, -1);
    const rows = Math.min(y + radius, height - 1) - Math.max(y - radius, 0) + 1;
    for (let x = 0; x < width; x++) target[y * width + x] = (sums[x] ?? 0) / rows;
  }
  return target;
}

/** Means over squares of `2 · radius + 1` pixels, smaller at the borders. */
export function boxBlur(plane: Uint8Array | Float32Array, size: Size, radius: number): Float32Array {
  return blurColumns(blurRows(plane, size, radius), size, radius);
}
