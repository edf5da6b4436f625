import { type RedisAddress } from '../core/redis-address';
import { type QuotaStoreInUse } from '../core/store-stats';
import { type PostgresQuotaCounter } from './postgres/quota/quota-counter';
import { type QuotaLedger } from './postgres/quota/quota-ledger';
import { RedisQuotaCounter } from './redis/quota-counter';
import { type StoreDaysOptions } from './redis/quota-script';
import { openRedisMasters, type RedisMasters } from './redis/redis-masters';
import { WatchedConnection } from './redis/watched-connection';
import { type QuotaBackend } from './quota/quota-coalescer';
import { QuotaFailover } from './quota/quota-failover';
import { type Silence } from './quota/quota-reply-watch';
import { type SeenUsage, type StoreLog, type SubscriptionUsage } from './quota/quota-usage';

export interface QuotaShardsOptions extends StoreDaysOptions {
  readonly address: RedisAddress;
  readonly silence: Silence;
  readonly seen: SeenUsage;
  readonly ledger: QuotaLedger;
  readonly fallback: PostgresQuotaCounter;
  /** Called when a master is given up, because the counts that this node saw there must reach PostgreSQL. */
  readonly onOpen: () => void;
  readonly log: StoreLog;
}

/** The counter on one master, with its own breaker. When it opens, subscriptions on other masters stay where they are. */
interface Shard {
  readonly primary: RedisQuotaCounter;
  readonly failover: QuotaFailover;
}

/** Milliseconds that a start waits for Redis before it counts in PostgreSQL. */
const FIRST_CONNECT_MS = 1_000;
/** The name of the shard for subscriptions without a known master, before a cluster was reached. It counts in Postgres. */
const NOWHERE = '';
const NO_COUNTS = { redisCalls: 0, postgresCalls: 0, failures: 0, failovers: 0, lateUnits: 0, seedings: 0 };

type ShardCounts = Record<keyof typeof NO_COUNTS, number>;

/** Counts each subscription on the Redis master of its slot, or in Postgres while that master is away. */
export class QuotaShards {
  private readonly masters: RedisMasters;
  private readonly shards = new Map<string, Shard>();
  private noteReady: () => void = () => undefined;
  private retired: ShardCounts = NO_COUNTS;

  constructor(private readonly options: QuotaShardsOptions) {
    this.masters = openRedisMasters(options.address, {
      onTrouble: (name, reason) => this.shards.get(name)?.failover.trouble(reason),
      onReady: (name) => this.masterReady(name),
      onMoved: () => this.tagsMoved(),
    });
  }

  /** Resolves when every master takes writes, or after a second, when masters that do not are given up. */
  async connect(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, FIRST_CONNECT_MS, false)));
    const ready = new Promise<void>((resolve) => (this.noteReady = () => void (this.areMastersReady() && resolve())));
    await Promise.race([ready, late]);
    this.noteReady = () => undefined;
    const start = async (name: string): Promise<void> => {
      const { primary, failover } = this.shardAt(name);
      if (!(await Promise.race([primary.probe(), late]))) failover.trouble('not reachable at start');
    };
    await Promise.all([...this.masters.names()].map(start));
    clearTimeout(timer);
  }

  backendOf(subscriptionId: string): QuotaBackend {
    return this.shardOf(subscriptionId).failover;
  }

  /**
   * Sends the subscription's master what PostgreSQL knows.
   * @throws StoreUnavailable
   */
  merge(usage: SubscriptionUsage): Promise<void> {
    return this.shardOf(usage.subscriptionId).primary.merge(usage);
  }

  storeInUse(): QuotaStoreInUse {
    const inUse = [...this.shards.values()].map(({ failover }) => failover.storeInUse());
    if (inUse.includes('none')) return 'none';
    return inUse.length === 0 || inUse.includes('postgres') ? 'postgres' : 'redis';
  }

  counts(): ShardCounts {
    return [...this.shards.values()].reduce(addCounts, this.retired);
  }

  /** Stops the breakers, lets running spends end and gives late units back. */
  async stop(): Promise<void> {
    for (const { failover } of this.shards.values()) failover.close();
    await Promise.all([...this.shards.values()].map(({ primary }) => primary.close()));
  }

  disconnect(): void {
    this.masters.close();
  }

  private areMastersReady(): boolean {
    const names = [...this.masters.names()];
    return names.length > 0 && names.every((name) => this.masters.clientOf(name)?.status === 'ready');
  }

  private masterReady(name: string): void {
    this.noteReady();
    void this.shards.get(name)?.failover.tryPrimary();
  }

  private shardOf(subscriptionId: string): Shard {
    return this.shardAt(this.masters.ownerOf(subscriptionId) ?? NOWHERE);
  }

  private shardAt(name: string): Shard {
    const known = this.shards.get(name);
    if (known) return known;
    const { masters, options } = this;
    const { fallback, onOpen, log, silence, clock } = options;
    const connection = new WatchedConnection({
      ...silence,
      masters,
      name,
      clock,
      onTrouble: (reason) => failover.trouble(reason),
      onLateReply: () => void failover.tryPrimary(),
    });
    const primary = new RedisQuotaCounter({ ...options, connection });
    const failover = new QuotaFailover({ primary, fallback, onOpen, log });
    const shard = { primary, failover };
    this.shards.set(name, shard);
    if (!connection.isReady) failover.trouble('not reachable');
    return shard;
  }

  /**
   * A subscription may have been counted in PostgreSQL while another master had it, or its new master may lack the last counts of the old
   * one. Every subscription is therefore merged again before its next spend.
   */
  private tagsMoved(): void {
    const names = this.masters.names();
    for (const [name, shard] of this.shards) {
      shard.primary.forgetSeeds();
      if (names.has(name)) continue;
      this.shards.delete(name);
      this.retired = addCounts(this.retired, shard);
      shard.failover.close();
    }
    this.noteReady();
  }
}

function addCounts(sum: ShardCounts, { primary, failover }: Shard): ShardCounts {
  const { primaryCalls, fallbackCalls, failures, opened } = failover.counts;
  return {
    redisCalls: sum.redisCalls + primaryCalls,
    postgresCalls: sum.postgresCalls + fallbackCalls,
    failures: sum.failures + failures,
    failovers: sum.failovers + opened,
    lateUnits: sum.lateUnits + primary.lateUnits,
    seedings: sum.seedings + primary.seedings,
  };
}
