import { type KeyMode } from '../../plugins/core/ports';
import { type PlaceOwner, shareOfTest } from './places';
import { type PoolLevels } from './worker/worker-metrics';

interface Share {
  readonly mode: KeyMode;
  running: number;
  /** Number of the turn in which the owner last got a place; 0 for a newcomer. */
  lastTurn: number;
  readonly waiting: (() => void)[];
}

export interface FairLimitOptions {
  /** Pieces of work that run at a time. */
  readonly atOnce: number;
  /** Pieces of work that one owner may run at a time, so that a newcomer finds a free place. Default: `atOnce`. */
  readonly mostOfOne?: number;
}

export interface FairTurn {
  /** Mode of the key for which the work is done. `live`, the default, may use all places. */
  readonly mode?: KeyMode;
  /** Ends the wait with its reason. Work that has begun learns of it only through its own signal. */
  readonly signal?: AbortSignal;
}

/** The live and test keys of one subscription are separate owners. */
export function ownerOf({ subscriptionId, mode }: PlaceOwner): string {
  return `${mode} ${subscriptionId}`;
}

/**
 * A bounded number of places shared by several owners: a free place goes to the waiting owner who has the fewest, in turn. An
 * owner who queues a hundred pieces of slow work delays only its own. Work of test keys runs in half of the places at most.
 */
export class FairLimit {
  private readonly shares = new Map<object | string, Share>();
  private busy = 0;
  private busyWithTest = 0;
  private turn = 0;

  constructor(private readonly options: FairLimitOptions) {}

  levels(): PoolLevels {
    let waiting = 0;
    for (const share of this.shares.values()) waiting += share.waiting.length;
    return { waiting, busy: this.busy, size: this.options.atOnce };
  }

  /** @throws the signal's reason when it fires first; whatever the work throws */
  async run<T>(owner: object | string, work: () => Promise<T>, { mode = 'live', signal }: FairTurn = {}): Promise<T> {
    signal?.throwIfAborted();
    const share = this.shares.get(owner) ?? { mode, running: 0, lastTurn: 0, waiting: [] };
    this.shares.set(owner, share);
    try {
      await this.turnOf(share, signal);
      try {
        return await work();
      } finally {
        this.busy--;
        if (share.mode === 'test') this.busyWithTest--;
        share.running--;
      }
    } finally {
      if (share.running + share.waiting.length === 0) this.shares.delete(owner);
      this.startNext();
    }
  }

  private turnOf(share: Share, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        share.waiting.splice(share.waiting.indexOf(start), 1);
        reject(signal?.reason as Error);
      };
      const start = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      share.waiting.push(start);
      signal?.addEventListener('abort', leave, { once: true });
      this.startNext();
    });
  }

  private startNext(): void {
    if (this.busy >= this.options.atOnce) return;
    const next = this.nextShare();
    if (!next) return;
    this.busy++;
    if (next.mode === 'test') this.busyWithTest++;
    next.running++;
    next.lastTurn = ++this.turn;
    next.waiting.shift()?.();
  }

  private nextShare(): Share | undefined {
    const { atOnce, mostOfOne = atOnce } = this.options;
    const testMayStart = this.busyWithTest < shareOfTest(atOnce);
    let best: Share | undefined;
    for (const share of this.shares.values()) {
      if (share.waiting.length === 0 || share.running >= mostOfOne) continue;
      if (share.mode === 'test' && !testMayStart) continue;
      if (!best || share.running < best.running || (share.running === best.running && share.lastTurn < best.lastTurn)) best = share;
    }
    return best;
  }
}
