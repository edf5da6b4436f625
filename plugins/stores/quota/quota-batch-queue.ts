interface Item<In, Out> {
  readonly value: In;
  readonly resolve: (result: Out) => void;
  readonly reject: (cause: unknown) => void;
}

export interface BatchQueueOptions<In, Out> {
  /** Answers in the order of the values. */
  readonly run: (values: readonly In[]) => Promise<readonly Out[]>;
  readonly mostAtOnce: number;
  /** Batches under way at the same time. */
  readonly concurrency: number;
}

/** Gathers what is asked for together, or while enough batches are under way, into one call. */
export class BatchQueue<In, Out> {
  private waiting: Item<In, Out>[] = [];
  private running = 0;
  private isScheduled = false;

  constructor(private readonly options: BatchQueueOptions<In, Out>) {}

  add(value: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ value, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.isScheduled || this.waiting.length === 0 || this.running >= this.options.concurrency) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      const batch = this.waiting.slice(0, this.options.mostAtOnce);
      this.waiting = this.waiting.slice(batch.length);
      void this.run(batch);
      this.schedule();
    });
  }

  private async run(batch: readonly Item<In, Out>[]): Promise<void> {
    this.running++;
    try {
      const results = await this.options.run(batch.map(({ value }) => value));
      batch.forEach((item, index) => {
        const result = results[index];
        if (result === undefined) item.reject(new Error('a batch answered less than was asked'));
        else item.resolve(result);
      });
    } catch (cause) {
      for (const item of batch) item.reject(cause);
    } finally {
      this.running--;
      this.schedule();
    }
  }
}
