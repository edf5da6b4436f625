import pLimit, { type LimitFunction } from 'p-limit';
import { type KeyMode } from '../../../plugins/core/ports';
import { type PoolLevels } from '../worker/worker-metrics';
import { FairLimit } from '../fair-limit';

/** Pages that one host is asked for at a time: it has other visitors. */
const AT_ONCE_FROM_A_HOST = 2;
/** What one owner may take of all places, so that hosts that never answer leave some for the others. */
const MAX_OF_ONE = 0.75;

/** Who fetches, as the limits see it. */
export interface FetchTurn {
  /** Owners take turns. */
  readonly owner: object | string;
  /** Fetches of test keys take half of the places; `live` unless given. */
  readonly mode?: KeyMode | undefined;
  readonly host: string;
}

/** Bounds how many fetches run at a time, overall, for one owner and from one host, for all owners together. */
export class FetchLimits {
  private readonly everywhere: FairLimit;
  private readonly byHost = new Map<string, LimitFunction>();

  constructor(atOnce: number) {
    this.everywhere = new FairLimit({ atOnce, mostOfOne: Math.ceil(atOnce * MAX_OF_ONE) });
  }

  levels(): PoolLevels {
    const { waiting, ...levels } = this.everywhere.levels();
    let all = waiting;
    for (const host of this.byHost.values()) all += host.pendingCount;
    return { ...levels, waiting: all };
  }

  /** A fetch that waits for its host holds no place of the others. */
  async run<T>({ owner, mode = 'live', host }: FetchTurn, work: () => Promise<T>): Promise<T> {
    const ofHost = this.byHost.get(host) ?? pLimit(AT_ONCE_FROM_A_HOST);
    this.byHost.set(host, ofHost);
    try {
      return await ofHost(() => this.everywhere.run(owner, work, { mode }));
    } finally {
      if (ofHost.activeCount + ofHost.pendingCount === 0) this.byHost.delete(host);
    }
  }
}
