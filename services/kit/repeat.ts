/** Work that a process does again and again. */
export interface RepeatedWork {
  /** Does it now, unless it is running. */
  run(): void;
  /** Waits for a run that has begun. */
  close(): Promise<void>;
}

/**
 * Does the work again and again, first after a pause, and never twice at once: a turn that comes while it runs is left out.
 * @param onError a run failed; the next one comes all the same
 */
export function repeat(
  work: () => Promise<unknown>,
  { everyMs, onError }: { readonly everyMs: number; readonly onError: (error: unknown) => void },
): RepeatedWork {
  let running: Promise<unknown> | undefined;
  const run = (): void => {
    running ??= work()
      .catch(onError)
      .finally(() => (running = undefined));
  };
  const timer = setInterval(run, everyMs).unref();
  return {
    run,
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
