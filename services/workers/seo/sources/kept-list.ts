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
  /** Time of its last change according to its server, otherwise the time at which it was read. */
  readonly asOf: string;
}

/** A list that is read once and kept. It is read again when it is old or a reading failed. */
export interface RefreshedList<T> {
  /**
   * The list in memory, however old. Without one, the caller waits for the first reading, up to a limit. The reading continues for the next
   * caller.
   * @throws a `TimeoutError`, the signal's reason, or the error of the reading
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
    // Other callers wait for this reading.
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
