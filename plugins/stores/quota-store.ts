import { type Pool } from 'pg';
import { type Clock, type QuotaCounter } from '../core/ports';
import { QuotaLedger } from './postgres/quota-ledger';
import { PostgresQuotaCounter } from './postgres/quota-counter';
import { CoalescingCounter } from './quota-coalescer';
import { QuotaFailover, type StoreInUse } from './quota-failover';
import { type StoreLog } from './quota-parts';
import { SeenUsage } from './quota-seen';
import { UsageWriter } from './quota-usage-writer';
import { RedisQuotaCounter } from './redis/quota-counter';
import { QuotaScript } from './redis/quota-script';
import { RedisConnection } from './redis/redis-connection';

export interface QuotaStoreOptions {
  /** Without it Postgres counts. */
  readonly redisUrl?: string | undefined;
  readonly pool: Pool;
  /** IANA name; day and month turn at its midnight. */
  readonly timeZone: string;
  readonly clock: Clock;
  readonly log: StoreLog;
  /** Added to the clocks of Redis and Postgres; tests turn days with it. */
  readonly clockOffsetSeconds?: () => number;
  /** Default 20 ms, 200 ms on a machine that is short of turns. Raise it where Redis itself pauses for longer. */
  readonly redisSilence?: Silence | undefined;
}

/** Since the start, for metrics. */
export interface QuotaStoreStats {
  readonly storeInUse: StoreInUse;
  /** Calls to each store; one call may carry many spends. */
  readonly redisCalls: number;
  readonly postgresCalls: number;
  /** Calls that no store answered. */
  readonly failures: number;
  /** How often Redis was given up. */
  readonly failovers: number;
  /** Units that Redis granted after their requests had moved on; all are given back. */
  readonly lateUnits: number;
  /** Looks into Postgres because Redis did not know a subscription, or this node not whether it does. */
  readonly seedings: number;
  readonly usageRowsWritten: number;
}

export interface QuotaStore {
  readonly counter: QuotaCounter;
  /** Writes what is not written yet and closes the connection to Redis; the pool stays open. */
  close(): Promise<void>;
  stats(): QuotaStoreStats;
}

export interface Silence {
  readonly silenceMs: number;
  readonly heldUpSilenceMs: number;
}

/** Redis is given up after this long without any reply; see {@link ReplyWatch}. A broken connection gives it up at once. */
const REDIS_SILENCE: Silence = { silenceMs: 20, heldUpSilenceMs: 200 };
/**
 * The same for Postgres behind Redis. Longer, since nothing stands behind it: giving up a busy Postgres refuses requests. Once it is
 * found silent, calls fail at once until it answers again.
 */
const FALLBACK_SILENCE: Silence = { silenceMs: 250, heldUpSilenceMs: 500 };
const POSTGRES_DEADLINE_MS = 1_000;
/** How long a start waits for Redis before it counts in Postgres. */
const FIRST_CONNECT_MS = 1_000;

/**
 * The daily and monthly counters: Redis with Postgres behind it, or Postgres alone.
 * Resolves when the store can be used; a Redis that cannot be reached does not hold it up for longer than a second.
 */
export async function createQuotaCounter(options: QuotaStoreOptions): Promise<QuotaStore> {
  return options.redisUrl === undefined ? createOnPostgres(options) : createOnRedis(options, options.redisUrl);
}

function createOnPostgres(options: QuotaStoreOptions): QuotaStore {
  const patience = { silenceMs: POSTGRES_DEADLINE_MS, heldUpSilenceMs: POSTGRES_DEADLINE_MS, deadlineMs: POSTGRES_DEADLINE_MS };
  const ledger = new QuotaLedger({ ...options, ...patience });
  const postgres = new PostgresQuotaCounter(ledger, options.timeZone);
  return {
    counter: new CoalescingCounter(postgres),
    close: () => Promise.resolve(),
    stats: () => ({
      storeInUse: ledger.isAnswering ? 'postgres' : 'none',
      redisCalls: 0,
      postgresCalls: postgres.calls,
      failures: postgres.failures,
      failovers: 0,
      lateUnits: 0,
      seedings: 0,
      usageRowsWritten: 0,
    }),
  };
}

async function createOnRedis(options: QuotaStoreOptions, url: string): Promise<QuotaStore> {
  const { clock, log, timeZone } = options;
  const seen = new SeenUsage();
  const ledger = new QuotaLedger({ ...options, ...FALLBACK_SILENCE, deadlineMs: POSTGRES_DEADLINE_MS });
  const fallback = new PostgresQuotaCounter(ledger, timeZone, seen);
  let isStarted = false;
  let noteReady: () => void = () => undefined;
  const firstReady = new Promise<void>((resolve) => (noteReady = resolve));
  const connection = new RedisConnection({
    url,
    clock,
    ...(options.redisSilence ?? REDIS_SILENCE),
    onTrouble: (reason) => void (isStarted && failover.trouble(reason)),
    onLateReply: () => void failover.tryPrimary(),
    onReady: () => (isStarted ? void failover.tryPrimary() : noteReady()),
  });
  const script = new QuotaScript({ ...options, connection });
  const primary = new RedisQuotaCounter({ connection, script, ledger, seen });
  const probe = async (): Promise<boolean> => {
    const time = await connection.probe();
    if (time !== undefined) script.noteRedisTime(time);
    return time !== undefined;
  };
  const writer = new UsageWriter({ seen, sync: (rows) => ledger.sync(rows), onNews: (usage) => primary.merge(usage), log });
  const onOpen = (): void => void writer.flush();
  const failover = new QuotaFailover({ primary, fallback, probe, onOpen, log });

  const isUsable = await within(FIRST_CONNECT_MS, firstReady.then(probe));
  isStarted = true;
  if (!isUsable) failover.trouble('not reachable at start');
  writer.start();
  return {
    counter: new CoalescingCounter(failover),
    close: async () => {
      failover.close();
      await primary.close();
      await writer.stop();
      connection.close();
    },
    stats: () => ({
      storeInUse: failover.storeInUse(),
      redisCalls: failover.counts.primaryCalls,
      postgresCalls: failover.counts.fallbackCalls,
      failures: failover.counts.failures,
      failovers: failover.counts.opened,
      lateUnits: primary.lateUnits,
      seedings: primary.seedings,
      usageRowsWritten: writer.rowsWritten,
    }),
  };
}

/** False when the answer is no or does not come in time. */
async function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
