import { z } from 'zod';
import { ServiceError } from '../../../kit/errors';
import { badPicture, noForeground } from '../failures';

/** The WebSocket subprotocol of this engine. */
export const SUBPROTOCOL = 'bgremove.v1';

const ERROR_CODES = ['invalid_image', 'too_large', 'no_foreground', 'overloaded', 'internal'] as const;

const frame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('accepted'), id: z.string() }),
  z.object({ type: z.literal('progress'), id: z.string() }),
  z.object({
    type: z.literal('result'),
    id: z.string(),
    image: z.string().min(1),
    mime: z.literal('image/png'),
    width: z.number().int().positive(),
    height: z.number().int().positive(),
    engine: z.string().min(1).max(100).default('upstream'),
    /** The upstream's own confidence in the cut. */
    confidence: z.number().min(0).max(1).nullable().default(null),
    /** True when the upstream itself considers its result doubtful. */
    uncertain: z.boolean().default(false),
  }),
  z.object({ type: z.literal('error'), id: z.string(), code: z.enum(ERROR_CODES) }),
]);

export type UpstreamFrame = z.output<typeof frame>;
export type ResultFrame = Extract<UpstreamFrame, { type: 'result' }>;

/** The reason why an upstream could not be used, for the log. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
}

/**
 * 502.
 * @param reason shown to the caller
 */
export function upstreamFault(reason: 'unreachable' | 'bad_response' | 'overloaded' | 'internal', cause: string | Error): ServiceError {
  return new ServiceError('upstream_failed', {
    members: { reason },
    cause: typeof cause === 'string' ? new UpstreamFault(cause) : cause,
  });
}

/** @throws ServiceError 502 for anything but a frame of the protocol about this picture */
export function parseFrame(text: string, id: string): UpstreamFrame {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw upstreamFault('bad_response', 'a frame is not JSON');
  }
  const parsed = frame.safeParse(json);
  if (!parsed.success) throw upstreamFault('bad_response', 'a frame has the wrong form');
  if (parsed.data.id !== id) throw upstreamFault('bad_response', 'a frame is about another picture');
  return parsed.data;
}

/** The failure for a refusal of the upstream: 400 when the picture caused it, otherwise 502. */
export function refusalOf(code: (typeof ERROR_CODES)[number]): ServiceError {
  switch (code) {
    case 'invalid_image':
      return badPicture('is not an image that the background remover can read');
    case 'too_large':
      return badPicture('is larger than the background remover accepts');
    case 'no_foreground':
      return noForeground();
    case 'overloaded':
    case 'internal':
      return upstreamFault(code, `the upstream reports ${code}`);
  }
}
