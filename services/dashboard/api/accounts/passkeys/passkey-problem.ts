import { ServiceError } from '../../../../kit/errors';
import { Refusal } from '../../http/refusal';

const EXPIRED = 'This took longer than 5 minutes, or was answered already. Try again.';
const UNVERIFIED = 'Your device did not check that it is you. Set up its screen lock, fingerprint or PIN, and try again.';
const OPERATOR = 'An operator signs in by password and code.';

/** better-auth's words for an answer of a device that does not fit what was asked, or fits no passkey. */
const UNFIT = new Set(['failed_to_verify_registration', 'authentication_failed', 'passkey_not_found']);

/** better-auth's word for what went wrong, in small letters; one of its faults has it in its cause alone. */
function codeOf(error: unknown): string {
  if (error instanceof Refusal) return error.options.code ?? '';
  if (!(error instanceof ServiceError)) return '';
  return (error.cause instanceof Error ? error.cause.message : error.message).toLowerCase();
}

/**
 * What better-auth threw, as an answer that says what to do; anything else as it is.
 * @param unfit for a device's answer that does not fit
 */
export function passkeyProblem(error: unknown, unfit: Error): unknown {
  const code = codeOf(error);
  if (UNFIT.has(code)) return unfit;
  if (code === 'challenge_not_found') return new ServiceError('invalid_request', { code: 'passkey_expired', detail: EXPIRED });
  if (code === 'person_unverified') return new ServiceError('invalid_request', { code, detail: UNVERIFIED });
  if (code === 'operators_password') return new Refusal('not_signed_in', { code, title: 'Not with a passkey', detail: OPERATOR });
  return error;
}
