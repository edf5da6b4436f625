import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type OnnxModel } from '../../../services/workers/image/onnx/onnx-model';
import { hasOnnxRuntime } from '../../../services/workers/image/onnx/onnx-runtime';
import { tinyOnnxModel } from '../../support/tiny-onnx-model';
import { newFolder } from '../../support/run-folder';

const SIZE = 4;
const FOLDER = resolve(__dirname, '../../../dist/services/workers/image/onnx');
const PROGRAM = `
const [folder, text, pixels] = process.argv.slice(1);
const model = JSON.parse(text);
const { createOnnxFinder, loadModel } = require(folder + '/load-model.js');
loadModel(model).then(async (loaded) => {
  const find = createOnnxFinder(model, loaded);
  const rgba = Uint8Array.from(JSON.parse(pixels));
  const found = await find({ rgba, width: ${SIZE}, height: ${SIZE} }, 0);
  console.log(JSON.stringify(found ? [...found.alpha] : null));
}).catch((error) => { console.error(error.message); process.exit(1); });`;

/** In a process of its own: the runtime's native part knows the number arrays of Node itself, and not those that jest puts in their place. */
async function findAlpha(model: OnnxModel, rgba: readonly number[]): Promise<number[] | null> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', PROGRAM, FOLDER, JSON.stringify(model), JSON.stringify(rgba)]);
  return JSON.parse(stdout) as number[] | null;
}

const isInstalled = hasOnnxRuntime();
// 288 MB, and optional for users too: these tests run where it was installed, and are counted as skipped elsewhere.
if (!isInstalled) console.warn('skipped: onnxruntime-node is not installed, so no model file can be run');
const withRuntime = isInstalled ? describe : describe.skip;

withRuntime('a model file, run by onnxruntime-node', () => {
  const model: OnnxModel = {
    modelFile: join(newFolder(), 'light-parts.onnx'),
    size: SIZE,
    mean: [0.485, 0.456, 0.406],
    std: [0.229, 0.224, 0.225],
    outputActivation: 'none',
  };
  beforeAll(() => writeFileSync(model.modelFile, tinyOnnxModel(SIZE)));

  it('finds in a picture what the model finds', async () => {
    const isLight = (at: number): boolean => at % SIZE >= SIZE / 2;
    const rgba = Array.from({ length: SIZE * SIZE }, (_, at) => [...Array<number>(3).fill(isLight(at) ? 250 : 10), 255]).flat();
    const alpha = await findAlpha(model, rgba);
    expect([...(alpha ?? [])].map((value) => Math.round(value * 1_000))).toEqual(
      Array.from({ length: SIZE * SIZE }, (_, at) => (isLight(at) ? 1_000 : 0)),
    );
  });

  it('that is no model is refused with a reason', async () => {
    const damaged = join(newFolder(), 'damaged.onnx');
    writeFileSync(damaged, 'not a model');
    await expect(findAlpha({ ...model, modelFile: damaged }, [])).rejects.toThrow('damaged.onnx');
  });
});
