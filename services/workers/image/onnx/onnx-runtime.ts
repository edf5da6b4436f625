import { createRequire } from 'node:module';
import { type LoadedModel, type OnnxModel } from './onnx-model';

/** The package that runs large models. It is optional. */
const RUNTIME = 'onnxruntime-node';

interface Tensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}

interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** An axis without a fixed length has a name. */
  readonly inputMetadata: readonly { readonly shape?: readonly (number | string)[] }[];
  run(feeds: Readonly<Record<string, Tensor>>, fetches: readonly string[]): Promise<Readonly<Record<string, Tensor>>>;
}

/** The parts of onnxruntime-node that are used here. */
export interface OnnxRuntime {
  readonly InferenceSession: { create(file: string, options: Readonly<Record<string, boolean>>): Promise<Session> };
  readonly Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => Tensor;
}

/** True if the optional package is installed. */
export function hasOnnxRuntime(resolve: (name: string) => unknown = createRequire(__filename).resolve): boolean {
  try {
    resolve(RUNTIME);
    return true;
  } catch {
    return false;
  }
}

function loadRuntime(): OnnxRuntime {
  return createRequire(__filename)(RUNTIME) as OnnxRuntime;
}

/**
 * Pictures come one at a time, seconds apart, so memory kept for the next one is mostly idle. With isnet at 1024 pixels, the process held
 * 2,125 MB with the runtime's cache and all twelve outputs. With these options it holds 241 MB between pictures, and 895 MB at most. A
 * picture then takes half as much processor time again: 9.5 s instead of 6.3 s.
 */
const FRUGAL = { enableCpuMemArena: false, enableMemPattern: false };

/** @throws Error when the runtime or the model cannot be loaded */
export async function loadWithOnnxRuntime({ modelFile, size }: OnnxModel, runtime = loadRuntime()): Promise<LoadedModel> {
  const session = await runtime.InferenceSession.create(modelFile, FRUGAL);
  const [input] = session.inputNames;
  const [output] = session.outputNames;
  if (input === undefined || output === undefined) throw new Error('the model has no input or no output');
  const layout = session.inputMetadata[0]?.shape?.at(-1) === 3 ? 'pixels' : 'planes';
  const dims = layout === 'planes' ? [1, 3, size, size] : [1, size, size, 3];
  return {
    layout,
    run: async (values) => {
      // Models have up to twelve outputs. Unless the wanted output is named, all of them are copied.
      const found = (await session.run({ [input]: new runtime.Tensor('float32', values, dims) }, [output]))[output];
      if (!(found?.data instanceof Float32Array)) throw new Error('the model does not return 32-bit numbers');
      return { data: found.data, dims: found.dims };
    },
  };
}
