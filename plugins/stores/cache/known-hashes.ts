import { setTimeout as sleep } from 'node:timers/promises';
import { type Change, type ChangeFeed } from './change-feed';
import { hashStartOf, KeyHashFilter } from './key-filter';

/** A page of the store's hashes, in order. */
export interface HashPage {
  /** 8 bytes for each key: the first bytes of its hash. */
  readonly starts: Buffer;
  /** The place where the next page begins; undefined after the last page. */
  readonly next: Buffer | undefined;
}

export interface HashSource {
  /**
   * @param after the hash after which the page begins; undefined for the first page
   * @throws Error when the store does not respond, or is a copy that may lag behind the feed
   */
  readHashes(after: Buffer | undefined): Promise<HashPage>;
}

export interface KnownHashesOptions {
  readonly source: HashSource;
  readonly feed: ChangeFeed;
  /** Milliseconds of the first pause after a failed load. It doubles up to 30 s. Default 1 s. */
  readonly retryMs?: number;
  /** Room for at least this many keys. Default 65,536, which takes 96 KB. */
  readonly leastCapacity?: number;
  /** Called when a load failed. The load is repeated. */
  readonly onError?: (error: unknown) => void;
}

/** `possible`: almost certainly a key. `absent`: not a key, if the feed is caught up. `doubtful`: unknown, which proves nothing. */
export type HashVerdict = 'possible' | 'absent' | 'doubtful';

/** Room for keys that are made after a load. With more keys, the filter is loaded again. */
const HEADROOM = 1.25;
const MAX_RETRY_MS = 30_000;
const START_BYTES = 8;

/**
 * Knows for every key whether it exists, from a filter in memory, and knows when it cannot tell. After the feed connects, the filter is
 * loaded from the store in pages: a key was either committed before and is in a page, or the feed reports it. When the feed is lost, the
 * filter is loaded again.
 */
export class KnownHashes {
  /** Holds every key: those in the store when it was loaded, and those that the feed has reported since. */
  private complete: KeyHashFilter | undefined;
  /** The filter of the earlier connection. It can show that a key existed, but not that a key does not exist. */
  private former: KeyHashFilter | undefined;
  private loading: KeyHashFilter | undefined;
  /** Grows whenever keys may have been missed. */
  private epoch = 0;
  /** Number of the current load. */
  private turn = 0;
  private isLoading = false;
  private loads = 0;
  private readonly closing = new AbortController();
  private readonly unsubscribe: () => void;

  constructor(private readonly options: KnownHashesOptions) {
    this.unsubscribe = options.feed.subscribe((change) => this.hear(change));
  }

  judge(hash: string): HashVerdict {
    const start = hashStartOf(hash);
    if (this.complete) return this.complete.mayHave(start) ? 'possible' : 'absent';
    return this.former?.mayHave(start) || this.loading?.mayHave(start) ? 'possible' : 'doubtful';
  }

  /**
   * Proves that no key has this hash: a key committed before this call is reported before the feed is caught up.
   * @returns false when it cannot be proven
   */
  async isAbsent(hash: string): Promise<boolean> {
    const { epoch } = this;
    const isCaughtUp = await this.options.feed.caughtUp();
    return isCaughtUp && epoch === this.epoch && this.judge(hash) === 'absent';
  }

  stats(): { readonly keys: number; readonly bytes: number; readonly isComplete: boolean; readonly loads: number } {
    const filters = [this.complete, this.former, this.loading].filter((filter) => filter !== undefined);
    const bytes = filters.reduce((sum, filter) => sum + filter.bytes, 0);
    return { keys: this.complete?.size ?? 0, bytes, isComplete: this.complete !== undefined, loads: this.loads };
  }

  /** Ends a running load and stops listening to the feed. */
  close(): void {
    this.unsubscribe();
    this.closing.abort();
  }

  private hear(change: Change): void {
    if (change.kind === 'customer' || (change.kind === 'everything' && change.isCatalogue)) return;
    if (change.kind !== 'credential' || change.hash === undefined) return this.distrust();
    if (change.hash !== null) this.add(change.hash);
  }

  private add(hash: string): void {
    const start = hashStartOf(hash);
    this.complete?.add(start);
    this.loading?.add(start);
    if (this.complete?.isFull && !this.isLoading) this.startLoad();
  }

  private distrust(): void {
    this.epoch += 1;
    this.former = this.complete ?? this.former;
    this.complete = undefined;
    this.startLoad();
  }

  private startLoad(): void {
    this.isLoading = true;
    this.turn += 1;
    void this.loadUntilDone(this.turn);
  }

  /** False once another load has begun. */
  private isCurrent(turn: number): boolean {
    return this.turn === turn && !this.closing.signal.aborted;
  }

  private async loadUntilDone(turn: number): Promise<void> {
    const { retryMs = 1_000, leastCapacity = 65_536, onError } = this.options;
    let least = leastCapacity;
    for (let pauseMs = retryMs; this.isCurrent(turn);) {
      try {
        const filter = await this.load(turn, least);
        if (!filter) return;
        if (!filter.isFull) return this.finish(filter);
        // Unevenly spread hashes misled the estimate, or very many keys were made during the load.
        least = filter.size * 2;
      } catch (error) {
        onError?.(error);
        await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: this.closing.signal, ref: false }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, MAX_RETRY_MS);
      }
    }
  }

  /** @returns the filter with all pages in it, or a full filter; undefined when another load has begun */
  private async load(turn: number, least: number): Promise<KeyHashFilter | undefined> {
    const { source } = this.options;
    const expected = estimateKeys(await source.readHashes(undefined));
    if (!this.isCurrent(turn)) return undefined;
    // Created before the first page is read: later reports are added to it, and the pages hold the earlier keys.
    const filter = (this.loading = new KeyHashFilter(Math.max(least, Math.ceil(expected * HEADROOM))));
    let next: Buffer | undefined;
    do {
      const page = await source.readHashes(next);
      if (!this.isCurrent(turn)) return undefined;
      for (let offset = 0; offset < page.starts.length; offset += START_BYTES) {
        filter.add({ high: page.starts.readUInt32BE(offset), low: page.starts.readUInt32BE(offset + 4) });
      }
      next = page.next;
    } while (next !== undefined && !filter.isFull);
    return filter;
  }

  private finish(filter: KeyHashFilter): void {
    this.complete = filter;
    this.former = undefined;
    this.loading = undefined;
    this.isLoading = false;
    this.loads += 1;
  }
}

/** Estimates the number of keys from the range that the first page covers, because hashes are spread evenly. */
function estimateKeys({ starts, next }: HashPage): number {
  const count = starts.length / START_BYTES;
  return next === undefined ? count : Math.ceil(count / ((next.readUInt32BE(0) + 1) / 2 ** 32));
}
