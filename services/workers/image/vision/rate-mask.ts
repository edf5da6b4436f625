import { findPieces } from './pieces';
import { type Size, toMask } from './raster';
import { type Side, SIDES } from './sides';

/** Measurements of a mask, whatever made it. */
export interface MaskFacts {
  /** Share of the picture that is at least half opaque. */
  readonly area: number;
  /** Mean alpha of that share. */
  readonly probability: number;
  /** Pixels that are neither opaque nor transparent, for each opaque pixel. */
  readonly softness: number;
  /** Share of the area that is in its largest piece. */
  readonly largestPiece: number;
  /** From the bottom of the picture to the mask's highest row, as a share of the picture's height. */
  readonly height: number;
  /** The share of each side of the picture that the mask covers. */
  readonly sides: Readonly<Record<Side, number>>;
}

const OPAQUE = 0.9;
const TRANSPARENT = 0.1;

/** @param alpha from 0 to 1 for each pixel */
export function factsOf(alpha: Float32Array, size: Size): MaskFacts {
  const mask = toMask(alpha);
  let [count, sum, soft, opaque] = [0, 0, 0, 0];
  for (let at = 0; at < alpha.length; at++) {
    const value = alpha[at] ?? 0;
    if (value >= OPAQUE) opaque++;
    else if (value > TRANSPARENT) soft++;
    if (mask[at] === 0) continue;
    count++;
    sum += value;
  }
  const largest = findPieces(mask, size, 1).list.reduce((most, { area }) => Math.max(most, area), 0);
  return {
    area: count / alpha.length,
    probability: count === 0 ? 0 : sum / count,
    softness: soft / Math.max(opaque, 1),
    largestPiece: count === 0 ? 0 : largest / count,
    height: count === 0 ? 0 : 1 - Math.floor(mask.indexOf(1) / size.width) / size.height,
    sides: sidesOf(mask, size),
  };
}

function sidesOf(mask: Uint8Array, { width, height }: Size): Record<Side, number> {
  const share = (length: number, at: (index: number) => number): number => {
    let hits = 0;
    for (let index = 0; index < length; index++) hits += mask[at(index)] ?? 0;
    return hits / length;
  };
  return {
    top: share(width, (x) => x),
    bottom: share(width, (x) => (height - 1) * width + x),
    left: share(height, (y) => y * width),
    right: share(height, (y) => y * width + width - 1),
  };
}

/** A cut-out counts between these shares of the picture. */
const MIN_AREA = 0.005;
const MAX_AREA = 0.99;

/** True for a cut-out that shows nothing or everything, so that no background was removed. @param area share of the picture */
export const isNothing = (area: number): boolean => area < MIN_AREA || area > MAX_AREA;

/** 1 at `good` or better, 0 at `bad` or worse, and between them in proportion. */
export function ramp(value: number, bad: number, good: number): number {
  return Math.min(Math.max((value - bad) / (good - bad), 0), 1);
}

/** A side is touched if the mask covers this share of it. */
const TOUCHED = 0.05;
/** A mask that touches all four sides is more likely a frame or a ground than a thing. */
const SURROUNDING = 0.5;

/**
 * The rule for all engines: how much a mask looks like the outline of one thing, from 0 to 1. An engine's own confidence is multiplied by
 * it. The bounds do not affect the right cut-outs of the photographs in test/fixtures.
 * @returns undefined when the mask shows nothing or everything
 */
export function rateMask({ area, probability, softness, largestPiece, sides }: MaskFacts): number | undefined {
  if (isNothing(area)) return undefined;
  const framing = SIDES.every((side) => sides[side] > TOUCHED) ? SURROUNDING : 1;
  return ramp(probability, 0.5, 0.9) * ramp(softness, 1, 0.4) * ramp(largestPiece, 0.25, 0.95) * framing;
}
