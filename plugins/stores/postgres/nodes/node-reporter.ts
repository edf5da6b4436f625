import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type Clock, systemClock } from '../../../core/ports';
import { type Change, type ChangeFeed } from '../../cache/change-feed';
import { isUuid } from '../database';

export interface NodeReporterOptions {
  readonly pool: Pool;
  readonly feed: ChangeFeed;
  /** Name for people. Processes with the same name are still kept apart. */
  readonly name: string;
  /** Version of this program; null unless given. */
  readonly version?: string;
  /** Whether Redis counts for this node now; undefined without Redis. Called at every heartbeat. */
  readonly isRedisAnswering?: () => boolean | undefined;
  readonly clock?: Clock;
  /** Milliseconds. Default 2 s. Readers consider a node gone after 10 s. */
  readonly heartbeatMs?: number;
  /** Milliseconds for which confirmations are collected. Default 50 ms: at most 20 statements a second, whatever changes. */
  readonly collectMs?: number;
  /** Called when something could not be written. It is written later. */
  readonly onError?: (error: unknown) => void;
}

/** An import of more keys than this at once is not confirmed key by key. Some seconds later, the heartbeat confirms all of it. */
const MAX_PENDING = 10_000;
const PRUNE_EVERY_MS = 3_600_000;

const BEAT = `
INSERT INTO gateway_node AS old (id, name, feed_healthy, current_until, version, redis_answers, feed_since, redis_since)
VALUES ($1, $2, $3, now() - $4 * interval '1 millisecond', $5, $6::boolean, now(), CASE WHEN $6::boolean IS NOT NULL THEN now() END)
ON CONFLICT (id) DO UPDATE SET seen_at = now(), feed_healthy = excluded.feed_healthy, current_until = excluded.current_until,
  redis_answers = excluded.redis_answers,
  feed_since = CASE WHEN old.feed_healthy = excluded.feed_healthy THEN old.feed_since ELSE now() END,
  redis_since = CASE WHEN old.redis_answers = excluded.redis_answers THEN old.redis_since ELSE excluded.redis_since END`;

const CONFIRM = `
INSERT INTO change_confirmation (credential_id, node_id, changed_at)
SELECT credential, $1, at FROM unnest($2::uuid[], $3::timestamptz[]) AS told(credential, at)
WHERE EXISTS (SELECT FROM credential WHERE id = told.credential)
ON CONFLICT (credential_id, node_id) DO UPDATE SET changed_at = excluded.changed_at, confirmed_at = excluded.confirmed_at`;

const STOP = 'UPDATE gateway_node SET stopped_at = now() WHERE id = $1';

const PRUNE_NODES = `DELETE FROM gateway_node WHERE seen_at < now() - interval '1 day'`;
/** Every node has long known of a change that is no longer listed here; its heartbeat confirms the change. */
const PRUNE_CONFIRMATIONS = `DELETE FROM change_confirmation WHERE confirmed_at < now() - interval '7 days'`;

/**
 * Reports to the database that this node lives, and which changes of keys it acts on. It confirms a change after every other listener has
 * dropped its old knowledge: writing begins in a later turn than the feed's report. Never throws, and no request waits for it.
 */
export class NodeReporter {
  /** Id of this process among the nodes. */
  readonly id = randomUUID();
  /** Credential → start of its last reported change. */
  private pending = new Map<string, string>();
  private readonly clock: Clock;
  private readonly heartbeatMs: number;
  private readonly collectMs: number;
  private readonly onError: (error: unknown) => void;
  private readonly unsubscribe: () => void;
  private readonly timers: readonly NodeJS.Timeout[];
  private collecting: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private beating: Promise<void> | undefined;
  private isClosed = false;

  constructor(private readonly options: NodeReporterOptions) {
    this.clock = options.clock ?? systemClock;
    this.heartbeatMs = options.heartbeatMs ?? 2_000;
    this.collectMs = options.collectMs ?? 50;
    this.onError = options.onError ?? (() => undefined);
    this.unsubscribe = options.feed.subscribe((change) => this.hear(change));
    this.timers = [setInterval(() => this.beat(), this.heartbeatMs), setInterval(() => void this.prune(), PRUNE_EVERY_MS)];
    for (const timer of this.timers) timer.unref();
    this.beat();
  }

  /** Ends the timers, writes what still waits and records that this node ended in order. Never throws. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.unsubscribe();
    for (const timer of this.timers) clearInterval(timer);
    clearTimeout(this.collecting);
    await this.writing;
    await this.write();
    await this.beating;
    await this.options.pool.query(STOP, [this.id]).catch(this.onError);
  }

  private hear(change: Change): void {
    if (change.kind !== 'credential' || change.at === undefined) return;
    // Any login that may NOTIFY can send anything. A value that PostgreSQL would refuse must not delay the rest.
    if (!isUuid(change.id) || Number.isNaN(Date.parse(change.at))) return;
    if (this.pending.size >= MAX_PENDING && !this.pending.has(change.id)) return;
    this.pending.set(change.id, change.at);
    this.collect(this.collectMs);
  }

  private collect(waitMs: number): void {
    if (this.isClosed || this.pending.size === 0) return;
    this.collecting ??= setTimeout(() => {
      this.collecting = undefined;
      void this.write();
    }, waitMs).unref();
  }

  /** Writes run one at a time, because an older confirmation must not overtake a newer one. */
  private write(): Promise<void> {
    this.writing ??= this.writeOnce().finally(() => (this.writing = undefined));
    return this.writing;
  }

  private async writeOnce(): Promise<void> {
    const confirming = this.pending;
    this.pending = new Map();
    try {
      if (confirming.size > 0) await this.options.pool.query(CONFIRM, [this.id, [...confirming.keys()], [...confirming.values()]]);
      this.collect(this.collectMs);
    } catch (error) {
      this.onError(error);
      // A change that was reported during the write is newer.
      this.pending = new Map([...confirming, ...this.pending]);
      this.collect(this.heartbeatMs);
    }
  }

  private beat(): void {
    this.beating ??= this.beatOnce().finally(() => (this.beating = undefined));
  }

  private async beatOnce(): Promise<void> {
    const { pool, feed, name, version = null, isRedisAnswering } = this.options;
    const ageMs = this.clock.monotonic() - feed.lastHealthyAt();
    try {
      await pool.query(BEAT, [
        this.id,
        name,
        feed.isHealthy(),
        Number.isFinite(ageMs) ? ageMs : null,
        version,
        isRedisAnswering?.() ?? null,
      ]);
    } catch (error) {
      this.onError(error);
    }
  }

  private async prune(): Promise<void> {
    try {
      await this.options.pool.query(PRUNE_NODES);
      await this.options.pool.query(PRUNE_CONFIRMATIONS);
    } catch (error) {
      this.onError(error);
    }
  }
}
