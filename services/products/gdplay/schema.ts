import { z } from 'zod';

/** Longer than any link that Drive hands out. */
const MAX_LINK_LENGTH = 2_000;

const fileRef = {
  id: z.string().max(MAX_LINK_LENGTH).optional(),
  url: z.string().max(MAX_LINK_LENGTH).optional(),
  resourcekey: z.string().max(MAX_LINK_LENGTH).optional(),
};

export const streamInput = z.object(fileRef);

export const thumbnailInput = z.object({
  ...fileRef,
  /** Width in pixels. */
  size: z.number().int().min(16).max(1_600).default(400),
  format: z.enum(['image', 'json']).default('image'),
});

export const linkInput = z.object({
  ...fileRef,
  /** Seconds: short, because anyone who has a link can use it. */
  expires_in: z.number().int().min(60).max(14_400).default(3_600),
  /** The one address that may use the link. */
  viewer: z.string().max(45).optional(),
});

export const linkOutput = z.object({
  status: z.literal('success'),
  data: z.object({
    path: z.string(),
    expires_at: z.string(),
    viewer: z.string().nullable(),
    content_type: z.string(),
    size_bytes: z.number().nullable(),
    duration_ms: z.number().nullable(),
    width: z.number().nullable(),
    height: z.number().nullable(),
    allowance_bytes: z.number(),
  }),
  timestamp: z.string(),
});

/** Of `format=json`; otherwise the answer is the image itself. */
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
    modified_at: z.string().nullable(),
    thumbnail: z.object({ content_type: z.string(), size_bytes: z.number(), base64: z.string() }),
  }),
  timestamp: z.string(),
});
