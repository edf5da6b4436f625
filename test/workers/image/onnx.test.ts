import { loadOnnxFinder, missingRuntime, type OnnxRuntime } from '../../../services/workers/image/onnx/onnx-finder';
import { type OnnxModel, toAlpha, toTensor } from '../../../services/workers/image/onnx/onnx-model';
import { imageWorkerSettings } from '../../../services/workers/image/settings';
import { readSettings, SettingsError } from '../../../plugins/core/settings';

const model: OnnxModel = { modelFile: 'm.onnx', size: 2, mean: [0.5, 0.25, 0], std: [0.5, 1, 2], outputActivation: 'none' };
/** Red, green, blue and black; alpha is not looked at. */
const rgba = Uint8Array.from([200, 0, 0, 9, 0, 100, 0, 9, 0, 0, 50, 9, 0, 0, 0, 255]);

describe('what a model is given', () => {
  it('is planes of red, green and blue, divided by the largest value and normalised', () => {
    expect([...toTensor(rgba, model)]).toEqual([1, -1, -1, -1, -0.25, 0.25, -0.25, -0.25, 0, 0, 0.125, 0]);
    // Also where there is no largest value to divide by.
    expect([...toTensor(new Uint8Array(16), model)].every(Number.isFinite)).toBe(true);
  });
});

describe('what a model answers', () => {
  it('is stretched to 0–1, the first plane only', () => {
    expect([...(toAlpha(Float32Array.from([2, 4, 3, 6, 99]), model) ?? [])]).toEqual([0, 0.5, 0.25, 1]);
  });

  it('passes a sigmoid when the model answers logits', () => {
    const alpha = toAlpha(Float32Array.from([-100, 0, 100, 0]), { ...model, outputActivation: 'sigmoid' });
    expect([...(alpha ?? [])]).toEqual([0, 0.5, 1, 0.5]);
  });

  it('is nothing when it is the same everywhere', () => {
    expect(toAlpha(new Float32Array(4).fill(0.3), model)).toBeUndefined();
  });

  it.each([
    ['too short', Float32Array.from([1, 2, 3])],
    ['not a number', Float32Array.from([1, 2, Number.NaN, 3])],
  ])('is an error when it is %s', (_what, output) => {
    expect(() => toAlpha(output, model)).toThrow("the model's output");
  });
});

describe('the model engine', () => {
  const runtimeOf = (answer: unknown): OnnxRuntime & { asked: unknown[] } => {
    const asked: unknown[] = [];
    class Tensor {
      readonly data: Float32Array;
      constructor(type: string, data: Float32Array, dims: readonly number[]) {
        asked.push({ type, dims });
        this.data = data;
      }
    }
    const session = {
      inputNames: ['in'],
      outputNames: ['d0', 'd1'],
      run: () => Promise.resolve({ d0: { data: answer }, d1: { data: [] } }),
    };
    return { asked, Tensor, InferenceSession: { create: (file) => Promise.resolve((asked.push(file), session)) } };
  };

  it('feeds the first input and reads the first output', async () => {
    const runtime = runtimeOf(Float32Array.from([0, 1, 0, 1]));
    const find = await loadOnnxFinder(model, runtime);
    expect(await find({ rgba, width: 2, height: 2 }, 0)).toEqual({ alpha: Float32Array.from([0, 1, 0, 1]), confidence: null });
    expect(runtime.asked).toEqual(['m.onnx', { type: 'float32', dims: [1, 3, 2, 2] }]);
  });

  it('fails on an answer of another type', async () => {
    const find = await loadOnnxFinder(model, runtimeOf([1, 2, 3, 4]));
    await expect(find({ rgba, width: 2, height: 2 }, 0)).rejects.toThrow('32-bit');
  });

  it('says which package is missing', () => {
    const absent = (): never => {
      throw new Error('not found');
    };
    expect(missingRuntime(absent)).toContain('npm install onnxruntime-node');
    expect(missingRuntime(() => 'found')).toBeUndefined();
  });
});

describe('the settings', () => {
  const read = (env: Record<string, string>) => readSettings({ worker: imageWorkerSettings }, env).worker;

  it('need nothing, and take three numbers for the mean', () => {
    expect(read({ IMAGE_ONNX_MEAN: '0.5, 0.5,0.5' }).IMAGE_ONNX_MEAN).toEqual([0.5, 0.5, 0.5]);
    expect(read({})).toMatchObject({ IMAGE_ONNX_SIZE: 320, IMAGE_ONNX_MEAN: [0.485, 0.456, 0.406], IMAGE_THREADS: 1 });
  });

  it('name every mistake at once', () => {
    const env = {
      IMAGE_ONNX_MODEL: '/no/such/file',
      IMAGE_ONNX_MEAN: '1,2',
      IMAGE_ONNX_STD: '1,0,1',
      IMAGE_ONNX_ACTIVATION: 'relu',
      IMAGE_UPSTREAM_URL: 'http://x',
      IMAGE_THREADS: '0',
    };
    const attempt = () => read(env);
    expect(attempt).toThrow(SettingsError);
    for (const name of Object.keys(env)) expect(attempt).toThrow(name);
  });
});
