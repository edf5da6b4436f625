import { ServiceError } from '../../../kit/errors';
import { Refusal } from '../../http/refusal';

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
  if (code === 'challenge_not_found') return new Refusal('passkey_expired');
  if (code === 'person_unverified' || code === 'operators_password') return new Refusal(code);
  return error;
}
