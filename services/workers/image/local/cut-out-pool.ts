import { Worker } from 'node:worker_threads';
import { FairLimit, ownerOf } from '../../../kit/fair-limit';
import { Places, shareOfOne } from '../../../kit/places';
import { type PoolLevels } from '../../../kit/worker/worker-metrics';
import { type CutOutCall } from '../engine';
import { type CutOutAnswer, type CutOutJob, type ThreadMethod } from '../cut-out-job';

export interface CutOutPoolOptions {
  /** Path of the compiled `cut-out-thread`. */
  readonly threadFile: string;
  readonly method: ThreadMethod;
  readonly threads: number;
  /** Maximum waiting jobs; more are refused. Of all jobs, running or waiting, one subscription gets a quarter and test keys half. */
  readonly queue: number;
}

/** Megabytes of a thread's heap. OpenCV's memory and the pictures are not included. */
const HEAP_MEGABYTES = 512;

/** A place for one thread. The thread is replaced when a job had to be stopped. */
interface Slot {
  thread: Worker;
  isBusy: boolean;
}

/** Threads that cut out pictures, one picture at a time each. Subscriptions take turns. Nothing here blocks the event loop. */
export class CutOutPool {
  private readonly slots: Slot[];
  private readonly places: Places;
  private readonly turns: FairLimit;
  private isClosed = false;

  constructor(private readonly options: CutOutPoolOptions) {
    const most = options.threads + options.queue;
    this.places = new Places({ most, mostOfOne: shareOfOne(most), fullDetail: 'Too many images are waiting. Try again shortly.' });
    // If there are several threads, one is left for other subscriptions.
    this.turns = new FairLimit({ atOnce: options.threads, mostOfOne: Math.max(1, options.threads - 1) });
    this.slots = Array.from({ length: options.threads }, () => ({ thread: this.startThread(), isBusy: false }));
  }

  /**
   * @param prepare called when a thread is free, so that waiting jobs hold no pixels; undefined when there is nothing to cut out
   * @throws ServiceError `service_not_ready` when too many jobs wait, `concurrency_exceeded` when too many of this subscription wait; the
   * signal's reason; Error when the thread fails
   */
  async run(prepare: () => Promise<CutOutJob | undefined>, call: CutOutCall): Promise<CutOutAnswer> {
    call.signal.throwIfAborted();
    const release = this.places.take(call);
    try {
      return await this.turns.run(ownerOf(call), () => this.work(prepare, call.signal), call);
    } finally {
      release();
    }
  }

  levels(): PoolLevels {
    return this.turns.levels();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.slots.map(({ thread }) => thread.terminate()));
  }

  private startThread(): Worker {
    const thread = new Worker(this.options.threadFile, {
      workerData: this.options.method,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
      // A thread does not need the process's settings and must not write to its output, which carries the ready line.
      env: {},
      stdout: true,
      stderr: true,
    });
    // If the thread ends between jobs, the next job notices it.
    thread.on('error', () => undefined);
    return thread;
  }

  private async work(prepare: () => Promise<CutOutJob | undefined>, signal: AbortSignal): Promise<CutOutAnswer> {
    const slot = this.slots.find(({ isBusy }) => !isBusy);
    if (!slot) throw new Error('more turns were given than there are threads');
    slot.isBusy = true;
    try {
      const job = await prepare();
      signal.throwIfAborted();
      return job ? await this.ask(slot, job, signal) : { kind: 'no_foreground' };
    } finally {
      slot.isBusy = false;
    }
  }

  /** An OpenCV call cannot be interrupted, so stopping a job means ending its thread and starting another. */
  private ask(slot: Slot, job: CutOutJob, signal: AbortSignal): Promise<CutOutAnswer> {
    // A thread that has ended has no id.
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
      const onExit = (): void => fail(new Error('the thread ended without a result'));
      const onAbort = (): void => fail(signal.reason as Error);
      thread.on('message', onAnswer).on('error', onError).on('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      thread.postMessage(job, [job.picture.rgba.buffer, job.small.rgba.buffer]);
    });
  }
}
