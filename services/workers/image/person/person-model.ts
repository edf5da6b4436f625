import { readFile } from 'node:fs/promises';
import { type OpenCv } from '../vision/open-cv';
import { readNet, runNet } from '../vision/open-cv-net';
import { fitInto, type Raster, resizeRaster } from '../vision/raster';
import { cropOutput, toTensor } from '../vision/square';
import { type PersonFinder } from './rate-person';

/** 250 kB, Apache 2.0. Only this file of the package is used. */
const WEIGHTS = require.resolve('@mediapipe/selfie_segmentation/selfie_segmentation.tflite');
const MODEL = { size: 256, mean: [0, 0, 0], std: [1, 1, 1] } as const;

function toRgba({ rgb, width, height }: Raster): Uint8Array {
  const rgba = new Uint8Array(width * height * 4);
  for (let at = 0; at < width * height; at++) rgba.set(rgb.subarray(at * 3, at * 3 + 3), at * 4);
  return rgba;
}

/** Loads the people model. Call it in its own thread. */
export async function loadPersonModel(cv: OpenCv): Promise<PersonFinder> {
  const net = readNet(cv, new Uint8Array(await readFile(WEIGHTS)), 'tflite');
  return (raster) => {
    const frame = fitInto(raster, MODEL.size, { enlarges: true });
    const input = toTensor({ rgba: toRgba(resizeRaster(raster, frame)), ...frame }, MODEL, 'planes');
    return { ...frame, alpha: cropOutput(runNet(cv, net, { input, size: MODEL.size }), MODEL.size, frame) };
  };
}
