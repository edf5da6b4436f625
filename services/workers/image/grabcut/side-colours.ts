import { type Raster } from './raster';

/** Of one pixel chosen: 1, red, green, blue, and the squares of the three together. */
const FIELDS = 5;

/** What the chosen pixels of a window have in common. */
export interface WindowColours {
  /** Share of the window's pixels that are chosen, 0–1. */
  share: number;
  readonly mean: [number, number, number];
  /** Of the three channels together, in squared levels. */
  variance: number;
}

/**
 * Mean colour and variance of chosen pixels in squares of `2 · radius + 1` pixels, cut at the borders. The window's rows move down the picture,
 * so that a picture costs a few operations a pixel whatever the radius, and no plane of its size. All sums are whole numbers: exact.
 */
export class SideColours {
  private readonly columns: Float64Array;
  /** Sums of all columns to the left. */
  private readonly before: Float64Array;
  private firstRow = 0;
  private endRow = 0;

  /** @param chosen 1 for the pixels that count */
  constructor(
    private readonly raster: Raster,
    private readonly chosen: Uint8Array,
    private readonly radius: number,
  ) {
    this.columns = new Float64Array(raster.width * FIELDS);
    this.before = new Float64Array((raster.width + 1) * FIELDS);
  }

  /** Centres the window on a row. Rows can only grow. */
  moveTo(y: number): void {
    const { radius, raster, columns, before } = this;
    while (this.endRow < Math.min(y + radius + 1, raster.height)) this.addRow(this.endRow++, 1);
    while (this.firstRow < y - radius) this.addRow(this.firstRow++, -1);
    for (let at = 0; at < columns.length; at++) before[at + FIELDS] = (before[at] ?? 0) + (columns[at] ?? 0);
  }

  /** Fills `found` with the colours of the window around a pixel of the row; undefined colours are 0. */
  read(x: number, found: WindowColours): void {
    const { radius, raster, before } = this;
    const [left, right] = [Math.max(x - radius, 0), Math.min(x + radius + 1, raster.width)];
    const [from, to] = [left * FIELDS, right * FIELDS];
    const count = (before[to] ?? 0) - (before[from] ?? 0);
    found.share = count / ((right - left) * (this.endRow - this.firstRow));
    const some = Math.max(count, 1);
    let squaredMeans = 0;
    for (const channel of [0, 1, 2] as const) {
      const mean = ((before[to + 1 + channel] ?? 0) - (before[from + 1 + channel] ?? 0)) / some;
      found.mean[channel] = mean;
      squaredMeans += mean * mean;
    }
    found.variance = Math.max(((before[to + 4] ?? 0) - (before[from + 4] ?? 0)) / some - squaredMeans, 0);
  }

  private addRow(y: number, sign: 1 | -1): void {
    const { chosen, columns, raster } = this;
    const { rgb, width } = raster;
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      if (chosen[at] !== 1) continue;
      const [red, green, blue] = [rgb[at * 3] ?? 0, rgb[at * 3 + 1] ?? 0, rgb[at * 3 + 2] ?? 0];
      const to = x * FIELDS;
      columns[to] = (columns[to] ?? 0) + sign;
      columns[to + 1] = (columns[to + 1] ?? 0) + sign * red;
      columns[to + 2] = (columns[to + 2] ?? 0) + sign * green;
      columns[to + 3] = (columns[to + 3] ?? 0) + sign * blue;
      columns[to + 4] = (columns[to + 4] ?? 0) + sign * (red * red + green * green + blue * blue);
    }
  }
}
