/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Three bytes a pixel, rows from the top. */
export interface Raster extends Size {
  readonly rgb: Uint8Array;
}

/** One byte a pixel: 1 is foreground. */
export type BinaryMask = Uint8Array;

/** Where a row or column of the target lies between two of the source. */
interface Tap {
  readonly before: number;
  readonly after: number;
  readonly share: number;
}

function tapsOf(from: number, to: number): Tap[] {
  return Array.from({ length: to }, (_, index) => {
    const at = Math.min(Math.max(((index + 0.5) * from) / to - 0.5, 0), from - 1);
    const before = Math.floor(at);
    return { before, after: Math.min(before + 1, from - 1), share: at - before };
  });
}

/**
 * Bilinear, one value a pixel. A shrink to less than half the size would skip pixels.
 * @param band only these rows of the result
 */
export function resizePlane(
  plane: ArrayLike<number>,
  from: Size,
  to: Size,
  band: { readonly top: number; readonly rows: number } = { top: 0, rows: to.height },
): Float32Array {
  const result = new Float32Array(to.width * band.rows);
  const columns = tapsOf(from.width, to.width);
  let at = 0;
  for (const row of tapsOf(from.height, to.height).slice(band.top, band.top + band.rows)) {
    const [top, bottom] = [row.before * from.width, row.after * from.width];
    for (const { before, after, share } of columns) {
      const upper = (plane[top + before] ?? 0) * (1 - share) + (plane[top + after] ?? 0) * share;
      const lower = (plane[bottom + before] ?? 0) * (1 - share) + (plane[bottom + after] ?? 0) * share;
      result[at++] = upper * (1 - row.share) + lower * row.share;
    }
  }
  return result;
}

/** Bilinear; the same raster when the size is right already. */
export function resizeRaster(raster: Raster, to: Size): Raster {
  if (raster.width === to.width && raster.height === to.height) return raster;
  const rgb = new Uint8Array(to.width * to.height * 3);
  for (let channel = 0; channel < 3; channel++) {
    const source = Uint8Array.from({ length: raster.width * raster.height }, (_, at) => raster.rgb[at * 3 + channel] ?? 0);
    resizePlane(source, raster, to).forEach((value, at) => (rgb[at * 3 + channel] = Math.round(value)));
  }
  return { rgb, width: to.width, height: to.height };
}

/** The largest size of the same form whose longer side is at most `longest`; never enlarges. */
export function fitInto({ width, height }: Size, longest: number): Size {
  const scale = Math.min(1, longest / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Means over a sliding window along one line of a plane; the window is cut at the ends. */
function blurLine(source: ArrayLike<number>, target: Float32Array, line: { start: number; step: number; length: number; radius: number }) {
  const { start, step, length, radius } = line;
  let sum = 0;
  for (let index = 0; index < Math.min(radius, length); index++) sum += source[start + index * step] ?? 0;
  for (let index = 0; index < length; index++) {
    if (index + radius < length) sum += source[start + (index + radius) * step] ?? 0;
    if (index > radius) sum -= source[start + (index - radius - 1) * step] ?? 0;
    target[start + index * step] = sum / (Math.min(index + radius, length - 1) - Math.max(index - radius, 0) + 1);
  }
}

/** Means over squares of `2 · radius + 1` pixels, smaller at the borders. */
export function boxBlur(plane: ArrayLike<number>, { width, height }: Size, radius: number): Float32Array {
  const rows = new Float32Array(width * height);
  const result = new Float32Array(width * height);
  for (let y = 0; y < height; y++) blurLine(plane, rows, { start: y * width, step: 1, length: width, radius });
  for (let x = 0; x < width; x++) blurLine(rows, result, { start: x, step: width, length: height, radius });
  return result;
}
