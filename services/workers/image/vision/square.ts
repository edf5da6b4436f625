import { type Size } from './raster';

/** A picture in the middle of a square, the form that models take. */
export interface Framed extends Size {
  /** Four bytes a pixel; alpha is ignored. The longer side is the square's. */
  readonly rgba: Uint8Array;
}

/** Values that a model's training fixed. */
export interface Normal {
  /** Pixels of the square's side. */
  readonly size: number;
  readonly mean: readonly [number, number, number];
  readonly std: readonly [number, number, number];
}

/** The order of a model's input: planes of red, green and blue, or three values a pixel. */
export type Layout = 'planes' | 'pixels';

/** Numbers in the order of a model's input or output, and the size of each axis. */
export interface Values {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** The square may be wider or higher than the picture, which is in its middle. */
function marginsOf({ width, height }: Size, size: number): { left: number; top: number } {
  return { left: Math.floor((size - width) / 2), top: Math.floor((size - height) / 2) };
}

/**
 * A picture as the model's input: divided by its largest value and normalised, in the middle of a square. The rest of the square is 0, the
 * mean colour.
 */
export function toTensor({ rgba, width, height }: Framed, { size, mean, std }: Normal, layout: Layout): Float32Array {
  const plane = size * size;
  let largest = 0;
  for (let at = 0; at < width * height * 4; at++) if (at % 4 !== 3) largest = Math.max(largest, rgba[at] ?? 0);
  const scale = 1 / Math.max(largest, 1e-6);
  const { left, top } = marginsOf({ width, height }, size);
  const tensor = new Float32Array(plane * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [from, to] = [(y * width + x) * 4, (y + top) * size + x + left];
      for (const channel of [0, 1, 2] as const) {
        const value = ((rgba[from + channel] ?? 0) * scale - mean[channel]) / std[channel];
        tensor[layout === 'planes' ? channel * plane + to : to * 3 + channel] = value;
      }
    }
  }
  return tensor;
}

/**
 * The part of a model's first channel that shows the picture. Channels are planes, or interleaved for each pixel.
 * @throws Error when the output is shorter than a plane
 */
export function cropOutput({ data, dims }: Values, size: number, frame: Size): Float32Array {
  const plane = size * size;
  if (data.length < plane) throw new Error(`the model's output has ${data.length} values, ${plane} are needed`);
  const step = dims.length === 4 && dims[1] === size && dims[2] === size ? (dims[3] ?? 1) : 1;
  const { left, top } = marginsOf(frame, size);
  const values = new Float32Array(frame.width * frame.height);
  for (let at = 0; at < values.length; at++) {
    const [x, y] = [at % frame.width, Math.floor(at / frame.width)];
    values[at] = data[((y + top) * size + x + left) * step] ?? 0;
  }
  return values;
}
