import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../kit/errors';
import { type AnalysisTask, type AnalysisReply, type ThreadStarted } from './analysis-thread';
import { threadCpuMs } from './thread-cpu';
import { codeOf } from '../../kit/error-code';

export interface AnalysisLimits {
  /** Path of the compiled `analysis-thread`. */
  readonly threadFile: string;
  /** Milliseconds after which the thread is stopped, whatever it is doing. */
  readonly deadlineMs: number;
  /** Maximum milliseconds of CPU that the thread may use. Waiting on a busy machine does not count. Without `/proc` it is not checked. */
  readonly cpuMs: number;
  /** Heap limit of the thread. Buffers are not included; the analysis itself bounds them. */
  readonly heapMebibytes: number;
}

const TOO_COMPLEX = 'The file needs more memory or time than an analysis may take.';

/** A failure whose reason is the file itself. It is charged. */
function tooSlow(): ServiceError {
  return new ServiceError('upstream_timeout', { detail: TOO_COMPLEX, members: { reason: 'too_complex' } });
}

function tooComplex(cause?: Error): ServiceError {
  return new ServiceError('validation_failed', { code: 'apk_too_complex', detail: TOO_COMPLEX, cause });
}

/** The service kit's failure for a thread that ended by itself. */
function failureOf(error: Error): Error {
  return codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY' ? tooComplex(error) : error;
}

/** Milliseconds between two readings of the thread's CPU time. A reading takes 20 µs. */
const CPU_CHECK_MS = 100;

/** @returns a function that ends the watch */
function watchCpu(task: string, cpuMs: number, onUsedUp: () => void): () => void {
  const timer = setInterval(() => (threadCpuMs(task) ?? 0) >= cpuMs && onUsedUp(), CPU_CHECK_MS);
  return () => clearInterval(timer);
}

/**
 * Analyses an open file in its own thread, so that a hostile file costs at most the thread.
 * @returns the thread's report or refusal
 * @throws ServiceError `upstream_timeout` at the deadline, `validation_failed` when memory or CPU time runs out; the signal's reason
 */
export function runAnalysis(input: AnalysisTask, limits: AnalysisLimits, signal: AbortSignal): Promise<AnalysisReply> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const thread = new Worker(limits.threadFile, {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMebibytes, maxYoungGenerationSizeMb: 16 },
      // The thread does not need the process's settings and must not write to its output.
      env: {},
      stdout: true,
      stderr: true,
    });
    let outcome: (() => void) | undefined;
    const stop = (then: () => void): void => {
      outcome ??= then;
      void thread.terminate();
    };
    const onAbort = (): void => stop(() => reject(signal.reason as Error));
    const timer = setTimeout(() => stop(() => reject(tooSlow())), limits.deadlineMs);
    signal.addEventListener('abort', onAbort, { once: true });
    let endWatch = (): void => undefined;
    thread.on('message', (said: ThreadStarted | AnalysisReply) => {
      if (said.kind !== 'started') return stop(() => resolve(said));
      if (said.task !== undefined) endWatch = watchCpu(said.task, limits.cpuMs, () => stop(() => reject(tooComplex())));
    });
    thread.once('error', (error: Error) => stop(() => reject(failureOf(error))));
    // Settles only when the thread has ended: the caller may close the file once the thread can no longer use it.
    thread.once('exit', () => {
      clearTimeout(timer);
      endWatch();
      signal.removeEventListener('abort', onAbort);
      if (outcome) outcome();
      else reject(new Error('the analysis thread ended without a result'));
    });
  });
}
