import { eventually } from '../eventually';
import { send } from '../http';

export interface BurstPlan {
  /** URLs that the requests are sent to in turn, one a node. */
  readonly urls: readonly string[];
  /** A key with this many requests a day, of a subscription of its own. */
  readonly newKey: (daily: number) => Promise<{ readonly key: string }>;
  /** Reads one figure of each node's plugin server by its name. */
  readonly metrics: readonly ((name: string) => Promise<number>)[];
  readonly left: number;
  readonly requests: number;
}

const IN_REDIS = 'tollgate_quota_store_in_use{store="redis"}';

async function sumOf(metrics: BurstPlan['metrics'], name: string): Promise<number> {
  const figures = await Promise.all(metrics.map((metric) => metric(name)));
  return figures.reduce((sum, figure) => sum + figure, 0);
}

/** How often a node has left its quota store so far, or found none. */
async function countDisturbances(metrics: BurstPlan['metrics']): Promise<number> {
  return (await sumOf(metrics, 'tollgate_quota_failovers_total')) + (await sumOf(metrics, 'tollgate_quota_failures_total'));
}

/**
 * Sends many requests with one key at once, with fewer left than are sent. Nodes count exactly as long as all of them use the same store
 * (see QuotaFailover): a burst during which one of them did not, because the machine gave it or its store no turn, is sent again.
 * @returns how many were answered with which status
 */
export async function burst({ urls, newKey, metrics, left, requests }: BurstPlan): Promise<Record<string, number>> {
  for (;;) {
    const { key } = await newKey(left + urls.length);
    const statusAt = async (url: string | undefined): Promise<number> => (await send(url ?? '', { headers: { 'X-API-Key': key } })).status;
    // Each node knows the key by then, so that no look-up of it can take too long.
    for (const url of urls) await eventually(async () => (await statusAt(url)) === 200);
    await eventually(async () => [0, metrics.length].includes(await sumOf(metrics, IN_REDIS)));
    const before = await countDisturbances(metrics);
    const statuses = await Promise.all(Array.from({ length: requests }, (_, index) => statusAt(urls[index % urls.length])));
    if ((await countDisturbances(metrics)) !== before) continue;
    const counts = new Map<number, number>();
    for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    return Object.fromEntries(counts);
  }
}
