import { tmpdir } from 'node:os';
import { z } from 'zod';
import { numberSetting } from '../../../plugins/core/settings';
import { workerProcessFields } from '../../kit/config';

/** Settings of the worker process, from its environment. */
export const apkWorkerSettings = z.object({
  ...workerProcessFields,
  /** Folder to which uploads are written, without a name. */
  APK_WORKER_FOLDER: z.string().default(tmpdir()),
  APK_WORKER_UPLOADS: numberSetting({ min: 1, max: 1_000 }).default(16),
  APK_WORKER_ANALYSES: numberSetting({ min: 1, max: 64 }).default(2),
  APK_WORKER_DEADLINE_MS: numberSetting({ min: 100, max: 600_000 }).default(60_000),
  /** Milliseconds of CPU for one analysis, however busy the machine is. */
  APK_WORKER_CPU_MS: numberSetting({ min: 100, max: 600_000 }).default(10_000),
  APK_WORKER_HEAP_MB: numberSetting({ min: 32, max: 4_096 }).default(128),
});

export type ApkWorkerSettings = z.output<typeof apkWorkerSettings>;
