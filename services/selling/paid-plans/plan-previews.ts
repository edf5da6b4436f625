import { type PoolClient } from 'pg';
import { type Database, inTransaction, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { type HeldPlan, type PlanChange } from './plan-change';

/**
 * What a customer was shown before agreeing to another plan. All of it is stored here, so that nothing a client sends sets a price or a
 * time.
 */
export interface PlanPreview {
  readonly plan: string;
  /** Monthly, in the currency's smallest unit. */
  readonly price: number;
  /** The plan's limits, and what it sells above them. */
  readonly terms: unknown;
  /** The paid plan at that time. */
  readonly held: HeldPlan;
  readonly change: Exclude<PlanChange, { readonly kind: 'refused' | 'pay' }>;
}

interface PreviewRef {
  /** Our id of the payment; see paid-subscriptions.ts. */
  readonly paidId: string;
}

const FORGET = 'DELETE FROM plan_preview WHERE paid_subscription_id = $1 AND accepted_at IS NULL';
const KEEP = `
INSERT INTO plan_preview (paid_subscription_id, plan_name, price, terms, held, change) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`;

/**
 * Stores a preview; earlier ones can no longer be accepted.
 * @returns its id
 */
export function keepPreview(db: Database, { paidId, plan, price, terms, held, change }: PreviewRef & PlanPreview): Promise<string> {
  return inTransaction(db, async (client) => {
    await client.query('SELECT FROM paid_subscription WHERE id = $1 FOR UPDATE', [paidId]);
    await client.query(FORGET, [paidId]);
    const values = [paidId, plan, price, JSON.stringify(terms), JSON.stringify(held), JSON.stringify(change)];
    return (await client.query<{ id: string }>(KEEP, values)).rows[0]?.id ?? '';
  });
}

/** The same maximum as for other changes of a subscription; see require-changes-left.ts. */
const MAX_ACCEPTED_A_DAY = 100;
const COUNT = `
SELECT count(*)::integer AS count FROM plan_preview WHERE paid_subscription_id = $1 AND accepted_at > now() - interval '1 day'`;
const ACCEPT = `
UPDATE plan_preview SET accepted_at = now()
WHERE id = $1 AND paid_subscription_id = $2 AND accepted_at IS NULL AND made_at > now() - interval '1 hour'
RETURNING plan_name AS plan, price::float8 AS price, terms, held, change`;

/**
 * Takes a preview at most an hour old, once however often it is sent. Runs in the caller's transaction.
 * @returns undefined if it was accepted before, is too old, or was never shown to this customer
 * @throws OperationRefused `change_limit_reached`
 */
export async function acceptPreview(
  client: PoolClient,
  { id, paidId }: PreviewRef & { readonly id: string },
): Promise<PlanPreview | undefined> {
  if (!isUuid(id)) return undefined;
  const { rows } = await client.query<{ count: number }>(COUNT, [paidId]);
  if ((rows[0]?.count ?? 0) >= MAX_ACCEPTED_A_DAY) {
    throw new OperationRefused(
      'change_limit_reached',
      `the plan was changed ${MAX_ACCEPTED_A_DAY} times within 24 hours; change it again later`,
    );
  }
  return (await client.query<PlanPreview>(ACCEPT, [id, paidId])).rows[0];
}
