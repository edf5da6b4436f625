import { findPieces } from './pieces';
import { type BinaryMask, type Raster, type Size } from './raster';

/** Levels of each channel, so that there are 512 colours. */
const LEVELS = 8;
/** A hole that shares this much of its colours with the outside may be an opening. */
const SEEN_THROUGH = 0.25;
/** An object without dents fills at least this share of its convex hull. */
const CONVEX = 0.9;
/** A hole that takes up a larger share of its object is an opening, such as that of a ring or a handle. */
const MAX_DOUBTED = 0.1;
/** Doubt for each share of the object that may be missing. */
const DOUBT = 3;
/**
 * A hole is deep in its object if the object around it is this many times as thick as the hole is wide. In the 108 and 63 photographs of
 * bench/image.ts, five subjects had such a hole that looked like the outside, and all five were parts of the subject (1.49 to 5.45); the
 * opening of a cup's handle came next (1.01).
 */
const DEEP = 1.25;

/** Histograms of the colours of all pieces. */
function coloursOf({ rgb }: Raster, labels: Int32Array, count: number): Float64Array[] {
  const histograms = Array.from({ length: count }, () => new Float64Array(LEVELS ** 3));
  const level = (at: number): number => Math.floor(((rgb[at] ?? 0) * LEVELS) / 256);
  for (let at = 0; at < labels.length; at++) {
    const histogram = histograms[(labels[at] ?? 0) - 1];
    if (!histogram) continue;
    const colour = (level(at * 3) * LEVELS + level(at * 3 + 1)) * LEVELS + level(at * 3 + 2);
    histogram[colour] = (histogram[colour] ?? 0) + 1;
  }
  return histograms;
}

const sumOf = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, value) => sum + value, 0);

/** The share of colours that two histograms have in common, from 0 to 1. */
function overlapOf(one: Float64Array, other: Float64Array): number {
  const [all, others] = [sumOf(one), Math.max(sumOf(other), 1)];
  return sumOf(one.map((value, colour) => Math.min(value / all, (other[colour] ?? 0) / others)));
}

type Point = readonly [number, number];

/** Positive where the path from `one` over `two` to `three` turns left. */
function turn(one: Point, two: Point, three: Point): number {
  return (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0]);
}

/** One side of the hull around points that are ordered by row. */
function chain(points: readonly Point[]): Point[] {
  const hull: Point[] = [];
  for (const point of points) {
    for (;;) {
      const [before, last] = [hull.at(-2), hull.at(-1)];
      if (!before || !last || turn(before, last, point) > 0) break;
      hull.pop();
    }
    hull.push(point);
  }
  return hull.slice(0, -1);
}

/** Area of the convex hull of a mask, in pixels. */
export function hullArea(mask: BinaryMask, { width, height }: Size): number {
  const points: Point[] = [];
  for (let y = 0; y < height; y++) {
    const row = mask.subarray(y * width, (y + 1) * width);
    const first = row.indexOf(1);
    if (first >= 0) for (const x of [first, row.lastIndexOf(1) + 1]) points.push([x, y], [x, y + 1]);
  }
  points.sort(([ax, ay], [bx, by]) => ay - by || ax - bx);
  const hull = [...chain(points), ...chain(points.toReversed())];
  return hull.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = hull[(index + 1) % hull.length] ?? [0, 0];
    return sum + (x * nextY - nextX * y) / 2;
  }, 0);
}

/**
 * Decides which holes are deep in the object: nothing of the outside is nearer than {@link DEEP} times the hole's width, by rows and
 * columns.
 */
class DepthFinder {
  /** The pixels of each piece, by its label. */
  private readonly pixels: readonly number[][];
  /** The label of the hole from which a pixel was last reached. All holes together cost a few times their own area. */
  private readonly reachedFrom: Int32Array;

  constructor(
    private readonly labels: Int32Array,
    private readonly isOutside: readonly boolean[],
    private readonly size: Size,
  ) {
    const pixels: number[][] = [[], ...isOutside.map(() => [])];
    labels.forEach((label, at) => {
      if (label > 0 && isOutside[label - 1] !== true) pixels[label]?.push(at);
    });
    this.pixels = pixels;
    this.reachedFrom = new Int32Array(labels.length);
  }

  isDeep(hole: number): boolean {
    let front = this.pixels[hole] ?? [];
    const reach = DEEP * Math.sqrt((front.length * 4) / Math.PI);
    for (const at of front) this.reachedFrom[at] = hole;
    for (let distance = 1; distance < reach; distance++) {
      const next: number[] = [];
      for (const at of front) if (!this.step(at, hole, next)) return false;
      front = next;
    }
    return true;
  }

  /** Adds the neighbours of a pixel that were not reached before. @returns false at the outside */
  private step(at: number, hole: number, next: number[]): boolean {
    const { width, height } = this.size;
    const x = at % width;
    if (x === 0 || x === width - 1 || at < width || at >= width * (height - 1)) return false;
    for (const beside of [at - 1, at + 1, at - width, at + width]) {
      if (this.reachedFrom[beside] === hole) continue;
      if (this.isOutside[(this.labels[beside] ?? 0) - 1] === true) return false;
      this.reachedFrom[beside] = hole;
      next.push(beside);
    }
    return true;
  }
}

/**
 * Fills holes whose colours the outside does not have: they are parts of the object that look unlike the rest of it. It also fills holes
 * that are deep in the object, like the dark eye of a fish in front of a dark ground; an opening is near its object's edge. In an object
 * without dents, any other small hole that looks like the outside is doubtful.
 * @returns `doubt` from 0 to 1
 */
export function fillHoles(mask: BinaryMask, raster: Raster): { mask: BinaryMask; doubt: number } {
  const { labels, list } = findPieces(mask, raster, 0);
  const colours = coloursOf(raster, labels, list.length);
  const isOutside = list.map(({ atBorder }) => atBorder > 0);
  const outside = new Float64Array(LEVELS ** 3);
  colours.forEach((histogram, index) => {
    if (isOutside[index] === true) histogram.forEach((value, colour) => (outside[colour] = (outside[colour] ?? 0) + value));
  });
  const depths = new DepthFinder(labels, isOutside, raster);
  const isFilled = colours.map(
    (hole, index) => isOutside[index] !== true && (overlapOf(hole, outside) < SEEN_THROUGH || depths.isDeep(index + 1)),
  );
  const filled = mask.map((value, at) => (isFilled[(labels[at] ?? 0) - 1] === true ? 1 : value));
  const open = list.reduce((sum, { area }, index) => sum + (isOutside[index] === true || isFilled[index] === true ? 0 : area), 0);
  if (open === 0) return { mask: filled, doubt: 0 };
  const whole = open + sumOf(filled);
  const isConvex = whole >= CONVEX * hullArea(filled, raster);
  return { mask: filled, doubt: isConvex && open <= MAX_DOUBTED * whole ? (DOUBT * open) / whole : 0 };
}
