import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../../kit/errors';
import { type PoolLevels } from '../../../kit/worker/worker-metrics';
import { type CutOutAnswer, type CutOutJob, type ThreadMethod } from './cut-out-job';

export interface CutOutPoolOptions {
  /** The compiled `cut-out-thread`. */
  readonly threadFile: string;
  readonly method: ThreadMethod;
  readonly threads: number;
  /** Jobs that may wait; more are refused. */
  readonly queue: number;
}

/** Megabytes of a thread's heap; OpenCV's own memory and the pictures come on top. */
const HEAP_MEGABYTES = 512;

interface Waiting {
  readonly start: (slot: Slot) => void;
}

/** A place for one thread. The thread is replaced when a job had to be stopped. */
interface Slot {
  thread: Worker;
  isBusy: boolean;
}

/** Threads that cut out pictures, one each at a time. Nothing they do holds up the event loop. */
export class CutOutPool {
  private readonly slots: Slot[];
  private readonly waiting: Waiting[] = [];
  private isClosed = false;

  constructor(private readonly options: CutOutPoolOptions) {
    this.slots = Array.from({ length: options.threads }, () => ({ thread: this.startThread(), isBusy: false }));
  }

  /**
   * @param prepare called when a thread is free, so that what waits holds no pixels
   * @throws ServiceError `service_not_ready` when too many wait; the signal's reason; Error when the thread fails
   */
  async run(prepare: () => Promise<CutOutJob>, signal: AbortSignal): Promise<CutOutAnswer> {
    signal.throwIfAborted();
    const slot = await this.takeSlot(signal);
    try {
      const job = await prepare();
      signal.throwIfAborted();
      return await this.ask(slot, job, signal);
    } finally {
      this.release(slot);
    }
  }

  levels(): PoolLevels {
    return { waiting: this.waiting.length, busy: this.slots.filter(({ isBusy }) => isBusy).length, size: this.slots.length };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.slots.map(({ thread }) => thread.terminate()));
  }

  private startThread(): Worker {
    const thread = new Worker(this.options.threadFile, {
      workerData: this.options.method,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
      // A thread does not need the process's settings, and must not write to its output: the ready line stands there.
      env: {},
      stdout: true,
      stderr: true,
    });
    // Between jobs an end is noticed when the next one comes.
    thread.on('error', () => undefined);
    return thread;
  }

  private takeSlot(signal: AbortSignal): Promise<Slot> {
    const free = this.slots.find((slot) => !slot.isBusy);
    if (free) {
      free.isBusy = true;
      return Promise.resolve(free);
    }
    if (this.waiting.length >= this.options.queue) {
      throw new ServiceError('service_not_ready', { detail: 'Too many images are waiting. Try again shortly.' });
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        reject(signal.reason as Error);
      };
      const start = (slot: Slot): void => {
        signal.removeEventListener('abort', leave);
        resolve(slot);
      };
      const entry: Waiting = { start };
      this.waiting.push(entry);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  private release(slot: Slot): void {
    const next = this.waiting.shift();
    if (next) next.start(slot);
    else slot.isBusy = false;
  }

  /** An OpenCV call cannot be interrupted: to stop a job is to end its thread and start another. */
  private ask(slot: Slot, job: CutOutJob, signal: AbortSignal): Promise<CutOutAnswer> {
    // A thread that ended has no id any more.
    if (slot.thread.threadId === -1) slot.thread = this.startThread();
    const { thread } = slot;
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        thread.off('message', onAnswer).off('error', onError).off('exit', onExit);
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      const onAnswer = (answer: CutOutAnswer): void => settle(() => resolve(answer));
      const fail = (error: Error): void => {
        void thread.terminate();
        if (!this.isClosed) slot.thread = this.startThread();
        settle(() => reject(error));
      };
      const onError = (error: Error): void => fail(error);
      const onExit = (): void => fail(new Error('the thread ended without an answer'));
      const onAbort = (): void => fail(signal.reason as Error);
      thread.on('message', onAnswer).on('error', onError).on('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      thread.postMessage(job, [job.picture.rgba.buffer, job.small.rgba.buffer]);
    });
  }
}
