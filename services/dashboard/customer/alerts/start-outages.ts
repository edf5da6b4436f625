import type { Pool } from 'pg';
import { sweepStatusSubscriptions } from '../../../selling/outages/status-subscriptions';
import { pruneOutages, watchOutages } from '../../../selling/outages/watch-outages';
import type { Log } from '../../../kit/log';

export interface OutageWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** Milliseconds between two looks at the responses of products. Default 10 s: responses are counted every five. */
  readonly watchMs?: number;
}

const WATCH_MS = 10_000;
/** Rare, because outages are few. */
const PRUNE_EVERY_MS = 3_600_000;

/** Watches products for outages. Any number of processes may do so at once. */
export function startOutages({ db, log, timeZone, watchMs = WATCH_MS }: OutageWorkOptions): { close(): Promise<void> } {
  let running: Promise<void> | undefined;
  let pruning: Promise<void> | undefined;

  async function watch(): Promise<void> {
    for (const { product, change } of await watchOutages(db, { timeZone })) {
      if (change === 'began') log.warn({ product }, 'a product is failing');
      else log.info({ product }, 'a product has recovered');
    }
  }

  const timers = [
    setInterval(() => {
      running ??= watch()
        .catch((err: unknown) => log.warn({ err }, 'outages of products could not be looked at'))
        .finally(() => (running = undefined));
    }, watchMs).unref(),
    setInterval(() => {
      pruning ??= Promise.all([pruneOutages(db), sweepStatusSubscriptions(db)])
        .then(() => undefined)
        .catch((err: unknown) => log.warn({ err }, 'old outages, or addresses that nobody confirmed, could not be deleted'))
        .finally(() => (pruning = undefined));
    }, PRUNE_EVERY_MS).unref(),
  ];
  return {
    async close() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([running, pruning]);
    },
  };
}
