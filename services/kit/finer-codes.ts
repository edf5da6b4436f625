import { type ProblemCode } from '../../plugins/core/problems';

/**
 * Codes finer than the table of problems. Each has the problem that gives its status, its title, and the code that callers see if that is
 * another one. `services/openapi/remedies.ts` has a remedy for each.
 */
export const FINER_CODES = {
  session_expired: ['invalid_request', 'No such session, or it has ended'],
  session_busy: ['invalid_request', 'Another step of the session is running'],
  invalid_sequence: ['invalid_request', 'The step does not follow the last one'],
  attempts_exhausted: ['invalid_request', 'Too many wrong attempts: the session has ended'],
  refreshes_exhausted: ['invalid_request', 'The session shows no more captchas'],
  otp_invalid: ['invalid_request', 'OTP wrong'],
  otp_expired: ['invalid_request', 'OTP expired'],
  otp_throttled: ['invalid_request', 'Too many OTPs for this number'],
  not_an_apk: ['invalid_request', 'The file is not an APK'],
  apk_malformed: ['validation_failed', 'The APK cannot be read'],
  apk_too_complex: ['validation_failed', 'The APK would cost too much to read'],
  captcha_rejected: ['upstream_failed', 'Captcha rejected: the next one is in the response'],
  number_unknown: ['upstream_failed', 'The source has no record of this number', 'not_found'],
  no_foreground: ['upstream_failed', 'Nothing to cut out'],
  cutout_uncertain: ['upstream_failed', 'The cut-out is too uncertain to be a success'],
  pages_unreachable: ['upstream_failed', 'None of the pages could be read'],
  pages_timeout: ['upstream_timeout', 'None of the pages responded in time'],
  provider_no_record: ['not_found', 'The provider has no record (reason no_records)', 'provider_error'],
  provider_failed: ['upstream_failed', 'The provider failed', 'provider_error'],
  provider_timeout: ['upstream_timeout', 'The provider did not respond in time', 'provider_error'],
} as const satisfies Record<string, readonly [problem: ProblemCode, title: string, sentAs?: string]>;

export type FinerCode = keyof typeof FINER_CODES;
