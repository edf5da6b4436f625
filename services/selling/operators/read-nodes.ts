import { type Database } from '../../../plugins/stores/postgres/database';

/** One process of a gateway node. */
export interface NodeHealth {
  readonly id: string;
  readonly name: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  /**
   * `live`; `reading`: without its change feed it reads the database on every request; `stopped`: it ended in order; `gone`: no sign of
   * life for 10 s.
   */
  readonly state: 'live' | 'reading' | 'stopped' | 'gone';
  /** When the node reached this state; null: its version does not report it. */
  readonly stateSince: Date | null;
  /** Version of Tollgate's access layer; null: the node does not report it. */
  readonly version: string | null;
  /** True if it counts in Redis; null if it has none, does not report it, or is gone. */
  readonly redisAnswers: boolean | null;
  readonly redisSince: Date | null;
  /** Changes of keys in the last day, from commit to confirmation: how many, the median and the longest, in ms. */
  readonly confirmations: number;
  readonly medianLagMs: number | null;
  readonly longestLagMs: number | null;
}

const NODES = `
SELECT node.id, node.name, node.started_at AS "startedAt", node.seen_at AS "seenAt",
  CASE WHEN node.stopped_at IS NOT NULL THEN 'stopped' WHEN is_gone THEN 'gone' WHEN node.feed_healthy THEN 'live' ELSE 'reading' END AS state,
  CASE WHEN is_gone THEN COALESCE(node.stopped_at, node.seen_at) ELSE node.feed_since END AS "stateSince", node.version,
  CASE WHEN NOT is_gone THEN node.redis_answers END AS "redisAnswers", CASE WHEN NOT is_gone THEN node.redis_since END AS "redisSince",
  lag.confirmations, lag."medianLagMs", lag."longestLagMs"
FROM gateway_node node,
LATERAL (SELECT node.stopped_at IS NOT NULL OR node.seen_at < now() - interval '10 seconds' AS is_gone) AS sign, LATERAL (
  SELECT count(*)::integer AS confirmations, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS "medianLagMs", max(ms) AS "longestLagMs"
  FROM (
    SELECT (extract(epoch FROM confirmed_at - changed_at) * 1000)::float8 AS ms FROM change_confirmation
    WHERE node_id = node.id AND confirmed_at > now() - interval '1 day'
  ) AS told
) AS lag
WHERE node.seen_at > now() - interval '1 day'
ORDER BY node.name, node.started_at DESC LIMIT 200`;

export interface StoreHealth {
  /** For example `18.1`. */
  readonly version: string;
  readonly bytes: number;
  readonly connections: number;
  readonly mostConnections: number;
  readonly startedAt: Date;
}

const STORE = `
SELECT current_setting('server_version') AS version, pg_database_size(current_database())::float8 AS bytes,
  (SELECT count(*)::integer FROM pg_stat_activity WHERE datname = current_database()) AS connections,
  current_setting('max_connections')::integer AS "mostConnections", pg_postmaster_start_time() AS "startedAt"`;

/** Gateway nodes with a sign of life within the last day. */
export async function readNodes(db: Database): Promise<NodeHealth[]> {
  return (await db.query<NodeHealth>(NODES)).rows;
}

/** The state of the database. */
export async function readStoreHealth(db: Database): Promise<StoreHealth> {
  const { rows } = await db.query<StoreHealth>(STORE);
  if (!rows[0]) throw new Error('the database did not report its state');
  return rows[0];
}

const COUNT = `
SELECT count(*) FILTER (WHERE NOT is_gone AND feed_healthy)::integer AS live, count(*) FILTER (WHERE NOT is_gone AND NOT feed_healthy)::integer AS reading,
  count(*) FILTER (WHERE is_stopped)::integer AS stopped, count(*) FILTER (WHERE is_gone AND NOT is_stopped)::integer AS gone
FROM (
  SELECT feed_healthy, stopped_at IS NOT NULL AS is_stopped, stopped_at IS NOT NULL OR seen_at < now() - interval '10 seconds' AS is_gone
  FROM gateway_node WHERE seen_at > now() - interval '1 day'
) AS node`;

/** Number of these nodes in each state. */
export async function countNodes(db: Database): Promise<Readonly<Record<NodeHealth['state'], number>>> {
  const { rows } = await db.query<Record<NodeHealth['state'], number>>(COUNT);
  return rows[0] ?? { live: 0, reading: 0, stopped: 0, gone: 0 };
}
