import { setImmediate } from 'node:timers/promises';
import sharp from 'sharp';
import { type PoolLevels } from '../../../kit/worker/worker-metrics';
import { type CutOut, type CutOutCall, type Engine } from '../engine';
import { cutOutUncertain, noForeground } from '../failures';
import { fitInto, type Size } from '../vision/raster';
import { CERTAIN_FROM } from '../limits';
import { decodePicture, type Picture } from '../picture';
import { type CutOutJob, type Pixels, type ThreadMethod } from '../cut-out-job';
import { CutOutPool, type CutOutPoolOptions } from './cut-out-pool';

/** Pixels of the longer side at which GrabCut refines its outline. Its time grows with the area. */
const GRABCUT_SIDE = 512;

/** A model needs a longer side of the size that it was trained on. For GrabCut, a small picture keeps its size. */
function workingSize(method: ThreadMethod, picture: Size): Size {
  return method.kind === 'onnx' ? fitInto(picture, method.model.size, { enlarges: true }) : fitInto(picture, GRABCUT_SIDE);
}

/** Bytes copied in one turn of the event loop, which takes a few milliseconds. A large picture takes sixteen turns. */
const COPY_BYTES = 4_194_304;

/** Makes a copy that can be transferred to a thread. The buffers of sharp cannot. */
async function pixels(rgba: Buffer, { width, height }: Size): Promise<Pixels> {
  const copy = new Uint8Array(rgba.length);
  for (let at = 0; at < rgba.length; at += COPY_BYTES) {
    copy.set(rgba.subarray(at, at + COPY_BYTES), at);
    if (at + COPY_BYTES < rgba.length) await setImmediate();
  }
  return { rgba: copy, width, height };
}

/** Levels of 255 between the darkest and the brightest pixel of a one-coloured JPEG, due to rounding. */
const ROUNDING = 2;

/** True when no channel varies. @param rgba four bytes a pixel */
function isOfOneColour(rgba: Uint8Array): boolean {
  const lowest = new Uint8Array(rgba.subarray(0, 4));
  const highest = new Uint8Array(lowest);
  for (let at = 4; at < rgba.length; at++) {
    const [channel, value] = [at & 3, rgba[at] ?? 0];
    if (value < (lowest[channel] ?? 0)) lowest[channel] = value;
    if (value > (highest[channel] ?? 0)) highest[channel] = value;
    if ((highest[channel] ?? 0) - (lowest[channel] ?? 0) > ROUNDING) return false;
  }
  return true;
}

/** Undefined for a picture of one colour, where the search for a foreground would take seconds and find none. */
async function prepareJob(picture: Picture, method: ThreadMethod, { acceptUncertain }: CutOutCall): Promise<CutOutJob | undefined> {
  const small = workingSize(method, picture);
  const shrunk = await decodePicture(picture, small);
  if (isOfOneColour(shrunk)) return undefined;
  const rgba = await decodePicture(picture);
  const leastConfidence = acceptUncertain === true ? 0 : CERTAIN_FROM;
  return { picture: await pixels(rgba, picture), small: await pixels(shrunk, small), leastConfidence };
}

/** Removes backgrounds on this machine, in threads of its own. sharp works in libvips' threads. */
export function createLocalEngine(options: CutOutPoolOptions): Engine & { levels(): PoolLevels } {
  const pool = new CutOutPool(options);
  return {
    cutOut: async (picture, call): Promise<CutOut> => {
      const { signal } = call;
      const answer = await pool.run(() => prepareJob(picture, options.method, call), call);
      switch (answer.kind) {
        case 'no_foreground':
          throw noForeground();
        case 'unclear':
          throw cutOutUncertain(answer.confidence);
        case 'failed':
          throw new Error(`the ${options.method.kind} engine failed: ${answer.message}`);
        case 'cut_out': {
          const { width, height } = picture;
          const png = await sharp(answer.rgba, { raw: { width, height, channels: 4 } })
            .png()
            .toBuffer();
          signal.throwIfAborted();
          const { confidence, engine } = answer;
          return { png, engine, confidence, isUncertain: confidence < CERTAIN_FROM };
        }
      }
    },
    close: () => pool.close(),
    levels: () => pool.levels(),
  };
}
