import { z } from 'zod';
import { timestampField } from '../../kit/timestamp';

const picture =
  'PNG, JPEG or WebP in base64, base64url or as a data URI; in a multipart form also a file. In the query at most about 6 KB: a request line over 8,192 bytes is a 414.';

/** Exactly one of the two is needed. A form's file may replace either. */
export const backgroundRemoverInput = z.object({
  image: z.string().optional().describe(picture),
  image_base64: z.string().optional().describe(`${picture} The same as image.`),
  format: z.enum(['png', 'webp']).default('png').describe('Format of the response.'),
  max_side: z
    .number()
    .int()
    .min(16)
    .max(8_192)
    .optional()
    .describe('Maximum pixels of the longer side; never enlarges. An image of more than 16,777,216 pixels (at most 50,331,648) needs it.'),
  crop: z.boolean().default(false).describe('Cuts off the transparent margins.'),
  background: z
    .string()
    .regex(/^(#?[0-9A-Fa-f]{6})?$/, 'must be a colour of six hexadecimal digits, for example #ffffff')
    .default('')
    .describe('A colour that replaces the background, for example #ffffff; transparent unless given.'),
  accept_uncertain: z
    .boolean()
    .default(false)
    .describe(
      'Returns a cut-out that the engine is unsure of, with the status uncertain, instead of 502 cutout_uncertain. If nothing was cut out, it is still a 502.',
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
      .describe('PNG or WebP, in base64 without a data URI; with an alpha channel unless a background was requested.'),
    width: z.number().int(),
    height: z.number().int(),
    engine: z
      .string()
      .describe(
        'What removed the background: grabcut or selfie_segmentation (whichever is clearer, if no model is configured), onnx (a model file), or the upstream’s name for itself.',
      ),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe(
        'How clear the cut is; a rank, not a probability; below 0.65 it is uncertain. For grabcut: how far its guesses agree, reduced by colours that both sides share, weak outlines and prominent parts that were left out. For selfie_segmentation: how hard its edge is, and how far grabcut agrees. For onnx: its surest pixel. For all three, reduced by a soft, scattered or doubtful mask. Null for an upstream that does not say.',
      ),
    mime: z.enum(['image/png', 'image/webp']),
  }),
  timestamp: timestampField,
});
