import { type BinaryMask, boxBlur, type Size } from './raster';

/** Half the maximum width of thin parts, as a share of the picture's longer side: 5 pixels of 256. */
const HALF_WIDTH = 0.02;

/**
 * The share of a mask's area that is in thin parts: the area that is lost when the mask is eroded and dilated again. 0 for an empty mask.
 */
export function thinShare(mask: BinaryMask, size: Size): number {
  const radius = Math.max(1, Math.round(HALF_WIDTH * Math.max(size.width, size.height)));
  const eroded = boxBlur(mask, size, radius).map((mean) => (mean > 0.9999 ? 1 : 0));
  const opened = boxBlur(eroded, size, radius);
  let [area, thin] = [0, 0];
  for (let at = 0; at < mask.length; at++) {
    if (mask[at] !== 1) continue;
    area++;
    if ((opened[at] ?? 0) < 0.0001) thin++;
  }
  return area === 0 ? 0 : thin / area;
}
