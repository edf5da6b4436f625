import { z } from 'zod';
import { parseCaptchaText } from './captcha-image';
import { throttledBySource } from '../refusals';
import { badAnswer, sourceError, SourceFailure, upstreamTimedOut } from './source-failure';
import { type UpstreamSession } from './upstreams';
import { type LinkFrame } from './upstream-link';

/** A captcha is a few kilobytes; more is not one. */
const MAX_IMAGE_CHARACTERS = 700_000;

const captchaFrame = z.object({ sessionId: z.string().min(1).max(512), captcha: z.string().min(1).max(MAX_IMAGE_CHARACTERS) });

/** @throws ServiceError 502 */
export function parseCaptchaFrame(frame: LinkFrame): UpstreamSession {
  const parsed = captchaFrame.safeParse(frame);
  if (!parsed.success) throw badAnswer('a captcha frame has the wrong form');
  return { upstreamId: parsed.data.sessionId, image: parseCaptchaText(parsed.data.captcha) };
}

/**
 * What an error frame says, when it is one of the codes that this step knows.
 * @throws ServiceError 504 for `timeout`, 400 for `otp_throttled`, 502 for `upstream` and every other code, or a frame of a type that was not asked for
 */
export function knownErrorOf<Code extends string>(frame: LinkFrame, known: readonly Code[]): Code {
  if (frame.type !== 'error') throw badAnswer('the upstream answered out of turn');
  const { code } = frame;
  const found = known.find((each) => each === code);
  if (found !== undefined) return found;
  if (code === 'timeout') throw upstreamTimedOut();
  if (code === 'otp_throttled') throw throttledBySource(frame);
  if (code === 'upstream') throw sourceError(new SourceFailure('upstream_error', 'the upstream says that it failed'));
  throw badAnswer('the upstream refused for an unknown reason');
}
