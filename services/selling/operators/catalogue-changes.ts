import { type AuditAction } from '../customers/audit-actions';
import { type Database } from '../../../plugins/stores/postgres/database';

/** A change that was applied to the catalogue, as recorded in the audit log. */
export interface AppliedChange {
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  /** The product, or product and plan. */
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const ACTIONS: readonly AuditAction[] = [
  ...(['product.add', 'product.change', 'product.retire'] as const),
  ...(['plan.add', 'plan.change', 'plan.retire', 'billing.change'] as const),
];

/**
 * The newest of each action through its index, so a long log costs no more. Without OFFSET the planner reads the whole log backwards for
 * rare actions.
 */
const NEWEST = `
SELECT newest.at, newest.actor, newest.action, newest.subject_id AS subject, newest.details
FROM unnest($1::text[]) AS wanted (action) CROSS JOIN LATERAL (
  SELECT * FROM (SELECT * FROM audit_log a WHERE a.action = wanted.action OFFSET 0) AS changes ORDER BY id DESC LIMIT $2
) AS newest
ORDER BY newest.id DESC LIMIT $2`;

/** Newest first. */
export async function listCatalogueChanges(db: Database, limit: number): Promise<AppliedChange[]> {
  return (await db.query<AppliedChange>(NEWEST, [ACTIONS, limit])).rows;
}
