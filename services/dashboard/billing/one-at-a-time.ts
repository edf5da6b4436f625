export interface OneAtATime {
  /** Runs the work. If it is running already, it runs once more afterwards. */
  run(): void;
  isRunning(): boolean;
  settled(): Promise<void>;
}

/** Never runs the work twice at once, however often it is asked for. An error ends a run, but not the next one. */
export function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void): OneAtATime {
  let working: Promise<void> | undefined;
  let isWanted = false;

  async function loop(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await work().catch(onError);
    }
    // No `await` may stand in between: a call from here on starts a new loop.
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
