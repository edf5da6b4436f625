import { z } from 'zod';
import { instantWords, timestampField } from '../../kit/timestamp';

/** Longer than any link that Drive issues. */
const MAX_LINK_LENGTH = 2_000;

const fileRef = {
  id: z.string().max(MAX_LINK_LENGTH).optional().describe('The id of the file on Drive. Either this or url is required.'),
  url: z.string().max(MAX_LINK_LENGTH).optional().describe('A link to the file on Drive. Either this or id is required.'),
  resourcekey: z.string().max(MAX_LINK_LENGTH).optional().describe('The resource key of older shared links.'),
};

export const streamInput = z.object(fileRef);

export const thumbnailInput = z.object({
  ...fileRef,
  size: z.number().int().min(16).max(1_600).default(400).describe('Width in pixels.'),
  format: z
    .enum(['image', 'json'])
    .default('image')
    .describe('image for the image itself, json for the facts about the file with the image in base64.'),
});

export const linkInput = z.object({
  ...fileRef,
  expires_in: z
    .number()
    .int()
    .min(60)
    .max(14_400)
    .default(3_600)
    .describe('Seconds until the link expires. Anyone who has the link can use it, so keep this short.'),
  viewer: z.string().max(45).optional().describe('The one IP address that may use the link; any unless given.'),
});

export const linkOutput = z.object({
  status: z.literal('success'),
  data: z.object({
    path: z.string(),
    expires_at: z.string().describe(instantWords('Time of its expiry')),
    viewer: z.string().nullable(),
    content_type: z.string(),
    size_bytes: z.number().nullable(),
    duration_ms: z.number().nullable(),
    width: z.number().nullable(),
    height: z.number().nullable(),
    allowance_bytes: z.number(),
  }),
  timestamp: timestampField,
});

/** Output with `format=json`; otherwise the response is the image itself. */
export const thumbnailOutput = z.object({
  status: z.literal('success'),
  data: z.object({
    id: z.string(),
    name: z.string().nullable(),
    content_type: z.string(),
    size_bytes: z.number().nullable(),
    width: z.number().nullable(),
    height: z.number().nullable(),
    duration_ms: z.number().nullable(),
    modified_at: z.string().nullable().describe(instantWords('Time of the last change to the file')),
    thumbnail: z.object({ content_type: z.string(), size_bytes: z.number(), base64: z.string() }),
  }),
  timestamp: timestampField,
});
