import { type BinaryMask, type Size } from './raster';

interface Component {
  readonly area: number;
  /** How many of its pixels lie on the picture's border. */
  readonly atBorder: number;
}

/** Pieces smaller than this share of the largest are specks. */
const MIN_OF_LARGEST = 0.03;
/** Of the picture. */
const MIN_OF_PICTURE = 0.0004;
/** Holes smaller than this share of the picture are filled. */
const SMALL_HOLE = 0.0008;
/** A piece whose border pixels outnumber the side of a square of its area by this factor lies along the border: background. */
const ALONG_BORDER = 4;

/** Pieces of pixels with `value` that hang together by their sides. `labels` counts from 1 in the order of `list`. */
function findComponents(mask: BinaryMask, { width, height }: Size, value: number): { labels: Int32Array; list: readonly Component[] } {
  const labels = new Int32Array(mask.length);
  const list: Component[] = [];
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

/** Drops specks and pieces that lie along the border, fills pinholes. */
export function tidyMask(mask: BinaryMask, size: Size): BinaryMask {
  const result = mask.slice();
  const pieces = findComponents(mask, size, 1);
  const largest = pieces.list.reduce((most, { area }) => Math.max(most, area), 0);
  const least = Math.max(MIN_OF_LARGEST * largest, MIN_OF_PICTURE * mask.length);
  const isDropped = pieces.list.map(({ area, atBorder }) => area < least || atBorder > ALONG_BORDER * Math.sqrt(area));
  for (let at = 0; at < result.length; at++) if (isDropped[(pieces.labels[at] ?? 0) - 1] === true) result[at] = 0;
  const holes = findComponents(result, size, 0);
  const isFilled = holes.list.map(({ area, atBorder }) => atBorder === 0 && area < SMALL_HOLE * mask.length);
  for (let at = 0; at < result.length; at++) if (isFilled[(holes.labels[at] ?? 0) - 1] === true) result[at] = 1;
  return result;
}
