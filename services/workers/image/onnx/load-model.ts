import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { loadOpenCv } from '../vision/open-cv';
import { readNet, runNet } from '../vision/open-cv-net';
import { type ForegroundFinder } from '../cut-out-job';
import { toTensor } from '../vision/square';
import { hasOnnxRuntime, loadWithOnnxRuntime } from './onnx-runtime';
import { type LoadedModel, type OnnxModel, toAlpha } from './onnx-model';

/** Maximum bytes of a model file that OpenCV runs. OpenCV copies the weights, and is slower than the runtime for models. */
const MAX_OPENCV_BYTES = 67_108_864;

const isTflite = (file: string): boolean => file.endsWith('.tflite');

/** The reason why a model file cannot be used, for the platform engineer; undefined when it can. */
export function modelProblem(modelFile: string, hasRuntime = hasOnnxRuntime()): string | undefined {
  const stats = statSync(modelFile, { throwIfNoEntry: false });
  if (!stats?.isFile()) return 'names no file';
  if (stats.size <= MAX_OPENCV_BYTES || (hasRuntime && !isTflite(modelFile))) return undefined;
  if (isTflite(modelFile)) return 'names a TFLite file of more than 64 MiB';
  return 'names a file of more than 64 MiB, and the optional package that runs such models is not installed: npm install onnxruntime-node';
}

async function loadWithOpenCv({ modelFile, size }: OnnxModel): Promise<LoadedModel> {
  const cv = await loadOpenCv();
  const net = readNet(cv, new Uint8Array(await readFile(modelFile)), isTflite(modelFile) ? 'tflite' : 'onnx');
  return { layout: 'planes', run: (input) => Promise.resolve(runNet(cv, net, { input, size })) };
}

/**
 * Loads a model with onnxruntime-node if that is installed, otherwise with the OpenCV that GrabCut uses. Call it in its own thread.
 * @throws Error when the model cannot be loaded
 */
export function loadModel(model: OnnxModel): Promise<LoadedModel> {
  return !isTflite(model.modelFile) && hasOnnxRuntime() ? loadWithOnnxRuntime(model) : loadWithOpenCv(model);
}

/**
 * Finds foregrounds with a model. Its confidence is the probability of its most certain pixel; the rule for all engines judges the rest.
 */
export function createOnnxFinder(model: OnnxModel, { layout, run }: LoadedModel): ForegroundFinder {
  return async (small) => {
    const found = toAlpha(await run(toTensor(small, model, layout)), model, small);
    return found && { alpha: found.alpha, confidence: found.peak, engine: 'onnx' };
  };
}
