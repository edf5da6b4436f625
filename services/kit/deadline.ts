import { ServiceError } from './errors';
import { anySignal } from './tracing';

/** The handler's wait is over: 30 s unless the route says otherwise. */
export const DEFAULT_DEADLINE_MS = 30_000;

/** Why a signal fired when the client left: the answer has no reader any more. */
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
 * A result, or the signal's reason as an error when it fires first. The work's later result is ignored, and its late failure does not count
 * as unhandled.
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
    // Work that heard of the signal may fail in its own words first.
    throw signal.aborted ? reasonOf(signal) : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Work under a deadline of its own. Its signal fires at the deadline with {@link DeadlinePassed}, and with the caller's; either ends the
 * wait, even for work that ignores it.
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

/** Tells one waiter and one signal; the signal is made only when somebody asks for it, because it costs more than a small handler. */
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

  /** The first reason stays. */
  fire(reason: Error): void {
    if (this.reason) return;
    this.reason = reason;
    this.controller?.abort(reason);
    this.waiter?.(reason);
  }

  /** The result, or the reason when it comes first. */
  wait<T>(result: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.waiter = reject;
      if (this.reason) reject(this.reason);
      result.then(resolve, reject);
    });
  }
}

/**
 * Waits for a handler's result, with a bound. A handler that ignores its signal is still answered for.
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
