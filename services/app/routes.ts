import { join } from 'node:path';
import { z } from 'zod';
import { listSetting } from '../kit/config';
import { defineRoute, defineService } from '../kit/service/define-service';
import { invalidInput, ServiceError } from '../kit/errors';
import { indexRoute } from '../kit/service/index-route';
import { loadService } from '../kit/worker/load-proto';
import { formatTimestamp } from '../kit/timestamp';
import { createWorkerClient, type WorkerClient } from '../kit/worker/worker-client';
import { analyzeUpload, type ApkWorkerMethods } from './analyze-upload';
import { analyzeOutput, healthOutput } from './schema';

const PROTO = join(__dirname, '../../protos/apk/v1/apk.proto');
const MAX_FILE_BYTES = 200 * 1024 * 1024;
/** Boundaries, part headers and small fields around the file. */
const FORM_BYTES = 64 * 1024;
/** Two minutes in which a request must arrive, one for the analysis. */
const DEADLINE_MS = 180_000;
const FILE_FIELDS = ['file', 'apk', 'app'];
const APK_TYPE = 'application/vnd.android.package-archive';

interface AppDeps {
  /** Undefined when no worker is configured. */
  readonly worker: WorkerClient<ApkWorkerMethods> | undefined;
}

function workerOf({ worker }: AppDeps): WorkerClient<ApkWorkerMethods> {
  if (worker) return worker;
  throw new ServiceError('upstream_not_configured', { detail: 'No analysis worker is configured (APK_WORKER_URL).' });
}

const analyze = defineRoute({
  method: 'POST',
  path: '/app/analyze',
  output: analyzeOutput,
  body: { kind: 'upload', fields: FILE_FIELDS, mediaTypes: [APK_TYPE] },
  bodyLimitBytes: MAX_FILE_BYTES + FORM_BYTES,
  deadlineMs: DEADLINE_MS,
  handler: async (_input, context, deps: AppDeps) => {
    const { upload } = context;
    if (!upload) throw invalidInput([{ field: 'file', message: `is required: send an APK as multipart/form-data or as ${APK_TYPE}` }]);
    const data = await analyzeUpload(workerOf(deps), { upload, context, deadlineMs: DEADLINE_MS });
    return { status: 'success' as const, data, timestamp: formatTimestamp(context.clock.now()) };
  },
});

const health = defineRoute({
  method: 'GET',
  path: '/app/health',
  output: healthOutput,
  body: { kind: 'ignored' },
  handler: async (_input, context, deps: AppDeps) => {
    const worker = workerOf(deps);
    await worker.checkHealth();
    const data = { worker: 'serving' as const, workers: worker.addresses.length };
    return { status: 'success' as const, data, timestamp: formatTimestamp(context.clock.now()) };
  },
});

const information = {
  upload: { fields: FILE_FIELDS, media_types: ['multipart/form-data', APK_TYPE], max_bytes: MAX_FILE_BYTES },
};

/** Looks into Android packages. The file goes through in pieces; a worker analyses it. */
export const appService = defineService({
  name: 'app',
  products: ['api-app'],
  routes: [indexRoute('api-app', { members: information }), analyze, health],
  settings: z.object({
    /** `host:port` of the APK workers, separated by commas. */
    APK_WORKER_URL: listSetting().optional(),
  }),
  createDeps: ({ settings, common, metrics }): AppDeps => {
    const [first, ...others] = settings.APK_WORKER_URL ?? [];
    if (first === undefined) return { worker: undefined };
    const service = loadService(PROTO, 'apk.v1.ApkWorker');
    return {
      worker: createWorkerClient<ApkWorkerMethods>({
        service,
        addresses: [first, ...others],
        name: 'apk-worker',
        metrics,
        tls: common.workerTls,
      }),
    };
  },
  // Without a configured worker calls answer 503 by themselves; the process beside them is no less ready.
  checkReady: ({ worker }: AppDeps) => worker?.checkHealth(),
  close: ({ worker }: AppDeps) => worker?.close(),
});
