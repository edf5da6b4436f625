import { Readable } from 'node:stream';
import { z } from 'zod';
import { type CallContext, defineRoute, defineService } from '../../../services/kit/service/define-service';
import { ServiceError, upstreamFailure } from '../../../services/kit/errors';
import { bytesReply, emptyReply, jsonReply, streamReply } from '../../../services/kit/service/reply';

/** What the sample's handlers are told to do; tests choose it. */
export interface SampleDeps {
  /** Called by /gst/refresh_captcha, whatever it does is the handler's outcome. */
  act(context: CallContext): unknown;
}

async function digestUpload(context: CallContext): Promise<{ bytes: number; field: string | null }> {
  if (!context.upload) throw new ServiceError('invalid_request', { detail: 'No file was sent.' });
  let bytes = 0;
  for await (const chunk of context.upload.stream) bytes += (chunk as Buffer).length;
  return { bytes, field: context.upload.field ?? null };
}

const fields = z.object({
  name: z.string().min(1).max(20).optional(),
  count: z.number().int().min(1).max(60).optional(),
  flag: z.boolean().optional(),
  list: z.array(z.string()).optional(),
  two_words: z.string().optional(),
  nested: z.object({ count: z.number(), name: z.string() }).optional(),
});
const echo = defineRoute({ method: 'ANY', path: '/gst', input: fields, output: fields, handler: (input) => input });

const strict = defineRoute({
  method: 'POST',
  path: '/gst/data',
  input: z.object({ keyword: z.string().min(1), latitude: z.number(), mode: z.enum(['fast', 'slow']).default('fast') }),
  validationStatus: 422,
  bodyOnlyFields: ['secret'],
  handler: (input) => ({ ...input, half: input.latitude / 2 }),
});

const start = defineRoute({
  method: 'GET',
  path: '/gst/start',
  handler: (_input, context: CallContext, deps: SampleDeps) => deps.act(context),
  deadlineMs: 60,
});

const upload = defineRoute({
  method: 'POST',
  path: '/upload',
  input: z.object({ note: z.string().optional() }),
  body: { kind: 'upload', fields: ['file', 'apk'], mediaTypes: ['application/octet-stream'] },
  bodyLimitBytes: 4_096,
  handler: async (input, context) => ({ ...(await digestUpload(context)), note: input.note ?? null }),
});

const swallowing = defineRoute({
  method: 'POST',
  path: '/upload/swallowing',
  body: { kind: 'upload', fields: ['file'], mediaTypes: ['application/octet-stream'] },
  bodyLimitBytes: 4_096,
  handler: async (_input, context) => {
    try {
      return await digestUpload(context);
    } catch (error) {
      throw upstreamFailure(new Error('worker stream broke', { cause: String(error) }));
    }
  },
});

const files = defineRoute({
  method: 'ANY',
  path: '/files',
  input: z.object({ image: z.string().optional() }),
  body: { kind: 'files' },
  handler: (input, context) => ({
    text: input.image ?? null,
    files: [...context.files.values()].map(({ field, filename, mediaType, bytes }) => ({ field, filename, mediaType, size: bytes.length })),
  }),
});

const replies = defineRoute({
  method: 'ANY',
  path: '/replies',
  input: z.object({ kind: z.enum(['json', 'bytes', 'stream', 'empty', 'headers', 'nothing']) }),
  handler: ({ kind }, context) => {
    switch (kind) {
      case 'json':
        return jsonReply({ made: true }, { status: 202, headers: { 'Cache-Control': 'private' } });
      case 'bytes':
        return bytesReply(Buffer.from([1, 2, 3]), 'image/png');
      case 'stream':
        return streamReply(Readable.from([Buffer.from('one '), Buffer.from('two')]), 'video/mp4', {
          headers: { 'Accept-Ranges': 'bytes' },
        });
      case 'empty':
        return emptyReply(304, { ETag: '"1"' });
      case 'headers':
        return {
          range: context.header('range') ?? null,
          key: context.header('x-api-key') ?? null,
          proof: context.header('x-tollgate-context') ?? null,
        };
      case 'nothing':
        return undefined;
    }
  },
});

export const sampleService = defineService<SampleDeps>({
  name: 'sample',
  products: ['api-gst', 'api-app'],
  routes: [echo, strict, start, upload, swallowing, files, replies],
  createDeps: () => ({ act: () => ({}) }),
});
