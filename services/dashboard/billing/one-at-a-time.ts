export interface OneAtATime {
  /** Runs the work; asked for while it runs, it runs once more afterwards. */
  run(): void;
  isRunning(): boolean;
  settled(): Promise<void>;
}

/** Work of which one run at a time is enough, however often it is asked for. An error ends a run, not the next one. */
export function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void): OneAtATime {
  let working: Promise<void> | undefined;
  let isWanted = false;

  async function loop(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await work().catch(onError);
    }
    // No step may come in between: a call from here on begins a loop of its own.
    working = undefined;
  }

  return {
    run() {
      isWanted = true;
      working ??= loop();
    },
    isRunning: () => working !== undefined,
    async settled() {
      while (working) await working;
    },
  };
}
