import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database } from '../../../plugins/stores/postgres/database';

/** Looks only at the customer's newest lines: one line too many is better than a walk through all of them. */
const SEEN = `
SELECT 1 FROM (SELECT actor, action, at FROM audit_log WHERE customer_id = $1 ORDER BY id DESC LIMIT 25) AS newest
WHERE actor = $2 AND action = 'customer.view' AND at > now() - interval '1 hour'`;

/** Records that an operator looks at a customer's pages, once an hour. Call it before anything is shown. */
export async function recordView(
  db: Database,
  { customerId, actor }: { customerId: string; actor: Exclude<Actor, string> },
): Promise<void> {
  const { rowCount } = await db.query(SEEN, [customerId, actor.name]);
  if (rowCount) return;
  await writeAudit(db, { actor, action: 'customer.view', subject: { kind: 'customer', id: customerId } });
}
