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
  /** Message of the error when the thread exceeds a bound. */
  readonly tooMuch: string;
}

/**
 * Runs a module in a thread of its own, so that long work delays nothing else. The thread gets `input` as its data, and its first message
 * is the result. Both are copied, except for buffers that the thread transfers.
 * @param path of the module, without its extension
 * @throws the error that ended the thread, or an Error with `tooMuch`
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
    // Has no effect after a message.
    thread.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(tooMuch));
    });
  });
}
