import { z } from 'zod';
import { numberSetting, urlSetting } from '../../../plugins/core/settings';
import { workerProcessFields } from '../../kit/config';
import { modelProblem } from './onnx/load-model';

/** Three numbers separated by commas, for red, green and blue. */
function triple(): z.ZodType<[number, number, number]> {
  return z.string().transform((text, context) => {
    const [red, green, blue, ...more] = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
    if (red !== undefined && green !== undefined && blue !== undefined && more.length === 0) {
      if ([red, green, blue].every(Number.isFinite)) return [red, green, blue];
    }
    context.addIssue({ code: 'custom', message: 'must be three numbers separated by commas' });
    return z.NEVER;
  });
}

function modelFile(): z.ZodType<string> {
  return z.string().superRefine((file, context) => {
    const problem = modelProblem(file);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}

/** Settings of the worker process, from its environment. The first configured engine is used: upstream, model, GrabCut. */
export const imageWorkerSettings = z.object({
  ...workerProcessFields,
  SANDBOX_URL: urlSetting().optional(),
  /** A background-removal WebSocket that speaks `bgremove.v1`, and its bearer token. */
  IMAGE_UPSTREAM_URL: urlSetting(['ws', 'wss']).optional(),
  IMAGE_UPSTREAM_TOKEN: z.string().optional(),
  IMAGE_UPSTREAM_TIMEOUT_MS: numberSetting({ min: 50, max: 50_000 }).default(20_000),
  /** A segmentation model; the defaults fit the u2net family. Over 64 MiB it needs the optional package onnxruntime-node. */
  IMAGE_ONNX_MODEL: modelFile().optional(),
  IMAGE_ONNX_SIZE: numberSetting({ min: 32, max: 2_048 }).default(320),
  IMAGE_ONNX_MEAN: triple().default([0.485, 0.456, 0.406]),
  IMAGE_ONNX_STD: triple()
    .refine((values) => values.every((value) => value > 0), 'must be greater than 0')
    .default([0.229, 0.224, 0.225]),
  IMAGE_ONNX_ACTIVATION: z.enum(['none', 'sigmoid'], 'must be none or sigmoid').default('none'),
  /**
   * Pictures that are processed at a time on this machine. Each takes a core, and memory for OpenCV (75 MB) or the model. If there are
   * several threads, one is left for other subscriptions, whatever one caller sends. With a single thread they wait for that caller's
   * picture, but on two cores a second thread slows every other product more.
   */
  IMAGE_THREADS: numberSetting({ min: 1, max: 64 }).default(1),
  /** Maximum pictures that wait for a thread. */
  IMAGE_QUEUE: numberSetting({ min: 0, max: 1_000 }).default(16),
  /** Milliseconds for one picture, including the wait. */
  IMAGE_DEADLINE_MS: numberSetting({ min: 100, max: 55_000 }).default(55_000),
});

export type ImageWorkerSettings = z.output<typeof imageWorkerSettings>;
