import { type QuotaCounter } from '../../core/ports';
import { parseRedisUrl, type RedisAddress } from '../../core/redis-address';
import { QuotaLedger } from '../postgres/quota/quota-ledger';
import { PostgresQuotaCounter } from '../postgres/quota/quota-counter';
import { ClusterQuota } from './quota-cluster';
import { CoalescingCounter } from './quota-coalescer';
import { QuotaFailover, type StoreInUse } from './quota-failover';
import { SeenUsage } from './quota-seen';
import { type QuotaStoreOptions, type Silence } from './quota-store-options';
import { UsageWriter } from './quota-usage-writer';
import { RedisQuotaCounter } from '../redis/quota-counter';
import { QuotaScript } from '../redis/quota-script';
import { RedisConnection } from '../redis/redis-connection';

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
  /** Spends that wait for their turn now. */
  readonly waiting: number;
  /** Undefined without Redis. */
  readonly isRedisGivenUp: boolean | undefined;
  readonly isPostgresGivenUp: boolean;
}

export interface QuotaStore {
  readonly counter: QuotaCounter;
  /** Writes what is not written yet and closes the connection to Redis; the pool stays open. */
  close(): Promise<void>;
  stats(): QuotaStoreStats;
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
  if (options.redisUrl === undefined) return createOnPostgres(options);
  const address = parseRedisUrl(options.redisUrl);
  return address.kind === 'cluster' ? createOnCluster(options, address) : createOnRedis(options, address.url);
}

function createOnPostgres(options: QuotaStoreOptions): QuotaStore {
  const patience = { silenceMs: POSTGRES_DEADLINE_MS, heldUpSilenceMs: POSTGRES_DEADLINE_MS, deadlineMs: POSTGRES_DEADLINE_MS };
  const ledger = new QuotaLedger({ ...options, ...patience });
  const postgres = new PostgresQuotaCounter(ledger, options.timeZone);
  const counter = new CoalescingCounter(postgres);
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
  const counter = new CoalescingCounter(failover);
  return {
    counter,
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
      waiting: counter.waiting,
      isRedisGivenUp: failover.storeInUse() !== 'redis',
      isPostgresGivenUp: !ledger.isAnswering,
    }),
  };
}

async function createOnCluster(options: QuotaStoreOptions, address: Extract<RedisAddress, { kind: 'cluster' }>): Promise<QuotaStore> {
  const { log, timeZone } = options;
  const seen = new SeenUsage();
  const ledger = new QuotaLedger({ ...options, ...FALLBACK_SILENCE, deadlineMs: POSTGRES_DEADLINE_MS });
  const fallback = new PostgresQuotaCounter(ledger, timeZone, seen);
  const silence = options.redisSilence ?? REDIS_SILENCE;
  const onOpen = (): void => void writer.flush();
  const cluster = new ClusterQuota({ ...options, ...address, silence, seen, ledger, fallback, onOpen });
  const writer = new UsageWriter({ seen, sync: (rows) => ledger.sync(rows), onNews: (usage) => cluster.merge(usage), log });
  await cluster.connect();
  writer.start();
  const counter = new CoalescingCounter(cluster);
  return {
    counter,
    close: async () => {
      cluster.stop();
      await cluster.giveBackLateUnits();
      await writer.stop();
      cluster.close();
    },
    stats: () => {
      const { primaryCalls: redisCalls, fallbackCalls: postgresCalls, opened: failovers, ...counts } = cluster.counts();
      const storeInUse = cluster.storeInUse();
      const givenUp = { isRedisGivenUp: storeInUse !== 'redis', isPostgresGivenUp: !ledger.isAnswering };
      const calls = { redisCalls, postgresCalls, failovers };
      return { storeInUse, ...calls, ...counts, usageRowsWritten: writer.rowsWritten, waiting: counter.waiting, ...givenUp };
    },
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
