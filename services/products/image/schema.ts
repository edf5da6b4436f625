import { z } from 'zod';
import { timestampField } from '../../kit/timestamp';

const picture =
  'PNG, JPEG or WebP in base64, base64url or as a data URI; in a multipart form also a file. In the query about 6 KB: a request line over 8,192 bytes is 414.';

/** Exactly one of the two is needed. A form's file may replace either. */
export const backgroundRemoverInput = z.object({
  image: z.string().optional().describe(picture),
  image_base64: z.string().optional().describe(`${picture} The same as image.`),
  format: z.enum(['png', 'webp']).default('png').describe('Of the answer.'),
  max_side: z
    .number()
    .int()
    .min(16)
    .max(8_192)
    .optional()
    .describe(
      'Pixels of the longer side at most; never enlarges. A picture of more than 16,777,216 pixels (50,331,648 at most) needs one.',
    ),
  crop: z.boolean().default(false).describe('Cuts the transparent margins off.'),
  background: z
    .string()
    .regex(/^(#?[0-9A-Fa-f]{6})?$/, 'must be a colour of six hexadecimal digits, for example #ffffff')
    .default('')
    .describe('A colour in place of the background, for example #ffffff; transparent unless given.'),
  accept_uncertain: z
    .boolean()
    .default(false)
    .describe(
      'Returns a cut-out that the engine is not sure of, with the status uncertain, in place of 502 cutout_uncertain. If nothing was cut out, it is still 502.',
    ),
});

export const backgroundRemoverOutput = z.object({
  status: z
    .enum(['success', 'uncertain'])
    .describe('uncertain only with accept_uncertain=true: the engine is not sure of its cut-out. Check it before you use it.'),
  data: z.object({
    message: z.string(),
    image_base64: z
      .string()
      .describe('PNG or WebP, in base64 without a data URI; with an alpha channel unless a background was asked for.'),
    width: z.number().int(),
    height: z.number().int(),
    engine: z
      .string()
      .describe(
        'What removed the background: grabcut or selfie_segmentation (whichever is clearer, where no model is configured), onnx (a model file), or the name that an upstream gives itself.',
      ),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe(
        'How clear the cut is; a rank, not a probability; below 0.65 it is uncertain. Of grabcut: how far its guesses agree, less colours that both sides share, weak outlines and what stands out and was left out. Of selfie_segmentation: how hard its edge is, and how far grabcut agrees. Of onnx: its surest pixel. Of all three less a soft, scattered or doubtful mask. Null for an upstream that does not say.',
      ),
    mime: z.enum(['image/png', 'image/webp']),
  }),
  timestamp: timestampField,
});
