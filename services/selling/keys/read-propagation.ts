import { type Database } from '../../../plugins/stores/postgres/database';
import { type KeyRef, viewKey } from './key-view';

/** A node's state for a change: see {@link NodeStanding}. */
export type NodeState = 'confirmed' | 'pending' | 'reading' | 'gone';

export interface NodeStanding {
  readonly name: string;
  /**
   * `confirmed`: it acts on the change. `pending`: it may still act on what it knew before. `reading`: it has lost its feed of changes and
   * asks the database on every request, so it is up to date. `gone`: it was stopped, or has shown no sign of life for 10 s.
   */
  readonly state: NodeState;
  /** Null when that is not known exactly: the node started later, or the change is older than a week. */
  readonly confirmedAt: Date | null;
  readonly seenAt: Date;
}

export interface Propagation {
  /** When the key was last changed; null when it never was. */
  readonly changedAt: Date | null;
  /** Nodes in the order of their names. */
  readonly nodes: readonly NodeStanding[];
}

/** The audit log has every change with exactly the time that its notification carries. Making a key is not a change. */
const LAST_CHANGE = `
SELECT at::text, at AS "changedAt" FROM audit_log
WHERE subject_id = $1 AND subject_kind = 'credential' AND action NOT IN ('key.create', 'key.import', 'key.rotate')
ORDER BY id DESC LIMIT 1`;

/**
 * `current_until` is not exact: the statement that wrote it may have taken 2 s, and a transaction commits later than it begins. 5 s are
 * more than both. A replaced node (one of its name started after its last sign of life) is left out.
 */
const STANDINGS = `
SELECT node.name, node.seen_at AS "seenAt", told.confirmed_at AS "confirmedAt",
  CASE
    WHEN node.stopped_at IS NOT NULL OR node.seen_at < now() - interval '10 seconds' THEN 'gone'
    WHEN $2::timestamptz IS NULL OR told.confirmed_at IS NOT NULL THEN 'confirmed'
    WHEN NOT node.feed_healthy THEN 'reading'
    WHEN node.current_until > $2 + interval '5 seconds' THEN 'confirmed'
    ELSE 'pending'
  END AS state
FROM gateway_node node
LEFT JOIN change_confirmation told ON told.node_id = node.id AND told.credential_id = $1 AND told.changed_at >= $2
WHERE node.seen_at > now() - interval '1 day'
  AND NOT EXISTS (SELECT 1 FROM gateway_node later WHERE later.name = node.name AND later.started_at >= node.seen_at AND later.id <> node.id)
ORDER BY node.name, node.started_at`;

/**
 * Which gateway nodes act on a key's last change.
 * @throws OperationRefused `key_unknown`
 */
export async function readPropagation(db: Database, key: KeyRef): Promise<Propagation> {
  const { id } = await viewKey(db, key);
  const changes = await db.query<{ at: string; changedAt: Date }>(LAST_CHANGE, [id]);
  const change = changes.rows[0];
  const { rows } = await db.query<NodeStanding>(STANDINGS, [id, change?.at ?? null]);
  return { changedAt: change?.changedAt ?? null, nodes: rows };
}
