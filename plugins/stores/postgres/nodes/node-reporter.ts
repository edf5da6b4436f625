import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type Clock, systemClock } from '../../../core/ports';
import { type Change, type ChangeFeed } from '../../cache/change-feed';
import { isUuid } from '../database';

export interface NodeReporterOptions {
  readonly pool: Pool;
  readonly feed: ChangeFeed;
  /** For people; processes with the same name stay apart. */
  readonly name: string;
  readonly clock?: Clock;
  /** Default 2 s. Readers take a node for gone after 10 s. */
  readonly heartbeatMs?: number;
  /** Confirmations wait this long for others. Default 50 ms: at most 20 statements a second, whatever is changed. */
  readonly collectMs?: number;
  /** Told when something could not be written; it is tried again. */
  readonly onError?: (error: unknown) => void;
}

/** Tells the database that this node lives, and which changes of keys it acts on. Never throws, and no request waits for it. */
export interface NodeReporter {
  /** Id of this process among the nodes. */
  readonly id: string;
  /** Ends the timers and writes what still waits. Never throws. */
  close(): Promise<void>;
}

/** An import of more keys at once is not confirmed key by key: the heartbeat says some seconds later that all of it is known. */
const MOST_PENDING = 10_000;
const PRUNE_EVERY_MS = 3_600_000;

const BEAT = `
INSERT INTO gateway_node (id, name, feed_healthy, current_until) VALUES ($1, $2, $3, now() - $4 * interval '1 millisecond')
ON CONFLICT (id) DO UPDATE SET seen_at = now(), feed_healthy = excluded.feed_healthy, current_until = excluded.current_until`;

const CONFIRM = `
INSERT INTO change_confirmation (credential_id, node_id, changed_at)
SELECT credential, $1, at FROM unnest($2::uuid[], $3::timestamptz[]) AS told(credential, at)
ON CONFLICT (credential_id, node_id) DO UPDATE SET changed_at = excluded.changed_at, confirmed_at = excluded.confirmed_at`;

const PRUNE_NODES = `DELETE FROM gateway_node WHERE seen_at < now() - interval '1 day'`;
/** A change of which this is not known any more is long known to every node; its heartbeat says so. */
const PRUNE_CONFIRMATIONS = `DELETE FROM change_confirmation WHERE confirmed_at < now() - interval '7 days'`;

/**
 * Confirms what the feed has told, after every other listener has dropped what it knew: writing begins in a later turn than the telling.
 */
export function createNodeReporter(options: NodeReporterOptions): NodeReporter {
  const { pool, feed, name, clock = systemClock, heartbeatMs = 2_000, collectMs = 50, onError = () => undefined } = options;
  const id = randomUUID();
  /** Credential → when its last change that was told began. */
  let pending = new Map<string, string>();
  let collecting: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let beating: Promise<void> | undefined;
  let closed = false;

  function collect(waitMs: number): void {
    if (closed || pending.size === 0) return;
    collecting ??= setTimeout(() => {
      collecting = undefined;
      void write();
    }, waitMs).unref();
  }

  function hear(change: Change): void {
    if (change.kind !== 'credential' || change.at === undefined) return;
    // Whoever may NOTIFY can send anything; what PostgreSQL would refuse must not hold up the rest.
    if (!isUuid(change.id) || Number.isNaN(Date.parse(change.at))) return;
    if (pending.size >= MOST_PENDING && !pending.has(change.id)) return;
    pending.set(change.id, change.at);
    collect(collectMs);
  }

  async function writeOnce(): Promise<void> {
    const told = pending;
    pending = new Map();
    try {
      if (told.size > 0) await pool.query(CONFIRM, [id, [...told.keys()], [...told.values()]]);
      collect(collectMs);
    } catch (error) {
      onError(error);
      // What was told meanwhile is newer.
      pending = new Map([...told, ...pending]);
      collect(heartbeatMs);
    }
  }

  /** One at a time: an older confirmation must not overtake a newer. */
  function write(): Promise<void> {
    writing ??= writeOnce().finally(() => (writing = undefined));
    return writing;
  }

  async function beatOnce(): Promise<void> {
    const ageMs = clock.monotonic() - feed.lastHealthyAt();
    try {
      await pool.query(BEAT, [id, name, feed.isHealthy(), Number.isFinite(ageMs) ? ageMs : null]);
    } catch (error) {
      onError(error);
    }
  }

  function beat(): void {
    beating ??= beatOnce().finally(() => (beating = undefined));
  }

  async function prune(): Promise<void> {
    try {
      await pool.query(PRUNE_NODES);
      await pool.query(PRUNE_CONFIRMATIONS);
    } catch (error) {
      onError(error);
    }
  }

  const unsubscribe = feed.subscribe(hear);
  const timers = [setInterval(beat, heartbeatMs).unref(), setInterval(() => void prune(), PRUNE_EVERY_MS).unref()];
  beat();
  return {
    id,
    async close() {
      closed = true;
      unsubscribe();
      for (const timer of timers) clearInterval(timer);
      clearTimeout(collecting);
      await writing;
      await write();
      await beating;
    },
  };
}
