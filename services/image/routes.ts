import { join } from 'node:path';
import { z } from 'zod';
import { listSetting } from '../kit/config';
import { type CallContext, defineRoute, defineService } from '../kit/service/define-service';
import { ServiceError } from '../kit/errors';
import { loadService } from '../kit/worker/load-proto';
import { formatTimestamp } from '../kit/timestamp';
import { createWorkerClient, type WorkerClient } from '../kit/worker/worker-client';
import { type RemoveBackgroundRequest } from '../workers/generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse__Output } from '../workers/generated/image/image/v1/RemoveBackgroundResponse';
import { aboutField, findImage, type FoundImage } from './image-input';
import { backgroundRemoverInput, backgroundRemoverOutput } from './schema';

const PROTO = join(__dirname, '../../protos/image/v1/image.proto');
/** Ten MiB in base64, some of it percent-encoded. */
const BODY_BYTES = 16_777_216;
/** As much as the worker sends. */
const MESSAGE_BYTES = 68 * 1_048_576;
const DEADLINE_MS = 60_000;
/** So that the worker's failure arrives before ours. */
const WORKER_DEADLINE_MS = 58_000;

type ImageWorkerMethods = {
  RemoveBackground: { request: RemoveBackgroundRequest; response: RemoveBackgroundResponse__Output };
};

export interface ImageDeps {
  /** Undefined when no worker is configured. */
  readonly worker: WorkerClient<ImageWorkerMethods> | undefined;
}

function workerOf({ worker }: ImageDeps): WorkerClient<ImageWorkerMethods> {
  if (worker) return worker;
  throw new ServiceError('upstream_not_configured', {
    detail: 'No image worker is configured: the setting IMAGE_WORKER_URL is missing.',
    members: { setting: 'IMAGE_WORKER_URL' },
  });
}

function askWorker({ field, bytes }: FoundImage, context: CallContext, deps: ImageDeps): Promise<RemoveBackgroundResponse__Output> {
  const options = { context, deadlineMs: WORKER_DEADLINE_MS, idempotent: true };
  return workerOf(deps)
    .unary('RemoveBackground', { image: bytes }, options)
    .catch((error: unknown) => {
      throw aboutField(error, field);
    });
}

async function removeBackground(
  image: FoundImage,
  context: CallContext,
  deps: ImageDeps,
): Promise<z.input<typeof backgroundRemoverOutput>> {
  const { png, width, height, engine } = await askWorker(image, context, deps);
  return {
    status: 'success',
    data: {
      message: 'The background was removed.',
      image_base64: png.toString('base64'),
      width,
      height,
      engine,
      mime: 'image/png',
    },
    timestamp: formatTimestamp(context.clock.now()),
  };
}

/** Removes the background of a picture; a worker does it. Keys of the legacy background remover are served as well. */
export const imageService = defineService({
  name: 'image',
  products: ['api-image', 'api-background-remover'],
  routes: [
    defineRoute({
      method: 'ANY',
      path: '/image/background_remover',
      input: backgroundRemoverInput,
      output: backgroundRemoverOutput,
      body: { kind: 'files' },
      bodyLimitBytes: BODY_BYTES,
      deadlineMs: DEADLINE_MS,
      handler: (input, context, deps: ImageDeps) => removeBackground(findImage(input, context.files), context, deps),
    }),
  ],
  settings: z.object({
    /** `host:port` of the image workers, separated by commas. */
    IMAGE_WORKER_URL: listSetting().optional(),
  }),
  createDeps: ({ settings, common, metrics }): ImageDeps => {
    const [first, ...others] = settings.IMAGE_WORKER_URL ?? [];
    if (first === undefined) return { worker: undefined };
    const service = loadService(PROTO, 'image.v1.ImageWorker');
    const addresses: [string, ...string[]] = [first, ...others];
    return {
      worker: createWorkerClient<ImageWorkerMethods>({
        service,
        addresses,
        name: 'image-worker',
        metrics,
        tls: common.workerTls,
        maxMessageBytes: MESSAGE_BYTES,
      }),
    };
  },
  // Without a worker it is ready to say so: calls get 503 upstream_not_configured.
  checkReady: ({ worker }: ImageDeps) => worker?.checkHealth(),
  close: ({ worker }: ImageDeps) => worker?.close(),
});
