import { createRequire } from 'node:module';
import { type ForegroundFinder } from '../cut-out-job';
import { type OnnxModel, toAlpha, toTensor } from './onnx-model';

/** The package that runs models. It is optional, and needed only when a model is configured. */
const RUNTIME = 'onnxruntime-node';

interface Tensor {
  readonly data: unknown;
}

interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
}

/** The parts of onnxruntime-node that are used here. */
export interface OnnxRuntime {
  readonly InferenceSession: { create(file: string): Promise<Session> };
  readonly Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => Tensor;
}

/** Why a model cannot be used, in words for the platform engineer; undefined when it can. */
export function missingRuntime(resolve: (name: string) => unknown = createRequire(__filename).resolve): string | undefined {
  try {
    resolve(RUNTIME);
    return undefined;
  } catch {
    return `is set, but the optional package ${RUNTIME}, which runs models, is not installed: npm install ${RUNTIME}`;
  }
}

function loadRuntime(): OnnxRuntime {
  return createRequire(__filename)(RUNTIME) as OnnxRuntime;
}

/**
 * Loads a model. Call it in its own thread.
 * @throws Error when the runtime or the model cannot be loaded
 */
export async function loadOnnxFinder(model: OnnxModel, runtime: OnnxRuntime = loadRuntime()): Promise<ForegroundFinder> {
  const session = await runtime.InferenceSession.create(model.modelFile);
  const [input] = session.inputNames;
  const [output] = session.outputNames;
  if (input === undefined || output === undefined) throw new Error('the model has no input or no output');
  return async ({ rgba }) => {
    const tensor = new runtime.Tensor('float32', toTensor(rgba, model), [1, 3, model.size, model.size]);
    const data = (await session.run({ [input]: tensor }))[output]?.data;
    if (!(data instanceof Float32Array)) throw new Error('the model does not answer 32-bit numbers');
    const alpha = toAlpha(data, model);
    // Models differ in what their alpha says about its own clarity, and none was measured.
    return alpha && { alpha, confidence: null };
  };
}
