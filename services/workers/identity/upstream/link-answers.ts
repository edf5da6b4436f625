import { z } from 'zod';
import { ServiceError } from '../../../kit/errors';
import { LinkFailure, linkError } from './link-failure';
import { type CaptchaImage, type UpstreamSession } from './upstreams';
import { type LinkFrame } from './upstream-link';

/** A captcha is a few kilobytes; more is not one. */
const MAX_IMAGE_CHARACTERS = 700_000;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG_MAGIC = Buffer.from([0xff, 0xd8, 0xff]);

const captchaFrame = z.object({ sessionId: z.string().min(1).max(512), captcha: z.string().min(1).max(MAX_IMAGE_CHARACTERS) });

/** 502: the upstream answered with something unexpected. */
export function badAnswer(what: string): ServiceError {
  return linkError(new LinkFailure('bad_response', what));
}

/** Bare base64 or a data URI; what it is follows from its bytes. @throws ServiceError 502 */
function parseCaptchaImage(text: string): CaptchaImage {
  const base64 = text.replace(/^data:image\/[\w.+-]+;base64,/, '');
  if (!BASE64.test(base64)) throw badAnswer('the captcha is not base64');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.subarray(0, PNG_MAGIC.length).equals(PNG_MAGIC)) return { bytes, mediaType: 'image/png' };
  if (bytes.subarray(0, JPEG_MAGIC.length).equals(JPEG_MAGIC)) return { bytes, mediaType: 'image/jpeg' };
  throw badAnswer('the captcha is no image');
}

/** @throws ServiceError 502 */
export function parseCaptchaFrame(frame: LinkFrame): UpstreamSession {
  const parsed = captchaFrame.safeParse(frame);
  if (!parsed.success) throw badAnswer('a captcha frame has the wrong form');
  return { upstreamId: parsed.data.sessionId, image: parseCaptchaImage(parsed.data.captcha) };
}

/**
 * What an error frame says, when it is one of the codes that this step knows.
 * @throws ServiceError 504 for `timeout`, 502 for `upstream` and every other code, or a frame of a type that was not asked for
 */
export function knownErrorOf<Code extends string>(frame: LinkFrame, known: readonly Code[]): Code {
  if (frame.type !== 'error') throw badAnswer('the upstream answered out of turn');
  const { code } = frame;
  const found = known.find((each) => each === code);
  if (found !== undefined) return found;
  if (code === 'timeout') {
    throw new ServiceError('upstream_timeout', { cause: new LinkFailure('upstream_error', 'the upstream says that it timed out') });
  }
  if (code === 'upstream') throw linkError(new LinkFailure('upstream_error', 'the upstream says that it failed'));
  throw badAnswer('the upstream refused for an unknown reason');
}
