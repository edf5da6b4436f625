import Piscina from 'piscina';
import { DeadlinePassed, within } from '../deadline';
import { codeOf } from '../error-code';
import { type PoolLevels } from '../worker/worker-metrics';
import { FairLimit } from '../fair-limit';
import {
  type PackedPage,
  type PageAnswer,
  type PageJob,
  type PageRefusal,
  type RobotsAnswer,
  type RobotsJob,
  unpackPage,
} from './page-job';
import { MAX_PAGE_BYTES } from './page-port';
import { type ParsedPage } from './parse-page';

/** A page that was fetched but cannot be read: too large, not packed as declared, too deep, too many elements, or not parsed in time. */
export class PageUnreadable extends Error {
  override readonly name = 'PageUnreadable';

  constructor(
    readonly reason: PageRefusal | 'parse_timeout',
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

/** Unpacks and parses fetched pages away from the event loop. */
export interface PageParser {
  /**
   * @param page its bytes may be empty afterwards, because they move to a thread
   * @param owner pages of several owners take turns
   * @throws PageUnreadable; the signal's reason when it fires
   */
  parse(page: PackedPage, owner: object | string, signal: AbortSignal): Promise<ParsedPage>;
  /**
   * Judges a page by its site's robots.txt. Owners take turns as for pages; the bytes stay.
   * @throws PageUnreadable; the signal's reason
   */
  askRobots(job: RobotsJob, owner: object | string, signal: AbortSignal): Promise<RobotsAnswer>;
  levels(): PoolLevels;
  close(): Promise<void>;
}

export interface PageParserOptions {
  /** Path of the compiled `page-thread`. */
  readonly threadFile: string;
  readonly threads: number;
  /** Milliseconds for one page, from when a thread takes it. Default: 5,000. The slowest page that is not too complex takes 500. */
  readonly deadlineMs?: number;
  /** Bytes of a page, unpacked; 2 MiB unless given. */
  readonly maxBytes?: number;
}

/** Exports of `page-thread`. */
type ThreadWork = 'readPageJob' | 'judgeRobotsJob';

const DEADLINE_MS = 5_000;
/** Megabytes of a thread's heap. A page of 2 MiB with the most elements needs a quarter of it. */
const HEAP_MEGABYTES = 192;
/** Threads end after this long without a page, because most installations read pages only now and then. */
const IDLE_MS = 30_000;

/** A page's bytes are transferred instead of copied. Node cuts small buffers from shared memory, so those are copied. */
function ownMemoryOf({ bytes }: PackedPage): ArrayBuffer[] {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength ? [buffer] : [];
}

/** A pool of threads. A page that misses the deadline costs its thread, which is replaced. */
export function createPageParser({
  threadFile,
  threads,
  deadlineMs = DEADLINE_MS,
  maxBytes = MAX_PAGE_BYTES,
}: PageParserOptions): PageParser {
  const pool = new Piscina({
    filename: threadFile,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    // A thread does not need the process's settings.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  });
  // One thread stays free for others, however long one caller's pages take.
  const places = new FairLimit({ atOnce: threads, mostOfOne: Math.max(1, threads - 1) });

  async function inThread<Answer>(
    name: ThreadWork,
    job: PageJob | RobotsJob,
    signal: AbortSignal,
    handed: ArrayBuffer[] = [],
  ): Promise<Answer> {
    signal.throwIfAborted();
    try {
      const work = (either: AbortSignal): Promise<Answer> =>
        pool.run(job, { name, signal: either, transferList: handed }) as Promise<Answer>;
      return await within(deadlineMs, work, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DeadlinePassed) throw new PageUnreadable('parse_timeout', error);
      // The thread ran out of memory.
      throw codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY' ? new PageUnreadable('too_complex', error) : error;
    }
  }

  async function parseNow(page: PackedPage, signal: AbortSignal): Promise<ParsedPage> {
    const answer = await inThread<PageAnswer>('readPageJob', { ...page, maxBytes }, signal, ownMemoryOf(page));
    if (answer.kind === 'refused') throw new PageUnreadable(answer.reason);
    return unpackPage(answer.page);
  }

  return {
    parse: (page, owner, signal) => places.run(owner, () => parseNow(page, signal)),
    askRobots: (job, owner, signal) => places.run(owner, () => inThread<RobotsAnswer>('judgeRobotsJob', job, signal)),
    levels: () => places.levels(),
    close: () => pool.destroy(),
  };
}
