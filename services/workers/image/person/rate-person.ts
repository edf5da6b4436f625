import { type Raster, type Size } from '../vision/raster';
import { type MaskFacts } from '../vision/rate-mask';

/** The people model's mask of a picture, from 0 to 1 for each pixel, in the picture's proportions. */
export interface PersonMask extends Size {
  readonly alpha: Float32Array;
}

export type PersonFinder = (raster: Raster) => PersonMask;

const MIN_AREA = 0.05;
const MAX_AREA = 0.8;
const MIN_WHOLE = 0.95;
/** Share of a side. A mask that covers more of both the left and the right side is ground, not a person. */
const MAX_SIDE = 0.1;
/** The confidence that remains when GrabCut found something else. */
const ALONE = 0.75;

/**
 * How far the people model's mask is the outline of one thing, from 0 to 1. The model answers every picture; where it sees something that it
 * knows, its edge is hard. It often cuts out well what is no person.
 * @param agreement intersection over union with GrabCut's mask: two engines that know nothing of each other
 */
export function ratePerson({ area, softness, largestPiece, sides }: MaskFacts, agreement: number): number {
  const isOneThing = area >= MIN_AREA && area <= MAX_AREA && largestPiece >= MIN_WHOLE && Math.min(sides.left, sides.right) <= MAX_SIDE;
  return isOneThing ? Math.max(0, 1 - softness) * (ALONE + (1 - ALONE) * agreement) : 0;
}
