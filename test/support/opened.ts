type Closable = { close(): unknown } | { stop(): unknown } | { end(): unknown };

/** What stops a part: its own `close`, `stop` or `end` unless given. */
type Closing<T> = [T] extends [Closable] ? [close?: (value: T) => unknown] : [close: (value: T) => unknown];

function closeIt(value: unknown): unknown {
  const closable = value as Closable;
  if ('close' in closable) return closable.close();
  return 'stop' in closable ? closable.stop() : closable.end();
}

/** What a set-up has opened so far: processes, servers, connections. */
export interface OpenedParts {
  /** Waits until a part is open. */
  keep<T>(opening: Promise<T>, ...close: Closing<T>): Promise<T>;
  /**
   * Stops all parts, the newest first. It waits for parts that are still being opened, and stops the others when one cannot be stopped.
   * @throws the first failure to stop a part
   */
  close(): Promise<void>;
}

/** For a set-up of several parts: when one cannot be opened, the others are stopped all the same. */
export function openParts(): OpenedParts {
  const parts: (() => Promise<unknown>)[] = [];
  return {
    keep: (opening, close: (value: never) => unknown = closeIt) => {
      const settled = opening.then(
        (value) => ({ value }),
        () => undefined,
      );
      parts.push(async () => {
        const opened = await settled;
        return opened && close(opened.value as never);
      });
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

/** The parts of a file or a `describe`, stopped after its tests, also when `beforeAll` failed half way. */
export interface TestParts extends OpenedParts {
  /** Opens a part before the tests, as `keep` does. Its members are there once they run. Hooks run in the order of their definition. */
  use<T extends object>(open: () => T | Promise<T>, ...close: Closing<T>): T;
}

export function openedForTests(): TestParts {
  const parts = openParts();
  afterAll(() => parts.close());
  return {
    ...parts,
    use<T extends object>(open: () => T | Promise<T>, ...close: Closing<T>): T {
      let value: T | undefined;
      beforeAll(async () => void (value = await parts.keep<T>(Promise.resolve(open()), ...close)));
      const there = (): T => {
        if (value === undefined) throw new Error('this part is opened by a beforeAll that has not run yet');
        return value;
      };
      return new Proxy({} as T, {
        get: (_, name) => {
          const member: unknown = Reflect.get(there(), name);
          return typeof member === 'function' ? member.bind(value) : member;
        },
        set: (_, name, member) => Reflect.set(there(), name, member),
      });
    },
  };
}

/** One part, opened before the tests of the file or `describe` around it, and closed after them. */
export const useOpened: TestParts['use'] = (open, ...close) => openedForTests().use(open, ...close);
