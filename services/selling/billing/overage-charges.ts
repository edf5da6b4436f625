import { type PaidSubscription } from '../paid-plans/paid-subscriptions';
import { type Database } from '../../../plugins/stores/postgres/database';

/** Use above the limits in a closed statement that a payment provider must charge. */
interface OverageCharge {
  readonly id: string;
  readonly customerId: string;
  readonly product: string;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly units: number;
  /** In the currency's smallest unit. */
  readonly amount: number;
  readonly currency: string;
}

export interface ClaimedOverage extends OverageCharge {
  readonly provider: string;
  /** The provider's id of the subscription that pays for the plan. */
  readonly reference: string;
  /** The provider's id of the customer; null if not known here. */
  readonly account: string | null;
  /** Including this one. From 2 on the provider may have it already. */
  readonly attempts: number;
}

const COLUMNS = `
o.id, o.customer_id AS "customerId", o.product_id AS product, to_char(o.month, 'YYYY-MM') AS month, o.units::float8 AS units,
o.amount::float8 AS amount, o.currency`;

const AT_ONCE = 50;

/**
 * The subscription to charge: of all that ever paid for the product, the one that goes on, at the same provider if that may have the charge
 * already. While its payment is paused, the charge waits. If a process is killed, the rest is left to the look after ten minutes, which is
 * longer than all charges of a look may take.
 */
const CLAIM = `
WITH due AS (
  SELECT o.id, paid.provider, paid.reference, a.account FROM overage_charge o
  CROSS JOIN LATERAL (
    SELECT p.provider, p.reference, p.is_paused FROM paid_subscription p
    WHERE p.customer_id = o.customer_id AND p.product_id = o.product_id AND p.status <> 'waiting'
      AND (o.attempts = 0 OR o.problem <> '' OR p.provider = o.provider)
    ORDER BY p.status = 'ended', p.made_at DESC LIMIT 1
  ) AS paid
  LEFT JOIN payment_account a ON a.customer_id = o.customer_id AND a.provider = paid.provider
  WHERE o.look_at <= now() AND paid.provider = ANY ($1) AND NOT paid.is_paused
  ORDER BY o.look_at LIMIT ${AT_ONCE} FOR UPDATE OF o SKIP LOCKED
)
UPDATE overage_charge o SET look_at = now() + interval '10 minutes', attempts = attempts + 1, problem = '', provider = due.provider, reference = due.reference
FROM due WHERE o.id = due.id RETURNING ${COLUMNS}, o.provider, o.reference, o.attempts, due.account`;

/** Takes some charges for one of these providers; none if nothing is due. */
export async function claimOverage(db: Database, providers: readonly string[]): Promise<ClaimedOverage[]> {
  return (await db.query<ClaimedOverage>(CLAIM, [providers])).rows;
}

/** Records that the provider has the charge, under its id. */
export async function settleOverage(db: Database, id: string, charge: string): Promise<void> {
  await db.query("UPDATE overage_charge SET charge = $2, look_at = NULL, problem = '' WHERE id = $1 AND charge IS NULL", [id, charge]);
}

const RELEASE = `
UPDATE overage_charge o SET charge = NULL, look_at = now() WHERE o.provider = $1 AND o.reference = $2 AND o.charge IS NOT NULL AND NOT EXISTS (
  SELECT FROM payment_charge c WHERE c.paid_subscription_id = $3 AND c.use @> jsonb_build_array(jsonb_build_object('id', o.id))
)`;

/**
 * Releases charges that a provider has, but has not charged when a payment is paused: they may fall into a period that nobody pays, so the
 * provider is asked again afterwards.
 */
export async function releaseOverage(db: Database, { provider, reference, id }: Pick<PaidSubscription, 'provider' | 'reference' | 'id'>) {
  await db.query(RELEASE, [provider, reference, id]);
}

/** The provider refused the charge; it is asked again in a day. */
export async function refuseOverage(db: Database, id: string, problem: string): Promise<void> {
  const text = "UPDATE overage_charge SET problem = $2, look_at = now() + interval '1 day' WHERE id = $1 AND charge IS NULL";
  await db.query(text, [id, problem]);
}

export interface UnchargedOverage extends OverageCharge {
  /** Email address of its customer. */
  readonly customer: string;
  readonly provider: string;
  /** The provider's reason. */
  readonly problem: string;
}

const UNCHARGED = `
SELECT ${COLUMNS}, c.email AS customer, o.provider, o.problem FROM overage_charge o JOIN customer c ON c.id = o.customer_id
WHERE o.look_at IS NOT NULL AND o.problem <> ''
ORDER BY o.month, o.id LIMIT $1`;

/** Charges that the provider refused when last asked, oldest first. */
export async function listUnchargedOverage(db: Database, limit = 1_000): Promise<UnchargedOverage[]> {
  return (await db.query<UnchargedOverage>(UNCHARGED, [limit])).rows;
}

export interface ShownOverage extends OverageCharge {
  /** Whether the provider has it. */
  readonly isReported: boolean;
}

const OF_CUSTOMER = `
SELECT ${COLUMNS}, o.charge IS NOT NULL AS "isReported" FROM overage_charge o
WHERE o.customer_id = $1 AND o.month >= now() - interval '3 months' ORDER BY o.month DESC, o.product_id LIMIT 100`;

/** What a customer's payment provider charges, or has charged, for use above limits in the last three months. */
export async function listOverage(db: Database, customerId: string): Promise<ShownOverage[]> {
  return (await db.query<ShownOverage>(OF_CUSTOMER, [customerId])).rows;
}
