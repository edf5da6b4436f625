interface Opened<T> {
  readonly opening: Promise<T>;
  readonly close: (value: T) => unknown;
}

/** What a set-up has opened so far: processes, servers, connections. */
export interface OpenedParts {
  /** Waits until a part is open. @param close stops it */
  keep<T>(opening: Promise<T>, close: (value: T) => unknown): Promise<T>;
  /**
   * Stops all parts, the newest first. It waits for parts that are still being opened, and stops the others when one cannot be stopped.
   * @throws the first failure to stop a part
   */
  close(): Promise<void>;
}

/** For a set-up of several parts: when one cannot be opened, the others are stopped all the same. */
export function openParts(): OpenedParts {
  const parts: (() => Promise<unknown>)[] = [];
  const stopperOf =
    <T>({ opening, close }: Opened<T>) =>
    async (): Promise<unknown> => {
      const opened = await opening.then(
        (value) => ({ value }),
        () => undefined,
      );
      return opened && close(opened.value);
    };
  return {
    keep: (opening, close) => {
      parts.push(stopperOf({ opening, close }));
      return opening;
    },
    close: async () => {
      const failures: unknown[] = [];
      for (let stop = parts.pop(); stop; stop = parts.pop()) {
        try {
          await stop();
        } catch (failure) {
          failures.push(failure);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/**
 * Opens several parts as one.
 * @param open keeps each part; when it throws, the parts that it kept are stopped
 */
export async function openTogether<T>(open: (parts: OpenedParts) => Promise<T>): Promise<T> {
  const parts = openParts();
  try {
    return await open(parts);
  } catch (failure) {
    await parts.close().catch(() => undefined);
    throw failure;
  }
}

/** The parts that a file or a `describe` opens in `beforeAll`, stopped after its tests, also when `beforeAll` failed half way. */
export function openedForTests(): OpenedParts {
  const parts = openParts();
  afterAll(() => parts.close());
  return parts;
}
