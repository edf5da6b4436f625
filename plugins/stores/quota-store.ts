import { type Pool } from 'pg';
import { type Clock, type QuotaCounter } from '../core/ports';
import { parseRedisUrl, type RedisAddress } from '../core/redis-address';
import { type QuotaStoreStats } from '../core/store-stats';
import { PostgresQuotaCounter } from './postgres/quota/quota-counter';
import { QuotaLedger } from './postgres/quota/quota-ledger';
import { CoalescingCounter } from './quota/quota-coalescer';
import { type Silence } from './quota/quota-reply-watch';
import { SeenUsage, type StoreLog, UsageWriter } from './quota/quota-usage';

export interface QuotaStoreOptions {
  /** If absent, PostgreSQL counts. */
  readonly redisUrl?: string | undefined;
  readonly pool: Pool;
  /** IANA name. Days and months change at its midnight. */
  readonly timeZone: string;
  readonly clock: Clock;
  readonly log: StoreLog;
  /** Added to the clocks of Redis and PostgreSQL; tests move to other days with it. */
  readonly clockOffsetSeconds?: () => number;
  /** Default 20 ms, 200 ms on a busy machine. Raise it if Redis itself pauses for longer. */
  readonly redisSilence?: Silence | undefined;
}

export interface QuotaStore {
  readonly counter: QuotaCounter;
  /** Writes whatever is not yet written and closes the connection to Redis; the pool stays open. */
  close(): Promise<void>;
  stats(): QuotaStoreStats;
}

/** Redis is given up after this long without any reply; see {@link ReplyWatch}. A broken connection gives it up at once. */
const REDIS_SILENCE: Silence = { silenceMs: 20, heldUpSilenceMs: 200 };
/**
 * The limit for PostgreSQL behind Redis. It is longer because PostgreSQL has no fallback: giving up a busy PostgreSQL refuses requests.
 * Once it is silent, calls fail at once until it replies again.
 */
const FALLBACK_SILENCE: Silence = { silenceMs: 250, heldUpSilenceMs: 500 };
const POSTGRES_DEADLINE_MS = 1_000;

/**
 * The daily and monthly counters: Redis with PostgreSQL behind it, or PostgreSQL alone. Resolves when the store can be used. An unreachable
 * Redis delays it by at most a second.
 */
export async function createQuotaCounter(options: QuotaStoreOptions): Promise<QuotaStore> {
  if (options.redisUrl === undefined) return createOnPostgres(options);
  return createOnRedis(options, parseRedisUrl(options.redisUrl));
}

function createOnPostgres(options: QuotaStoreOptions): QuotaStore {
  const patience = { silenceMs: POSTGRES_DEADLINE_MS, heldUpSilenceMs: POSTGRES_DEADLINE_MS, deadlineMs: POSTGRES_DEADLINE_MS };
  const ledger = new QuotaLedger({ ...options, ...patience });
  const postgres = new PostgresQuotaCounter(ledger, options.timeZone);
  const counter = new CoalescingCounter(() => postgres);
  return {
    counter,
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
      waiting: counter.waiting,
      isRedisGivenUp: undefined,
      isPostgresGivenUp: !ledger.isAnswering,
    }),
  };
}

async function createOnRedis(options: QuotaStoreOptions, address: RedisAddress): Promise<QuotaStore> {
  const { log, timeZone } = options;
  const seen = new SeenUsage();
  const ledger = new QuotaLedger({ ...options, ...FALLBACK_SILENCE, deadlineMs: POSTGRES_DEADLINE_MS });
  const fallback = new PostgresQuotaCounter(ledger, timeZone, seen);
  const silence = options.redisSilence ?? REDIS_SILENCE;
  const onOpen = (): void => void writer.flush();
  // Loads ioredis, which takes a tenth of the start-up time. Without Redis it is not needed.
  const { QuotaShards } = await import('./quota-shards.js');
  const shards = new QuotaShards({ ...options, address, silence, seen, ledger, fallback, onOpen });
  const writer = new UsageWriter({ seen, sync: (rows) => ledger.sync(rows), onNews: (usage) => shards.merge(usage), log });
  await shards.connect();
  writer.start();
  const counter = new CoalescingCounter((subscriptionId) => shards.backendOf(subscriptionId));
  return {
    counter,
    close: async () => {
      await shards.stop();
      await writer.stop();
      shards.disconnect();
    },
    stats: () => ({
      ...shards.counts(),
      storeInUse: shards.storeInUse(),
      usageRowsWritten: writer.rowsWritten,
      waiting: counter.waiting,
      isRedisGivenUp: shards.storeInUse() !== 'redis',
      isPostgresGivenUp: !ledger.isAnswering,
    }),
  };
}
