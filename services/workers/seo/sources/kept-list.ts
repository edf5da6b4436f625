import { type Clock } from '../../../../plugins/core/ports';
import { formatInstant } from '../../../kit/timestamp';
import { within } from '../../../kit/deadline';

/** A list and the date that its server gives. */
export interface DatedList<T> {
  readonly list: T;
  readonly modifiedAt: string | undefined;
}

/** A list in memory. */
interface Kept<T> {
  readonly list: T;
  /** When its server says that it changed, or else when it was read. */
  readonly asOf: string;
}

/** A list that is read once and kept. It is read again when it is old or could not be read. */
export interface RefreshedList<T> {
  /**
   * The list in memory, however old. Without one, the caller waits for the first reading, with a bound. Reading goes on for the next
   * caller.
   * @throws a `TimeoutError`, the signal's reason, or whatever the reading failed with
   */
  get(signal: AbortSignal): Promise<Kept<T>>;
}

const DAY_MS = 86_400_000;
/** Milliseconds before a failed reading is repeated. */
const RETRY_AFTER_MS = 60_000;

export interface KeptListOptions<T> {
  readonly read: () => Promise<DatedList<T>>;
  readonly clock: Clock;
  /** Milliseconds that a caller waits. */
  readonly timeoutMs: number;
}

export function createKeptList<T>({ read, clock, timeoutMs }: KeptListOptions<T>): RefreshedList<T> {
  let kept: Kept<T> | undefined;
  let reading: Promise<Kept<T>> | undefined;
  let staleAt = Number.NEGATIVE_INFINITY;

  async function readAgain(): Promise<Kept<T>> {
    // Further callers wait for this reading.
    staleAt = Number.POSITIVE_INFINITY;
    try {
      const { list, modifiedAt } = await read();
      kept = { list, asOf: modifiedAt ?? formatInstant(clock.now()) };
      staleAt = clock.monotonic() + DAY_MS;
      return kept;
    } catch (error) {
      staleAt = clock.monotonic() + RETRY_AFTER_MS;
      throw error;
    }
  }

  return {
    get: async (signal) => {
      if (clock.monotonic() >= staleAt || !reading) {
        reading = readAgain();
        reading.catch(() => undefined);
      }
      const list = kept ? Promise.resolve(kept) : reading;
      return within(timeoutMs, () => list, signal);
    },
  };
}
