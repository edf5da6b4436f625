import Piscina from 'piscina';
import { DeadlinePassed, within } from '../deadline';
import { type PoolLevels } from '../worker/worker-metrics';
import { FairLimit } from '../fair-limit';
import { type PackedPage, type PageAnswer, type PageJob, type PageRefusal, unpackPage } from './page-job';
import { MOST_PAGE_BYTES } from './page-port';
import { type ParsedPage } from './parse-page';
import { codeOf } from '../error-code';

/** A page that was fetched and cannot be read: too large, not packed as it says, too deep or too many elements, or not read within its time. */
export class PageUnreadable extends Error {
  override readonly name = 'PageUnreadable';

  constructor(
    readonly reason: PageRefusal | 'parse_timeout',
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

/** Unpacks and reads pages away from the event loop. */
export interface PageParser {
  /**
   * @param page its bytes may be empty afterwards: a thread has them
   * @param owner who the time is taken from: pages of several owners take turns
   * @throws PageUnreadable; the signal's reason when it fires
   */
  parse(page: PackedPage, owner: object | string, signal: AbortSignal): Promise<ParsedPage>;
  levels(): PoolLevels;
  close(): Promise<void>;
}

export interface PageParserOptions {
  /** The compiled `page-thread`. */
  readonly threadFile: string;
  readonly threads: number;
  /** Milliseconds for one page, from when a thread takes it; 5,000 unless given. The slowest page that is not too complex takes 500. */
  readonly deadlineMs?: number;
  /** Bytes of a page, unpacked; 2 MiB unless given. */
  readonly maxBytes?: number;
}

const DEADLINE_MS = 5_000;
/** Megabytes of a thread's heap: a page of 2 MiB with the most elements needs a quarter of it. */
const HEAP_MEGABYTES = 192;
/** Threads end when nothing has been parsed for so long: most installations read pages now and then. */
const IDLE_MS = 30_000;

/** A page's bytes are handed over rather than copied. Node cuts small buffers from memory that they share: those stay. */
function ownMemoryOf({ bytes }: PackedPage): ArrayBuffer[] {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength ? [buffer] : [];
}

/** A pool of threads; a page that takes longer than the deadline costs its thread, which is replaced. */
export function createPageParser({
  threadFile,
  threads,
  deadlineMs = DEADLINE_MS,
  maxBytes = MOST_PAGE_BYTES,
}: PageParserOptions): PageParser {
  const pool = new Piscina({
    filename: threadFile,
    name: 'readPageJob',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    // A thread does not need the process's settings.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  });
  // One thread stays for the others, whatever one caller's pages take.
  const places = new FairLimit({ atOnce: threads, mostOfOne: Math.max(1, threads - 1) });

  async function parseNow(page: PackedPage, signal: AbortSignal): Promise<ParsedPage> {
    signal.throwIfAborted();
    const job: PageJob = { ...page, maxBytes };
    try {
      const answer = await within(
        deadlineMs,
        (either) => pool.run(job, { signal: either, transferList: ownMemoryOf(page) }) as Promise<PageAnswer>,
        signal,
      );
      if (answer.kind === 'refused') throw new PageUnreadable(answer.reason);
      return unpackPage(answer.page);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DeadlinePassed) throw new PageUnreadable('parse_timeout', error);
      // The thread's memory did not suffice.
      throw codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY' ? new PageUnreadable('too_complex', error) : error;
    }
  }

  return {
    parse: (page, owner, signal) => places.run(owner, () => parseNow(page, signal)),
    levels: () => places.levels(),
    close: () => pool.destroy(),
  };
}
