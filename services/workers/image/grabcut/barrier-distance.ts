import { boxBlur, type Size } from '../vision/raster';

/** Pixels to either side over which noise is smoothed. A barrier must be wider. */
const SMOOTHING = 1;
/** Passes over the picture, forwards and backwards in turn. More passes change next to nothing. */
const PASSES = 4;

/** Distances in one channel, with the lowest and highest level on the path to each pixel. */
interface Ways {
  readonly levels: Float32Array;
  readonly distance: Float32Array;
  readonly least: Float32Array;
  readonly greatest: Float32Array;
}

/** Reaches a pixel through its neighbour if that path crosses a lower barrier than the best path so far. */
function relax({ levels, distance, least, greatest }: Ways, at: number, from: number): void {
  const level = levels[at] ?? 0;
  const low = Math.min(least[from] ?? 0, level);
  const high = Math.max(greatest[from] ?? 0, level);
  if (high - low >= (distance[at] ?? 0)) return;
  distance[at] = high - low;
  least[at] = low;
  greatest[at] = high;
}

function sweepForth(ways: Ways, { width, height }: Size): void {
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (x > 0) relax(ways, at, at - 1);
      if (y > 0) relax(ways, at, at - width);
    }
  }
}

function sweepBack(ways: Ways, { width, height }: Size): void {
  for (let y = height - 1, at = width * height - 1; y >= 0; y--) {
    for (let x = width - 1; x >= 0; x--, at--) {
      if (x < width - 1) relax(ways, at, at + 1);
      if (y < height - 1) relax(ways, at, at + width);
    }
  }
}

/**
 * The minimum barrier distance of each pixel to a border: the least that the colour must change on the way there, summed over L*, a* and
 * b*. It is low in a background of any colours that reaches the border without an edge, and high behind the outline of an object (Zhang et
 * al., "Minimum Barrier Salient Object Detection at 80 FPS", ICCV 2015).
 * @param border the pixels at distance 0
 */
export function barrierDistance(lab: Float32Array, size: Size, border: readonly number[]): Float32Array {
  const sum = new Float32Array(size.width * size.height);
  const plane = new Float32Array(sum.length);
  for (let channel = 0; channel < 3; channel++) {
    for (let at = 0; at < plane.length; at++) plane[at] = lab[at * 3 + channel] ?? 0;
    const levels = boxBlur(plane, size, SMOOTHING);
    const ways = { levels, distance: new Float32Array(sum.length).fill(Infinity), least: levels.slice(), greatest: levels.slice() };
    for (const at of border) ways.distance[at] = 0;
    for (let pass = 0; pass < PASSES; pass++) (pass % 2 === 0 ? sweepForth : sweepBack)(ways, size);
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (ways.distance[at] ?? 0);
  }
  return sum;
}
