import pLimit, { type LimitFunction } from 'p-limit';
import { type KeyMode } from '../../../plugins/core/ports';
import { type PoolLevels } from '../worker/worker-metrics';
import { FairLimit } from '../fair-limit';

/** Pages that are fetched from one host at a time, because the host has other visitors. */
const AT_ONCE_FROM_A_HOST = 2;
/** Share of all places that one owner may hold, so that hosts that never respond leave some for others. */
const MAX_OF_ONE = 0.75;

/** The owner, mode and host of a fetch, which decide when it may run. */
export interface FetchTurn {
  /** Owners take turns: a free place goes to the one that waited longest. */
  readonly owner: object | string;
  /** Fetches of test keys take half of the places; `live` unless given. */
  readonly mode?: KeyMode | undefined;
  readonly host: string;
}

/** Bounds how many fetches run at a time: in total, for each owner, and for each host (all owners together). */
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

  /** A fetch that waits for its host holds no place that others could use. */
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
