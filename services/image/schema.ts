import { z } from 'zod';

const picture =
  'PNG, JPEG or WebP in base64, base64url or as a data URI; in a multipart form also a file. In the query about 6 KB: a request line over 8,192 bytes is 414.';

/** Exactly one of the two; a file of a form may stand for either. */
export const backgroundRemoverInput = z.object({
  image: z.string().optional().describe(picture),
  image_base64: z.string().optional().describe(`${picture} The same as image.`),
});

export const backgroundRemoverOutput = z.object({
  status: z.literal('success'),
  data: z.object({
    message: z.string(),
    image_base64: z.string().describe('PNG with an alpha channel, in base64 without a data URI.'),
    width: z.number().int(),
    height: z.number().int(),
    engine: z.string().describe('What removed the background: grabcut, onnx, or the name that an upstream gives itself.'),
    mime: z.literal('image/png'),
  }),
  timestamp: z.string(),
});
