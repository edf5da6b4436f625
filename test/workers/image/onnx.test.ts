import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModel, modelProblem, createOnnxFinder } from '../../../services/workers/image/onnx/load-model';
import { type OnnxModel, toAlpha } from '../../../services/workers/image/onnx/onnx-model';
import { hasOnnxRuntime, loadWithOnnxRuntime, type OnnxRuntime } from '../../../services/workers/image/onnx/onnx-runtime';
import { imageWorkerSettings } from '../../../services/workers/image/settings';
import { toTensor } from '../../../services/workers/image/vision/square';
import { readSettings, SettingsError } from '../../../plugins/core/settings';
import { tinyOnnxModel } from '../../support/tiny-onnx-model';

const model: OnnxModel = { modelFile: 'm.onnx', size: 2, mean: [0.5, 0.25, 0], std: [0.5, 1, 2], outputActivation: 'none' };
/** Red, green, blue and black; alpha is not looked at. */
const rgba = Uint8Array.from([200, 0, 0, 9, 0, 100, 0, 9, 0, 0, 50, 9, 0, 0, 0, 255]);
const square = { width: 2, height: 2 };

describe('what a model is given', () => {
  it('is planes of red, green and blue, divided by the largest value and normalised', () => {
    expect([...toTensor({ rgba, ...square }, model, 'planes')]).toEqual([1, -1, -1, -1, -0.25, 0.25, -0.25, -0.25, 0, 0, 0.125, 0]);
    // Also where there is no largest value to divide by.
    expect([...toTensor({ rgba: new Uint8Array(16), ...square }, model, 'planes')].every(Number.isFinite)).toBe(true);
  });

  it('is three values a pixel where the model wants that', () => {
    expect([...toTensor({ rgba, ...square }, model, 'pixels')]).toEqual([1, -0.25, 0, -1, 0.25, 0, -1, -0.25, 0.125, -1, -0.25, 0]);
  });

  it.each([
    ['wide', { width: 4, height: 2 }, 4],
    ['high', { width: 1, height: 4 }, 1],
  ])('is not squeezed: a %s picture stands in the middle, on the mean colour', (_what, frame, first) => {
    const white = new Uint8Array(frame.width * frame.height * 4).fill(255);
    const red = [...toTensor({ rgba: white, ...frame }, { ...model, size: 4 }, 'planes')].slice(0, 16);
    expect(red.filter((value) => value === 1)).toHaveLength(frame.width * frame.height);
    expect(red.filter((value) => value === 0)).toHaveLength(16 - frame.width * frame.height);
    expect(red.indexOf(1)).toBe(first);
  });
});

describe('what a model answers', () => {
  const alphaOf = (data: number[], changes: Partial<OnnxModel> = {}, dims: readonly number[] = [1, 1, 2, 2]) =>
    toAlpha({ data: Float32Array.from(data), dims }, { ...model, ...changes }, square);

  it('is stretched to 0–1, the first plane only', () => {
    expect([...(alphaOf([2, 4, 3, 6, 99])?.alpha ?? [])]).toEqual([0, 0.5, 0.25, 1]);
  });

  it('is the first value of each pixel, where the values of a pixel stand together', () => {
    expect([...(alphaOf([0, 9, 1, 9, 0, 9, 1, 9], {}, [1, 2, 2, 2])?.alpha ?? [])]).toEqual([0, 1, 0, 1]);
  });

  it('is cut to the picture in the middle of the square', () => {
    const data = Float32Array.from([0, 1, 9, 9]);
    expect([...(toAlpha({ data, dims: [1, 1, 2, 2] }, model, { width: 2, height: 1 })?.alpha ?? [])]).toEqual([0, 1]);
  });

  it('passes a sigmoid when the model answers logits', () => {
    expect([...(alphaOf([-100, 0, 100, 0], { outputActivation: 'sigmoid' })?.alpha ?? [])]).toEqual([0, 0.5, 1, 0.5]);
  });

  it('is nothing when it is the same everywhere', () => {
    expect(alphaOf([0.7, 0.7, 0.7, 0.7])).toBeUndefined();
  });

  it.each([
    ['probabilities', [0.01, 0, 0.3, 0.02], 'none'],
    ['logits', [-9, -9, -1, -7], 'sigmoid'],
  ] as const)('is nothing when its %s are all under a half, whatever stands out among them', (_what, values, outputActivation) => {
    expect(alphaOf([...values], { outputActivation })).toBeUndefined();
  });

  it('is as sure as its surest pixel', () => {
    expect(alphaOf([0, 0.75, 0, 0])?.peak).toBe(0.75);
    // Values that are no probabilities say nothing of it.
    expect(alphaOf([0, 300, 0, 0])?.peak).toBe(1);
  });

  it.each([
    ['too short', [1, 2, 3]],
    ['not a number', [1, 2, Number.NaN, 3]],
  ])('is an error when it is %s', (_what, output) => {
    expect(() => alphaOf(output)).toThrow("the model's output");
  });
});

describe('the runtime for models', () => {
  const runtimeOf = (answer: unknown, shape?: readonly (number | string)[]): OnnxRuntime & { asked: unknown[] } => {
    const asked: unknown[] = [];
    class Tensor {
      readonly data: Float32Array;
      constructor(
        type: string,
        data: Float32Array,
        readonly dims: readonly number[],
      ) {
        asked.push({ type, dims });
        this.data = data;
      }
    }
    const session = {
      inputNames: ['in'],
      outputNames: ['d0', 'd1'],
      inputMetadata: shape ? [{ shape }] : [],
      run: (_feeds: unknown, fetches: readonly string[]) => {
        asked.push(fetches);
        return Promise.resolve({ d0: { data: answer, dims: [1, 1, 2, 2] } });
      },
    };
    return { asked, Tensor, InferenceSession: { create: (file, options) => Promise.resolve((asked.push(file, options), session)) } };
  };
  const findWith = async (runtime: OnnxRuntime) =>
    createOnnxFinder(model, await loadWithOnnxRuntime(model, runtime))({ rgba, ...square }, 0);

  it('feeds the first input, names the first output, and keeps no memory for the next picture', async () => {
    const runtime = runtimeOf(Float32Array.from([0, 1, 0, 1]));
    expect(await findWith(runtime)).toEqual({ alpha: Float32Array.from([0, 1, 0, 1]), confidence: 1, engine: 'onnx' });
    const frugal = { enableCpuMemArena: false, enableMemPattern: false };
    expect(runtime.asked).toEqual(['m.onnx', frugal, { type: 'float32', dims: [1, 3, 2, 2] }, ['d0']]);
  });

  it.each([
    ['three values a pixel', ['batch', 2, 2, 3], [1, 2, 2, 3]],
    ['planes', [1, 3, 'height', 'width'], [1, 3, 2, 2]],
  ])('feeds %s to a model that asks for them', async (_what, shape, dims) => {
    const runtime = runtimeOf(Float32Array.from([0, 1, 0, 1]), shape);
    await findWith(runtime);
    expect(runtime.asked[2]).toEqual({ type: 'float32', dims });
  });

  it('fails on an answer of another type', async () => {
    await expect(findWith(runtimeOf([1, 2, 3, 4]))).rejects.toThrow('32-bit');
  });
});

describe('a model file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-model-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, content: Uint8Array): string => {
    const file = join(folder, name);
    writeFileSync(file, content);
    return file;
  };

  it('of more than 64 MiB needs the runtime, which knows no TFLite', () => {
    const largeFileOf = (name: string): string => {
      const file = fileOf(name, Buffer.alloc(0));
      truncateSync(file, 67_108_865);
      return file;
    };
    const large = largeFileOf('large.onnx');
    expect(modelProblem(large, false)).toContain('npm install onnxruntime-node');
    expect(modelProblem(large, true)).toBeUndefined();
    expect(modelProblem(largeFileOf('large.tflite'), true)).toContain('64 MiB');
    expect(modelProblem(fileOf('small.onnx', tinyOnnxModel(4)), false)).toBeUndefined();
    expect(modelProblem(folder, true)).toBe('names no file');
    expect(hasOnnxRuntime(() => 'found')).toBe(true);
  });

  // Where the runtime is installed, onnx-runtime.system.test.ts runs the same file with it.
  it('of a small model runs in the OpenCV that ships', async () => {
    const size = 4;
    const small = { ...model, mean: [0, 0, 0], std: [1, 1, 1], modelFile: fileOf('light-parts.onnx', tinyOnnxModel(size)), size } as const;
    const find = createOnnxFinder(small, await loadModel(small));
    const picture = Array.from({ length: size * 2 }, (_, at) => [...Array<number>(3).fill(at % size >= 2 ? 250 : 10), 255]).flat();
    const found = await find({ rgba: Uint8Array.from(picture), width: size, height: 2 }, 0);
    expect([...(found?.alpha ?? [])]).toEqual([0, 0, 1, 1, 0, 0, 1, 1]);
  });

  it.each(['damaged.onnx', 'damaged.tflite'])('that is no model is refused with a reason: %s', async (name) => {
    const damaged = { ...model, modelFile: fileOf(name, Buffer.from('not a model')) };
    await expect(loadModel(damaged)).rejects.toThrow(/model/i);
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
