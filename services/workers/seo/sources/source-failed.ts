import { isTimeout, ServiceError } from '../../../kit/errors';

/** Reason of a source's failure, in a form that callers may see. */
export type SourceFailureCode = 'timeout' | 'unreachable' | 'over_quota' | 'key_refused' | 'upstream_error' | 'bad_response';

/** A source that was queried without a usable result. The message is only the reason. */
export class SourceFailed extends Error {
  override readonly name = 'SourceFailed';

  constructor(
    readonly reason: SourceFailureCode,
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

/** The failure for a status outside 2xx, for any source. */
export function failedStatus(status: number): SourceFailed {
  if (status === 429) return new SourceFailed('over_quota');
  if (status === 401 || status === 403) return new SourceFailed('key_refused');
  if (status === 408 || status === 504) return new SourceFailed('timeout');
  return new SourceFailed('upstream_error');
}

/** Turns the error of a query into a source's failure. Errors that are our own faults pass through unchanged. */
export function sourceFailure(error: unknown): SourceFailed {
  if (error instanceof SourceFailed) return error;
  if (isTimeout(error)) return new SourceFailed('timeout', error);
  if (error instanceof ServiceError && error.problem === 'upstream_failed') {
    return new SourceFailed(error.options.members?.['reason'] === 'bad_response' ? 'bad_response' : 'unreachable', error);
  }
  throw error;
}
