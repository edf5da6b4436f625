import { tmpdir } from 'node:os';
import { z } from 'zod';
import { numberSetting } from '../../../plugins/core/settings';
import { workerProcessFields } from '../../kit/config';

/** What the worker process reads from its environment. */
export const apkWorkerSettings = z.object({
  ...workerProcessFields,
  /** Uploads are written here, without a name. */
  APK_WORKER_FOLDER: z.string().default(tmpdir()),
  APK_WORKER_UPLOADS: numberSetting({ min: 1, max: 1_000 }).default(16),
  APK_WORKER_ANALYSES: numberSetting({ min: 1, max: 64 }).default(2),
  APK_WORKER_DEADLINE_MS: numberSetting({ min: 100, max: 600_000 }).default(60_000),
  /** For one analysis, whatever else the machine does. */
  APK_WORKER_CPU_MS: numberSetting({ min: 100, max: 600_000 }).default(10_000),
  APK_WORKER_HEAP_MB: numberSetting({ min: 32, max: 4_096 }).default(128),
});

export type ApkWorkerSettings = z.output<typeof apkWorkerSettings>;
