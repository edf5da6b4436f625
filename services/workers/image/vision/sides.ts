import { type Size } from './raster';

export const SIDES = ['top', 'bottom', 'left', 'right'] as const;
export type Side = (typeof SIDES)[number];

/** Share of the shorter side that counts as border. */
const STRIP_SHARE = 0.02;

export function stripThickness({ width, height }: Size): number {
  return Math.max(2, Math.round(STRIP_SHARE * Math.min(width, height)));
}

/** Indices of the pixels within `thickness` of any of the sides, without repeats. */
export function stripOf(sides: readonly Side[], area: Size & { readonly thickness: number }): number[] {
  const { width, height, thickness } = area;
  const has = new Set(sides);
  const [left, right] = [has.has('left') ? thickness : 0, width - (has.has('right') ? thickness : 0)];
  const found: number[] = [];
  for (let y = 0; y < height; y++) {
    const isWhole = (has.has('top') && y < thickness) || (has.has('bottom') && y >= height - thickness);
    for (let x = 0; x < width; x++) {
      // The middle pixels of a row belong to no side.
      if (x === left && !isWhole && right > left) x = right;
      if (x < width) found.push(y * width + x);
    }
  }
  return found;
}
