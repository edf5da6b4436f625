import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import { codeOf } from './error-code';

const ROOT = join(__dirname, '../..');

/** The compiled file beside the sources, else the one in dist/. */
function compiledFile(path: string): string {
  const beside = `${path}.js`;
  return existsSync(beside) ? beside : join(ROOT, 'dist', relative(ROOT, beside));
}

export interface ThreadBounds {
  readonly deadlineMs: number;
  readonly heapMebibytes: number;
  /** Message of the error when the thread needs more of either. */
  readonly tooMuch: string;
}

/**
 * Runs a module in a thread of its own, so that long work keeps nobody else waiting. The thread gets `input` as its data, and its first
 * message is the result; both are copied, but for the buffers that the thread hands over.
 * @param path of the module, without its extension
 * @throws Error that the thread ended with, or `tooMuch`
 */
export function runInThread<Output>(path: string, input: unknown, { deadlineMs, heapMebibytes, tooMuch }: ThreadBounds): Promise<Output> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(compiledFile(path), {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
      env: {},
    });
    const timer = setTimeout(() => {
      reject(new Error(tooMuch));
      void thread.terminate();
    }, deadlineMs);
    thread.once('message', resolve);
    thread.once('error', (error) => reject(codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY' ? new Error(tooMuch) : error));
    // After a message this changes nothing.
    thread.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(tooMuch));
    });
  });
}
