import { type Size } from '../vision/raster';
import { cropOutput, type Layout, type Normal, type Values } from '../vision/square';

/** A segmentation model and the values that its training fixed. */
export interface OnnxModel extends Normal {
  /** An ONNX file, or a TFLite file whose name ends in `.tflite`. The size of u2net is 320, of isnet and birefnet 1024. */
  readonly modelFile: string;
  /** `sigmoid` for models that output logits (birefnet). */
  readonly outputActivation: 'none' | 'sigmoid';
}

/** A loaded model. It takes a square picture and returns the model's first output. */
export interface LoadedModel {
  readonly layout: Layout;
  readonly run: (input: Float32Array) => Promise<Values>;
}

/** A model whose most certain pixel is below this saw nothing. */
const MIN_PEAK = 0.5;

/**
 * A model's output as alpha, stretched to the range from 0 to 1.
 * @param frame size of the picture in the middle of the model's square
 * @returns undefined when the model saw nothing: all values are equal, or they are probabilities and none is above a half. `peak` is the
 * greatest probability, and 1 if the values are not probabilities
 * @throws Error when the output is shorter than a plane or holds something that is not a number
 */
export function toAlpha(
  output: Values,
  { size, outputActivation }: Pick<OnnxModel, 'size' | 'outputActivation'>,
  frame: Size,
): { alpha: Float32Array; peak: number } | undefined {
  const found = cropOutput(output, size, frame);
  const values = outputActivation === 'sigmoid' ? found.map((value) => 1 / (1 + Math.exp(-value))) : found;
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) throw new Error("the model's output holds something that is not a number");
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const peak = least >= 0 && most <= 1 ? most : 1;
  if (most === least || peak < MIN_PEAK) return undefined;
  return { alpha: values.map((value) => (value - least) / (most - least)), peak };
}
