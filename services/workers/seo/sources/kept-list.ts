import { createInterface } from 'node:readline';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Clock, type KeyMode } from '../../../../plugins/core/ports';
import { formatInstant } from '../../../kit/timestamp';
import { within } from '../../../kit/deadline';
import { type UpstreamClient } from '../../../kit/upstream/upstream-client';
import { failedStatus, SourceFailed } from './source-failed';

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
interface RefreshedList<T> {
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

interface KeptListOptions<T> {
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

type LineClient = Pick<UpstreamClient, 'stream'>;

export interface LineRequest {
  readonly client: LineClient;
  readonly mode: KeyMode;
  /** True for a gzip file, regardless of its media type. */
  readonly packed: boolean;
}

/** A text file that is read line by line. */
interface TextFile {
  /** Value of `Last-Modified`, if the server sends it. */
  readonly modifiedAt: string | undefined;
  /** @throws SourceFailed */
  readonly lines: AsyncGenerator<string>;
}

/**
 * The lines of the text file at the client's base URL, which may be too large to hold in memory. The connection closes when the reader
 * stops.
 * @throws SourceFailed, ServiceError
 */
export async function openLines({ client, mode, packed }: LineRequest): Promise<TextFile> {
  const signal = new AbortController().signal;
  const { status, headers, body } = await client.stream({ mode, path: '', signal });
  if (status !== 200) {
    body.destroy();
    throw failedStatus(status);
  }
  return { modifiedAt: headers['last-modified'], lines: linesOf(body, packed) };
}

async function* linesOf(body: Readable, packed: boolean): AsyncGenerator<string> {
  try {
    // An error of the packed stream destroys the unpacked stream, where it is noticed.
    const text: Readable = packed ? pipeline(body, createGunzip(), () => undefined) : body;
    for await (const line of createInterface({ input: text, crlfDelay: Infinity })) yield line;
  } catch (error) {
    throw new SourceFailed('bad_response', error);
  } finally {
    body.destroy();
  }
}
