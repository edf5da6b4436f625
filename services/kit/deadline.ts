import { ServiceError } from './errors';

/** The handler's wait is over: 30 s unless the route says otherwise. */
export const DEFAULT_DEADLINE_MS = 30_000;

/** Why a signal fired when the client left; nobody reads the answer any more. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('the client left before the answer');
  }
}

/** Why a signal fired at the deadline. Named so that upstream clients take it for a time-out. */
export class DeadlinePassed extends Error {
  override readonly name = 'TimeoutError';

  constructor(deadlineMs: number) {
    super(`no result within ${deadlineMs} ms`);
  }
}

/**
 * Work, or the signal's reason as an error when it fires first. What the work still does after that is nobody's concern; its late
 * failure is not unhandled.
 */
export async function untilAborted<T>(work: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw reasonOf(signal);
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(reasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new ClientGone();
}

/**
 * Runs a handler, with a bound. A handler that ignores its signal is still answered for.
 * @param cancel fired at the deadline with {@link DeadlinePassed}; the caller fires it when the client leaves
 * @throws ServiceError `upstream_timeout` at the deadline; {@link ClientGone}; whatever the work throws
 */
export async function runWithDeadline<T>(work: () => T | Promise<T>, cancel: AbortController, deadlineMs: number): Promise<T> {
  const timer = setTimeout(() => cancel.abort(new DeadlinePassed(deadlineMs)), deadlineMs);
  try {
    return await untilAborted(work, cancel.signal);
  } catch (error) {
    throw error instanceof DeadlinePassed ? new ServiceError('upstream_timeout', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}
