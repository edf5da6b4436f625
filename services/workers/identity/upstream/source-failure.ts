import { isTimeout, ServiceError, upstreamFailure } from '../../../kit/errors';

/**
 * `unreachable`: no connection, or it broke. `bad_response`: the response cannot be used. `upstream_error`: the upstream reported a
 * failure. `provider_quota`: it accepts no more requests at present. `locked`: it has locked us out.
 */
export type SourceFailureReason = 'unreachable' | 'bad_response' | 'upstream_error' | 'provider_quota' | 'locked';

/** An exchange that certainly failed: no reply to it can come any more. Its text never repeats what the upstream sent. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';

  constructor(
    readonly reason: SourceFailureReason,
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** The call's failure: 502 with the reason. */
export function sourceError(failure: SourceFailure): ServiceError {
  return new ServiceError('upstream_failed', { members: { reason: failure.reason }, cause: failure });
}

/** The 502 for an unexpected response from the upstream. */
export function badAnswer(what: string): ServiceError {
  return sourceError(new SourceFailure('bad_response', what));
}

/** The 500 for an upstream that accepted the request and reports that it could not process it. No late reply can follow. */
export function processingFailed(): ServiceError {
  return new ServiceError('processing_failed', {
    cause: new SourceFailure('upstream_error', 'the upstream reports that it could not process the request'),
  });
}

/** The 504 for an upstream that reports that it ran out of time. No late reply can follow. */
export function upstreamTimedOut(): ServiceError {
  return new ServiceError('upstream_timeout', { cause: new SourceFailure('upstream_error', 'the upstream reports that it timed out') });
}

/**
 * Turns the error of an exchange into the call's failure: 502 for the upstream's failures, 504 for a time-out. Any other error is our own
 * fault or a caller that left, and stays as it is: 500.
 */
export function exchangeError(error: unknown): Error {
  if (error instanceof SourceFailure) return sourceError(error);
  if (isTimeout(error)) return upstreamFailure(error);
  return error instanceof Error ? error : new Error('a value that is not an error was thrown', { cause: error });
}

/** Problems that are detected before anything is sent. */
const NOTHING_SENT = new Set(['invalid_request', 'service_not_ready', 'upstream_not_configured']);

/** True when no late reply can follow this failure. */
export function isSettled(error: unknown): boolean {
  if (error instanceof SourceFailure) return true;
  return error instanceof ServiceError && (error.cause instanceof SourceFailure || NOTHING_SENT.has(error.problem));
}
