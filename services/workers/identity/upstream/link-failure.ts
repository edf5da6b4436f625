import { isTimeout, ServiceError, upstreamFailure } from '../../../kit/errors';

/** `unreachable`: no connection, or it broke. `bad_response`: an answer that cannot be used. `upstream_error`: it says that it failed. */
export type LinkFailureReason = 'unreachable' | 'bad_response' | 'upstream_error';

/** An exchange that failed for certain: no answer to it can come any more. Its text never repeats what the upstream sent. */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';

  constructor(
    readonly reason: LinkFailureReason,
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** As the call's failure: 502 with the reason. */
export function linkError(failure: LinkFailure): ServiceError {
  return new ServiceError('upstream_failed', { members: { reason: failure.reason }, cause: failure });
}

/**
 * What an exchange threw as the call's failure: 502 for the link's failures, 504 for a time-out. Anything else is our own fault or a
 * caller that left, and stays what it is: 500.
 */
export function exchangeError(error: unknown): Error {
  if (error instanceof LinkFailure) return linkError(error);
  if (isTimeout(error)) return upstreamFailure(error);
  return error instanceof Error ? error : new Error('something that is no error was thrown', { cause: error });
}

/** Problems that are found before anything is sent. */
const NOTHING_SENT = new Set(['invalid_request', 'service_not_ready', 'upstream_not_configured']);

/** True when no late answer can follow this failure. */
export function isSettled(error: unknown): boolean {
  if (error instanceof LinkFailure) return true;
  return error instanceof ServiceError && (error.cause instanceof LinkFailure || NOTHING_SENT.has(error.problem));
}
