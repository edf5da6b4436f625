import { z } from 'zod';
import { type ProblemCode } from '../../../plugins/core/problems';
import { ServiceError } from '../../kit/errors';

/** All refusals of a session. The machines return them as values, not exceptions. */
export type SessionRefusal =
  | { readonly code: 'session_expired' | 'session_busy' | 'invalid_sequence' | 'attempts_exhausted' | 'refreshes_exhausted' }
  | { readonly code: 'otp_expired' | 'not_found' }
  | { readonly code: 'captcha_rejected' | 'otp_invalid'; readonly attemptsLeft: number }
  | { readonly code: 'otp_throttled'; readonly retryAfterSeconds: number };

interface Wording {
  readonly problem: Extract<ProblemCode, 'invalid_request' | 'upstream_failed'>;
  readonly detail: string;
}

const WORDINGS: Readonly<Record<SessionRefusal['code'], Wording>> = {
  session_expired: { problem: 'invalid_request', detail: 'There is no such session, or it has ended. Start again.' },
  session_busy: { problem: 'invalid_request', detail: 'Another step of this session is still being processed. Wait for its response.' },
  invalid_sequence: { problem: 'invalid_request', detail: 'This step does not follow the last one: start, then captcha, then otp.' },
  attempts_exhausted: { problem: 'invalid_request', detail: 'Too many wrong attempts: the session has ended. Start again.' },
  refreshes_exhausted: {
    problem: 'invalid_request',
    detail: 'This session has no more captchas. Solve the last one or start again.',
  },
  otp_invalid: { problem: 'invalid_request', detail: 'The OTP is wrong.' },
  otp_expired: { problem: 'invalid_request', detail: 'The OTP has expired and the session has ended. Start again.' },
  otp_throttled: { problem: 'invalid_request', detail: 'Too many OTPs were sent for this number. Try again later.' },
  captcha_rejected: { problem: 'upstream_failed', detail: 'The captcha was rejected. Solve the new one and submit again.' },
  not_found: { problem: 'upstream_failed', detail: 'The source of this data has no record of this number.' },
};

const retryAfter = z.object({ retry_after: z.number().int().min(1).max(86_400) });
/** The wait if a source does not say when it will send this number the next OTP. */
const USUAL_WAIT_SECONDS = 1_800;

/**
 * The failure for a source that refuses to send this number an OTP now.
 * @param refusal the source's refusal, which may hold `retry_after` in seconds
 */
export function throttledBySource(refusal: unknown): ServiceError {
  return refusalError({ code: 'otp_throttled', retryAfterSeconds: retryAfter.safeParse(refusal).data?.retry_after ?? USUAL_WAIT_SECONDS });
}

/**
 * Turns a refusal into the failure of a call.
 * @param members further members of the response
 */
export function refusalError(refusal: SessionRefusal, members: Readonly<Record<string, unknown>> = {}): ServiceError {
  const { problem, detail } = WORDINGS[refusal.code];
  return new ServiceError(problem, {
    code: refusal.code,
    detail,
    members: {
      ...('attemptsLeft' in refusal && { attempts_left: refusal.attemptsLeft }),
      ...('retryAfterSeconds' in refusal && { retry_after: refusal.retryAfterSeconds }),
      ...members,
    },
  });
}

/** A machine's decision before a step. `session` replaces the stored one; undefined ends it. */
export type StepDecision<S> =
  | { readonly admitted: true; readonly session: S }
  | { readonly admitted: false; readonly session: S | undefined; readonly refusal: SessionRefusal };

/** A machine's decision after a step. `refusal` is the step's result. Without it the step succeeded, or failed at the upstream. */
export interface StepSettlement<S> {
  readonly session: S | undefined;
  readonly refusal?: SessionRefusal;
}

/**
 * The end of an exchange without a reply. `failed`: no reply can come any more. `lost`: a reply may still come and could be mistaken for
 * the next step's, so the session must end.
 */
export type Fault = { readonly kind: 'failed' } | { readonly kind: 'lost' };
