import { barrierDistance } from './barrier-distance';
import { distanceTo, groupColours, splitValue } from './colour-model';
import type { BinaryMask, Size } from '../vision/raster';
import { type Side, SIDES, stripOf, stripThickness } from '../vision/sides';

/** GrabCut's mask values. */
export const BACKGROUND = 0;
export const FOREGROUND = 1;
export const PROBABLY_BACKGROUND = 2;
export const PROBABLY_FOREGROUND = 3;

/** One guess of the foreground, from which GrabCut starts. */
export interface Seed {
  readonly name: 'unlike_border' | 'behind_barrier' | 'behind_low_barrier' | 'central' | 'portrait';
  /** One of the four values for each pixel. */
  readonly mask: Uint8Array;
  /** Sides at which foreground makes the guess less believable. */
  readonly closedSides: readonly Side[];
}

type Test = (at: number, x: number, y: number) => boolean;

function maskOf(size: Size, isProbable: Test): Uint8Array {
  const mask = new Uint8Array(size.width * size.height);
  for (let at = 0; at < mask.length; at++) {
    mask[at] = isProbable(at, at % size.width, Math.floor(at / size.width)) ? PROBABLY_FOREGROUND : PROBABLY_BACKGROUND;
  }
  return mask;
}

/** An ellipse in the middle, extended to the sides at which the object leaves the picture. */
function centralTest({ width, height }: Size, open: ReadonlySet<Side>): Test {
  const margin = 0.06;
  const [left, right] = [open.has('left') ? 0 : margin * width, open.has('right') ? width : (1 - margin) * width];
  const [top, bottom] = [open.has('top') ? 0 : margin * height, open.has('bottom') ? height : (1 - margin) * height];
  const [cx, cy] = [(left + right) / 2, (top + bottom) / 2];
  const [isOpenBelow, isOpenAbove] = [open.has('bottom'), open.has('top')];
  const [isOpenLeft, isOpenRight] = [open.has('left'), open.has('right')];
  return (_at, x, y) => {
    const u = Math.abs(x - cx) / (0.33 * width);
    const v = Math.abs(y - cy) / (0.38 * height);
    if (u * u + v * v < 1) return true;
    if (u < 1 && ((isOpenBelow && y > cy) || (isOpenAbove && y < cy))) return true;
    return v < 1 && ((isOpenLeft && x < cx) || (isOpenRight && x > cx));
  };
}

/** A head above shoulders that reach the lower border. This is the most common photograph, and the mask needs no colours. */
function portraitMask({ width, height }: Size): Uint8Array {
  const mask = new Uint8Array(width * height);
  for (let at = 0; at < mask.length; at++) {
    const [x, y] = [at % width, Math.floor(at / width)];
    const [u, v] = [Math.abs(x - width / 2) / width, (y - height / 2) / height];
    const isCore = (u / 0.11) ** 2 + (v / 0.26) ** 2 < 1 || (v > 0 && u < 0.11);
    const isAround = (u / 0.36) ** 2 + (v / 0.42) ** 2 < 1 || (v > 0 && u < 0.36);
    const isMargin = u > 0.4 || y < 0.06 * height;
    if (isCore) mask[at] = FOREGROUND;
    else if (isAround) mask[at] = PROBABLY_FOREGROUND;
    else mask[at] = isMargin ? BACKGROUND : PROBABLY_BACKGROUND;
  }
  return mask;
}

/** Share of the distance that remains at the corners. In the middle it remains whole. */
const CORNER_SHARE = 0.5;

/** Lowers distances towards the corners, because the subject is more often in the middle. */
function ratherCentral(distance: Float32Array, { width, height }: Size): Float32Array {
  return distance.map((value, at) => {
    const [u, v] = [(at % width) / width - 0.5, Math.floor(at / width) / height - 0.5];
    return value * (1 - (1 - CORNER_SHARE) * Math.min(1, 4 * (u * u + v * v)));
  });
}

/** Guesses of the foreground, and the data behind them. */
export interface Seeds {
  readonly guesses: readonly Seed[];
  /** {@link barrierDistance} of each pixel to the border. */
  readonly distance: Float32Array;
}

/**
 * Makes five guesses: by colours that the border does not have, by two heights of the barrier between a pixel and the border, by the
 * centre, and a portrait.
 * @param clear pixels that are transparent in the image itself and therefore certainly background
 */
export function makeSeeds(lab: Float32Array, size: Size, clear: BinaryMask): Seeds {
  const open = findOpenSides(lab, size);
  const closedSides = SIDES.filter((side) => !open.has(side));
  const strip = stripOf(closedSides, { ...size, thickness: stripThickness(size) });
  const border = groupColours(lab, strip);
  const unlikeness = Float32Array.from({ length: size.width * size.height }, (_, at) => distanceTo(border, lab, at));
  const distance = barrierDistance(lab, size, strip);
  const above = (values: Float32Array, share: number): Test => {
    const least = share * splitValue(values);
    return (at) => (values[at] ?? 0) > least;
  };
  const seed = (name: Seed['name'], isProbable: Test): Seed => {
    const mask = maskOf(size, isProbable);
    for (const at of strip) mask[at] = BACKGROUND;
    return { name, mask, closedSides };
  };
  const central = ratherCentral(distance, size);
  const portrait: Seed = { name: 'portrait', mask: portraitMask(size), closedSides: closedSides.filter((side) => side !== 'bottom') };
  const guesses = [
    seed('unlike_border', above(unlikeness, 0.5)),
    seed('behind_barrier', above(central, 0.6)),
    seed('behind_low_barrier', above(central, 0.35)),
    seed('central', centralTest(size, open)),
    portrait,
  ];
  for (const { mask } of guesses) {
    for (let at = 0; at < mask.length; at++) if (clear[at] === 1) mask[at] = BACKGROUND;
  }
  return { guesses, distance };
}

/** A border pixel at least this many spreads away from the colours of the other three borders is not background. */
const UNLIKE = 3.5;
/** An object that is cut off covers at least this share of the side. */
const MIN_RUN = 0.08;
/** At least this share of the covered pixels must be a single run: scattered pixels along a side are a busy background. */
const MIN_WHOLE = 0.75;
/** Pixels. Shorter gaps do not end a run. */
const GAP = 3;

/** Length of the longest run of true, and the total number of true. */
function runsOf(line: readonly boolean[]): { longest: number; total: number } {
  let [run, gap, longest, total] = [0, 0, 0, 0];
  for (const isSet of line) {
    if (isSet) {
      run++;
      total++;
      gap = 0;
    } else if (++gap > GAP) run = 0;
    longest = Math.max(longest, run);
  }
  return { longest, total };
}

function isCutOffAt(side: Side, lab: Float32Array, size: Size): boolean {
  const area = { ...size, thickness: stripThickness(size) };
  const otherSides = SIDES.filter((each) => each !== side);
  const others = groupColours(lab, stripOf(otherSides, area));
  const isHorizontal = side === 'top' || side === 'bottom';
  const unlike = new Array<number>(isHorizontal ? size.width : size.height).fill(0);
  for (const at of stripOf([side], area)) {
    const index = isHorizontal ? at % size.width : Math.floor(at / size.width);
    if (distanceTo(others, lab, at) > UNLIKE) unlike[index] = (unlike[index] ?? 0) + 1;
  }
  const { longest, total } = runsOf(unlike.map((count) => count > area.thickness / 2));
  return longest > MIN_RUN * unlike.length && longest >= MIN_WHOLE * total;
}

/** The sides at which the object seems to leave the picture, at most two. Their border is not certainly background. */
function findOpenSides(lab: Float32Array, size: Size): ReadonlySet<Side> {
  const open = SIDES.filter((side) => isCutOffAt(side, lab, size));
  return new Set(open.length > 2 ? [] : open);
}
