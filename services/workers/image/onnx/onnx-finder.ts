import { type ForegroundFinder } from '../cut-out-job';
import { toTensor } from '../vision/square';
import { type LoadedModel, type OnnxModel, toAlpha } from './onnx-model';

/**
 * Finds foregrounds with a model. Its confidence is the probability of its most certain pixel; the rule for all engines judges the rest.
 */
export function createOnnxFinder(model: OnnxModel, { layout, run }: LoadedModel): ForegroundFinder {
  return async (small) => {
    const found = toAlpha(await run(toTensor(small, model, layout)), model, small);
    return found && { alpha: found.alpha, confidence: found.peak, engine: 'onnx' };
  };
}
