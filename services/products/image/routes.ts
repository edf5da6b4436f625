import { type z } from 'zod';
import { type CallContext, defineRoute, defineService } from '../../kit/service/define-service';
import { formatTimestamp } from '../../kit/timestamp';
import { backedByWorkers, type WorkerDeps } from '../../kit/worker/connect-workers';
import { type RemoveBackgroundRequest } from '../../workers/generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse__Output } from '../../workers/generated/image/image/v1/RemoveBackgroundResponse';
import { bytesReply, jsonReply, type Reply } from '../../kit/service/reply';
import { integer, text } from '../../kit/service/route-description';
import { image } from './facts';
import { aboutField, findImage } from './image-input';
import { backgroundRemoverInput, backgroundRemoverOutput } from './schema';

/** Ten MiB in base64, partly percent-encoded. */
const BODY_BYTES = 16_777_216;
/** Size of the worker's largest message. */
const MESSAGE_BYTES = 68 * 1_048_576;
const DEADLINE_MS = 60_000;
/** Short enough for the worker's failure to arrive before our own time-out. */
const WORKER_DEADLINE_MS = 58_000;

type ImageWorkerMethods = {
  RemoveBackground: { request: RemoveBackgroundRequest; response: RemoveBackgroundResponse__Output };
};

type ImageDeps = WorkerDeps<ImageWorkerMethods>;

type Input = z.output<typeof backgroundRemoverInput>;

function askWorker(input: Input, context: CallContext, { worker }: ImageDeps): Promise<RemoveBackgroundResponse__Output> {
  const { field, bytes } = findImage(input, context.files);
  const { format, max_side: maxSide = 0, crop, background, accept_uncertain: acceptUncertain } = input;
  const colour = background === '' ? '' : `#${background.replace('#', '').toLowerCase()}`;
  const options = { context, deadlineMs: WORKER_DEADLINE_MS, idempotent: true };
  const request = { image: bytes, format, maxSide, crop, background: colour, acceptUncertain };
  return worker.unary('RemoveBackground', request, options).catch((error: unknown) => {
    throw aboutField(error, field);
  });
}

/** A caller whose Accept names an image type and not JSON gets the bytes. A caller that accepts anything gets JSON. */
function wantsBytes(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map((range) => range.replace(/;.*$/s, '').trim().toLowerCase());
  return ranges.some((range) => range.startsWith('image/')) && !ranges.includes('application/json');
}

/** The response depends on Accept, so caches must know. */
const VARY = { Vary: 'Accept' };

async function removeBackground(input: Input, context: CallContext, deps: ImageDeps): Promise<Reply> {
  const { image, width, height, engine, mime, confidence, uncertain } = await askWorker(input, context, deps);
  const rounded = confidence === undefined ? null : Math.round(confidence * 100) / 100;
  const status = uncertain ? 'uncertain' : 'success';
  if (wantsBytes(context.header('accept'))) {
    const headers = {
      ...VARY,
      'X-Image-Width': String(width),
      'X-Image-Height': String(height),
      'X-Image-Engine': engine,
      'X-Image-Status': status,
      ...(rounded !== null && { 'X-Image-Confidence': String(rounded) }),
    };
    return bytesReply(image, mime, { headers });
  }
  const data = {
    message: uncertain ? 'The background was removed, but the cut-out may be wrong.' : 'The background was removed.',
    image_base64: image.toString('base64'),
    width,
    height,
    engine,
    confidence: rounded,
    mime,
  };
  return jsonReply({ status, data, timestamp: formatTimestamp(context.clock.now()) }, { headers: VARY });
}

const PICTURE_HEADERS = {
  'X-Image-Width': integer('In pixels; if the response is the image itself.'),
  'X-Image-Height': integer('In pixels; if the response is the image itself.'),
  'X-Image-Status': text('As status in the JSON response: `success` or `uncertain`; if the response is the image itself.'),
  'X-Image-Engine': text('As engine in the JSON response; if the response is the image itself.'),
  'X-Image-Confidence': { description: 'As confidence in the JSON response, unless that is null.', schema: { type: 'number' } },
} as const;

/** Removes the background of an image. A worker does the work. Keys of the legacy background remover are accepted too. */
export const imageService = defineService({
  ...image,
  ...backedByWorkers<ImageWorkerMethods>('image', { maxMessageBytes: MESSAGE_BYTES }),
  routes: [
    defineRoute({
      method: 'ANY',
      path: '/image/background_remover',
      does:
        'Cuts out the foreground of an image. Returns a PNG with a transparent background, in base64 or, if `Accept` requests it, as ' +
        'the image itself.',
      fails: ['no_foreground', 'cutout_uncertain'],
      headers: { 200: PICTURE_HEADERS },
      mediaTypes: ['image/*'],
      input: backgroundRemoverInput,
      output: backgroundRemoverOutput,
      body: { kind: 'files' },
      bodyLimitBytes: BODY_BYTES,
      deadlineMs: DEADLINE_MS,
      handler: (input, context, deps: ImageDeps) => removeBackground(input, context, deps),
    }),
  ],
});
