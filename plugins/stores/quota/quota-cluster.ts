import { type RedisLogin, type RedisNode } from '../../core/redis-address';
import { type PostgresQuotaCounter } from '../postgres/quota/quota-counter';
import { type QuotaLedger } from '../postgres/quota/quota-ledger';
import { QuotaFailover, type StoreInUse } from './quota-failover';
import { type Demand, type QuotaBackend, type Refund, type SubscriptionUsage, type Taken } from './quota-parts';
import { type SeenUsage } from './quota-seen';
import { type QuotaStoreOptions, type Silence } from './quota-store-options';
import { ClusterConnection } from '../redis/cluster-connection';
import { ClusterShard } from '../redis/cluster-shard';
import { slotOfTag } from '../redis/key-slot';
import { RedisQuotaCounter } from '../redis/quota-counter';
import { QuotaScript } from '../redis/quota-script';

export interface ClusterQuotaOptions extends QuotaStoreOptions {
  readonly nodes: readonly RedisNode[];
  readonly login: RedisLogin;
  readonly silence: Silence;
  readonly seen: SeenUsage;
  readonly ledger: QuotaLedger;
  readonly fallback: PostgresQuotaCounter;
  /** A master was given up: what this node saw of its counts must reach Postgres. */
  readonly onOpen: () => void;
}

/** The counter on one master, with its own breaker: the subscriptions of the others stay where they are. */
interface Shard {
  readonly primary: RedisQuotaCounter;
  readonly failover: QuotaFailover;
}

const FIRST_CONNECT_MS = 1_000;
/** Where subscriptions go before the cluster was reached: to Postgres. */
const NOWHERE = '';

/** Counts in a Redis Cluster: each subscription on the master of its slot, or in Postgres while that master is away. */
export class ClusterQuota implements QuotaBackend {
  private readonly connection: ClusterConnection;
  private readonly shards = new Map<string, Shard>();
  private noteReady: () => void = () => undefined;
  private retired = { primaryCalls: 0, fallbackCalls: 0, failures: 0, opened: 0, lateUnits: 0, seedings: 0 };

  constructor(private readonly options: ClusterQuotaOptions) {
    const { nodes, login } = options;
    this.connection = new ClusterConnection({
      nodes,
      login,
      onTrouble: (node, reason) => this.shards.get(node)?.failover.trouble(reason),
      onReady: (node) => this.nodeReady(node),
      onMoved: () => this.slotsMoved(),
    });
  }

  /** Resolves when every master can be used, after a second at the latest. */
  async connect(): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.noteReady = () => void (this.areMastersReady() && resolve());
      late = setTimeout(resolve, FIRST_CONNECT_MS);
    });
    clearTimeout(late);
    this.noteReady = () => undefined;
    for (const node of this.connection.masters()) this.shardAt(node);
  }

  take(demand: Demand): Promise<Taken> {
    return this.shardOf(demand.subscriptionId).failover.take(demand);
  }

  refund(refund: Refund): Promise<boolean> {
    return this.shardOf(refund.subscriptionId).failover.refund(refund);
  }

  /** Tells the subscription's master what Postgres knows. @throws StoreUnavailable */
  merge(usage: SubscriptionUsage): Promise<void> {
    return this.shardOf(usage.subscriptionId).primary.merge(usage);
  }

  storeInUse(): StoreInUse {
    const inUse = [...this.shards.values()].map(({ failover }) => failover.storeInUse());
    if (inUse.includes('none')) return 'none';
    return inUse.length === 0 || inUse.includes('postgres') ? 'postgres' : 'redis';
  }

  counts(): typeof this.retired {
    const sum = { ...this.retired };
    for (const shard of this.shards.values()) addCounts(sum, shard);
    return sum;
  }

  async giveBackLateUnits(): Promise<void> {
    await Promise.all([...this.shards.values()].map(({ primary }) => primary.giveBackLateUnits()));
  }

  /** No breaker closes any more; spends under way end. */
  stop(): void {
    for (const { failover } of this.shards.values()) failover.close();
  }

  close(): void {
    this.connection.close();
  }

  private areMastersReady(): boolean {
    const masters = [...this.connection.masters()];
    return masters.length > 0 && masters.every((node) => this.connection.isReady(node));
  }

  private nodeReady(node: string): void {
    this.noteReady();
    void this.shards.get(node)?.failover.tryPrimary();
  }

  private shardOf(subscriptionId: string): Shard {
    return this.shardAt(this.connection.ownerOf(slotOfTag(subscriptionId)) ?? NOWHERE);
  }

  private shardAt(node: string): Shard {
    const known = this.shards.get(node);
    if (known) return known;
    const shard = this.createShard(node);
    this.shards.set(node, shard);
    if (!this.connection.isReady(node)) shard.failover.trouble('not reachable');
    return shard;
  }

  private createShard(node: string): Shard {
    const { options, connection } = this;
    const { fallback, ledger, seen, onOpen, log, silence, clock } = options;
    const redis = new ClusterShard({
      connection,
      node,
      clock,
      ...silence,
      onTrouble: (reason) => failover.trouble(reason),
      onLateReply: () => void failover.tryPrimary(),
    });
    const script = new QuotaScript({ ...options, connection: redis });
    const primary = new RedisQuotaCounter({ connection: redis, script, ledger, seen });
    const probe = async (): Promise<boolean> => {
      const time = await redis.probe();
      if (time !== undefined) script.noteRedisTime(time);
      return time !== undefined;
    };
    const failover = new QuotaFailover({ primary, fallback, probe, onOpen, log });
    return { primary, failover };
  }

  /**
   * A slot may have been counted in Postgres while another master had it, or its new master may not have had the last counts of the old
   * one: every subscription is merged anew before its next spend.
   */
  private slotsMoved(): void {
    const masters = this.connection.masters();
    for (const [node, shard] of this.shards) {
      shard.primary.forgetSeeds();
      if (masters.has(node)) continue;
      this.shards.delete(node);
      addCounts(this.retired, shard);
      shard.failover.close();
      void shard.primary.giveBackLateUnits();
    }
    this.noteReady();
  }
}

function addCounts(
  sum: Record<'primaryCalls' | 'fallbackCalls' | 'failures' | 'opened' | 'lateUnits' | 'seedings', number>,
  shard: Shard,
): void {
  const { counts } = shard.failover;
  sum.primaryCalls += counts.primaryCalls;
  sum.fallbackCalls += counts.fallbackCalls;
  sum.failures += counts.failures;
  sum.opened += counts.opened;
  sum.lateUnits += shard.primary.lateUnits;
  sum.seedings += shard.primary.seedings;
}
