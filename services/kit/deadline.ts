import { ServiceError } from './errors';
import { anySignal } from './tracing';

/** Default limit on how long a handler may take; a route can set its own. */
export const DEFAULT_DEADLINE_MS = 30_000;

/** Reason of a signal that fires because the client left. Nobody reads the response any more. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('the client left before the response');
  }
}

/** Reason of a signal that fires at the deadline. The name makes upstream clients treat it as a time-out. */
export class DeadlinePassed extends Error {
  override readonly name = 'TimeoutError';

  constructor(deadlineMs: number) {
    super(`no result within ${deadlineMs} ms`);
  }
}

/**
 * Waits for a result, or throws the signal's reason if the signal fires first. The work's later result is ignored, and its late failure
 * does not count as unhandled.
 */
export async function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(reasonOf(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([aborted, result]);
  } catch (error) {
    // Work that noticed the signal may have failed with an error of its own first.
    throw signal.aborted ? reasonOf(signal) : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Runs work under its own deadline. The work's signal fires at the deadline with {@link DeadlinePassed}, and when the caller's signal
 * fires. Either ends the wait, even if the work ignores it.
 */
export async function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>, caller?: AbortSignal): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DeadlinePassed(timeoutMs)), timeoutMs);
  const signal = caller ? anySignal(caller, deadline.signal) : deadline.signal;
  try {
    return await untilAborted(work(signal), signal);
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new ClientGone();
}

/** Cancels one wait and one signal. The signal is made only on demand, because it costs more than a small handler. */
export class Cancellation {
  private controller: AbortController | undefined;
  private reason: Error | undefined;
  private waiter: ((reason: Error) => void) | undefined;

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.reason) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Only the first reason counts. */
  fire(reason: Error): void {
    if (this.reason) return;
    this.reason = reason;
    this.controller?.abort(reason);
    this.waiter?.(reason);
  }

  /** Resolves with the result, or throws the reason if that comes first. */
  wait<T>(result: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiter = reject;
      if (this.reason) reject(this.reason);
      result.then(resolve, reject);
    });
  }
}

/**
 * Waits for a handler's result, with a bound. The caller gets a response even if the handler ignores its signal.
 * @param cancel fired at the deadline with {@link DeadlinePassed}; the caller fires it when the client leaves
 * @throws ServiceError `upstream_timeout` at the deadline; {@link ClientGone}; whatever the handler throws
 */
export async function withDeadline<T>(result: Promise<T>, cancel: Cancellation, deadlineMs: number): Promise<T> {
  const timer = setTimeout(() => cancel.fire(new DeadlinePassed(deadlineMs)), deadlineMs);
  try {
    return await cancel.wait(result);
  } catch (error) {
    throw error instanceof DeadlinePassed ? new ServiceError('upstream_timeout', { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}
