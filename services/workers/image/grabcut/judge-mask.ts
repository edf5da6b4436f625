import { type BinaryMask, type Size } from '../vision/raster';
import { type Side, stripOf, stripThickness } from '../vision/sides';

/** The change of colour at each pixel, in L*a*b* units. */
export function gradientOf(lab: Float32Array, { width, height }: Size): Float32Array {
  const result = new Float32Array(width * height);
  for (let y = 0; y < height; y++) {
    const [above, below] = [Math.max(y - 1, 0) * width, Math.min(y + 1, height - 1) * width];
    for (let x = 0; x < width; x++) {
      const [left, right] = [y * width + Math.max(x - 1, 0), y * width + Math.min(x + 1, width - 1)];
      let sum = 0;
      for (let channel = 0; channel < 3; channel++) {
        const across = (lab[right * 3 + channel] ?? 0) - (lab[left * 3 + channel] ?? 0);
        const down = (lab[(below + x) * 3 + channel] ?? 0) - (lab[(above + x) * 3 + channel] ?? 0);
        sum += across * across + down * down;
      }
      result[y * width + x] = Math.sqrt(sum);
    }
  }
  return result;
}

/** Mean gradient along the outline, and the outline's length in pixels. */
export function outlineOf(mask: BinaryMask, gradient: Float32Array, { width, height }: Size): { edge: number; length: number } {
  let [sum, length] = [0, 0];
  const compare = (at: number, other: number): void => {
    if (mask[at] === mask[other]) return;
    sum += Math.max(gradient[at] ?? 0, gradient[other] ?? 0);
    length++;
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      if (x < width - 1) compare(at, at + 1);
      if (y < height - 1) compare(at, at + width);
    }
  }
  return { edge: length === 0 ? 0 : sum / length, length };
}

/** Width in pixels of the strip inside the border. Foreground in it means that a guess reached the border. */
const RING = 3;

function contactWith(sides: readonly Side[], mask: BinaryMask, size: Size): number {
  const thickness = stripThickness(size);
  const strip = new Set(stripOf(sides, { ...size, thickness }));
  const ring = stripOf(sides, { ...size, thickness: thickness + RING }).filter((at) => !strip.has(at));
  const hits = ring.reduce((sum, at) => sum + (mask[at] ?? 0), 0);
  return ring.length === 0 ? 0 : hits / ring.length;
}

/** Limits of a believable foreground, as shares of the picture. */
const MIN_SHARE = 0.005;
const MAX_SHARE = 0.97;

/**
 * Scores a mask; 0 means not believable. A good mask runs along strong edges, stays away from the border and is not frayed.
 * @param closedSides sides at which the object is not expected to leave the picture
 */
export function judgeMask(mask: BinaryMask, gradient: Float32Array, scene: Size & { readonly closedSides: readonly Side[] }): number {
  const area = mask.reduce((sum, value) => sum + value, 0);
  const share = area / mask.length;
  if (share < MIN_SHARE || share > MAX_SHARE) return 0;
  const { edge, length } = outlineOf(mask, gradient, scene);
  const contact = contactWith(scene.closedSides, mask, scene);
  const fraying = length / (4 * Math.sqrt(area));
  return (edge * (1 - contact) ** 3) / Math.sqrt(1 + 0.1 * fraying);
}
