import { type z } from 'zod';
import { type CallContext, defineRoute, defineService } from '../kit/service/define-service';
import { formatTimestamp } from '../kit/timestamp';
import { backedByWorkers, type WorkerDeps } from '../kit/worker/connect-workers';
import { type RemoveBackgroundRequest } from '../workers/generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse__Output } from '../workers/generated/image/image/v1/RemoveBackgroundResponse';
import { aboutField, findImage, type FoundImage } from './image-input';
import { backgroundRemoverInput, backgroundRemoverOutput } from './schema';

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

type ImageDeps = WorkerDeps<ImageWorkerMethods>;

function askWorker({ field, bytes }: FoundImage, context: CallContext, { worker }: ImageDeps): Promise<RemoveBackgroundResponse__Output> {
  const options = { context, deadlineMs: WORKER_DEADLINE_MS, idempotent: true };
  return worker.unary('RemoveBackground', { image: bytes }, options).catch((error: unknown) => {
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
  ...backedByWorkers<ImageWorkerMethods>('image', { maxMessageBytes: MESSAGE_BYTES }),
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
});
