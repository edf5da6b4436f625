import type { Pool } from 'pg';
import { sweepStatusSubscriptions } from '../../../selling/outages/status-subscriptions';
import { pruneOutages, watchOutages } from '../../../selling/outages/watch-outages';
import type { Log } from '../../../kit/log';
import { repeat } from '../../../kit/repeat';

/** Responses are counted every five seconds. */
const WATCH_EVERY_MS = 10_000;
/** Rare, because outages are few. */
const PRUNE_EVERY_MS = 3_600_000;

/**
 * Watches products for outages. Any number of processes may do so at once.
 * @param options.timeZone quota time zone, IANA name
 */
export function startOutages({ db, log, timeZone }: { db: Pool; log: Log; timeZone: string }): { close(): Promise<void> } {
  async function watch(): Promise<void> {
    for (const { product, change } of await watchOutages(db, { timeZone })) {
      if (change === 'began') log.warn({ product }, 'a product is failing');
      else log.info({ product }, 'a product has recovered');
    }
  }

  const watching = repeat(watch, {
    everyMs: WATCH_EVERY_MS,
    onError: (err) => log.warn({ err }, 'outages of products could not be looked at'),
  });
  const pruning = repeat(() => Promise.all([pruneOutages(db), sweepStatusSubscriptions(db)]), {
    everyMs: PRUNE_EVERY_MS,
    onError: (err) => log.warn({ err }, 'old outages, or addresses that nobody confirmed, could not be deleted'),
  });
  return { close: async () => void (await Promise.all([watching.close(), pruning.close()])) };
}
