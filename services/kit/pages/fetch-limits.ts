import pLimit, { type LimitFunction } from 'p-limit';
import { type PoolLevels } from '../worker/worker-metrics';

/** Pages that one host is asked for at a time: it has other visitors. */
const AT_ONCE_FROM_A_HOST = 2;

/** Bounds how many fetches run at a time, overall and from one host, for all calls together. */
export class FetchLimits {
  private readonly everywhere: LimitFunction;
  private readonly byHost = new Map<string, LimitFunction>();

  constructor(private readonly atOnce: number) {
    this.everywhere = pLimit(atOnce);
  }

  levels(): PoolLevels {
    const { everywhere, atOnce } = this;
    let waiting = everywhere.pendingCount;
    for (const host of this.byHost.values()) waiting += host.pendingCount;
    return { waiting, busy: everywhere.activeCount, size: atOnce };
  }

  /** A fetch that waits for its host holds no place of the others. */
  async run<T>(host: string, work: () => Promise<T>): Promise<T> {
    const ofHost = this.byHost.get(host) ?? pLimit(AT_ONCE_FROM_A_HOST);
    this.byHost.set(host, ofHost);
    try {
      return await ofHost(() => this.everywhere(work));
    } finally {
      if (ofHost.activeCount + ofHost.pendingCount === 0) this.byHost.delete(host);
    }
  }
}
