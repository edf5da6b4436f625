import { type BinaryMask, type Size } from './raster';

export interface Piece {
  readonly area: number;
  /** Number of its pixels on the picture's border. */
  readonly atBorder: number;
}

/** Finds pieces of pixels with `value` that are connected by their sides. `labels` holds numbers from 1, in the order of `list`. */
export function findPieces(mask: BinaryMask, { width, height }: Size, value: number): { labels: Int32Array; list: readonly Piece[] } {
  const labels = new Int32Array(mask.length);
  const list: Piece[] = [];
  const stack = new Int32Array(mask.length);
  let [depth, label] = [0, 1];
  const visit = (at: number): void => {
    if (mask[at] !== value || labels[at] !== 0) return;
    labels[at] = label;
    stack[depth++] = at;
  };
  for (let start = 0; start < mask.length; start++) {
    if (mask[start] !== value || labels[start] !== 0) continue;
    visit(start);
    let [area, atBorder] = [0, 0];
    while (depth > 0) {
      const at = stack[--depth] ?? 0;
      const [x, y] = [at % width, Math.floor(at / width)];
      area++;
      if (x === 0 || y === 0 || x === width - 1 || y === height - 1) atBorder++;
      if (x > 0) visit(at - 1);
      if (x < width - 1) visit(at + 1);
      if (y > 0) visit(at - width);
      if (y < height - 1) visit(at + width);
    }
    list.push({ area, atBorder });
    label++;
  }
  return { labels, list };
}
