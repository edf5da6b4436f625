/** A segmentation model and the values that its training fixed. */
export interface OnnxModel {
  readonly modelFile: string;
  /** Pixels of the square that the model takes: u2net 320, isnet and birefnet 1024. */
  readonly size: number;
  readonly mean: readonly [number, number, number];
  readonly std: readonly [number, number, number];
  /** `sigmoid` for models that output logits (birefnet). */
  readonly outputActivation: 'none' | 'sigmoid';
}

/**
 * A square picture as the model's input: divided by its largest value and normalised, in planes of red, green and blue (NCHW, N = 1).
 * @param rgba of `size` × `size` pixels; alpha is ignored
 */
export function toTensor(rgba: Uint8Array, { size, mean, std }: Pick<OnnxModel, 'size' | 'mean' | 'std'>): Float32Array {
  const plane = size * size;
  let largest = 0;
  for (let at = 0; at < plane * 4; at++) if (at % 4 !== 3) largest = Math.max(largest, rgba[at] ?? 0);
  const scale = 1 / Math.max(largest, 1e-6);
  const tensor = new Float32Array(plane * 3);
  for (const channel of [0, 1, 2] as const) {
    for (let at = 0; at < plane; at++)
      tensor[channel * plane + at] = ((rgba[at * 4 + channel] ?? 0) * scale - mean[channel]) / std[channel];
  }
  return tensor;
}

/**
 * The first plane of a model's output as alpha, stretched to the range from 0 to 1.
 * @returns undefined when all values are the same: the model saw nothing
 * @throws Error when the output is shorter than a plane or holds something that is no number
 */
export function toAlpha(
  output: Float32Array,
  { size, outputActivation }: Pick<OnnxModel, 'size' | 'outputActivation'>,
): Float32Array | undefined {
  const plane = size * size;
  if (output.length < plane) throw new Error(`the model's output has ${output.length} values, ${plane} are needed`);
  const values = output.subarray(0, plane).map((value) => (outputActivation === 'sigmoid' ? 1 / (1 + Math.exp(-value)) : value));
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) throw new Error("the model's output holds something that is no number");
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (most === least) return undefined;
  return values.map((value) => (value - least) / (most - least));
}
