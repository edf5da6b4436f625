import { type DatedFact } from '../paid-plans/payment-state';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';

/** The customer and product of a provider's subscription, as we named them to the provider when it began. */
export interface PaidOwner {
  readonly customerId: string;
  readonly product: string;
}

/** A fact with the provider's subscription that it is about. */
export interface GivenFact extends DatedFact {
  /** The provider's id. */
  readonly subscription: string;
  /** Reported with the start of a subscription, and with most other facts. */
  readonly owner?: PaidOwner | undefined;
}

const KEEP = `
INSERT INTO payment_fact (provider, id, paid_subscription, at, fact) SELECT $1, id, subscription, to_timestamp(at), fact
FROM jsonb_to_recordset($2) AS row(id text, subscription text, at float8, fact jsonb)
ON CONFLICT DO NOTHING`;

/**
 * Only for our customers and products: a provider's account may serve other programs as well. The new fact is counted at once; the provider
 * is asked only if that does not happen.
 */
const CLAIM = `
INSERT INTO paid_subscription (provider, reference, customer_id, product_id, look_at)
SELECT $1, $2, c.id, p.id, now() + interval '30 seconds' FROM customer c, product p WHERE c.id = $3 AND p.id = $4
ON CONFLICT DO NOTHING`;

/** Stores the provider's facts before anything is done about them. Facts that are stored already stay as they are. */
export async function keepFacts(db: Database, provider: string, facts: readonly GivenFact[]): Promise<void> {
  if (facts.length === 0) return;
  for (const { subscription, owner } of facts) {
    if (owner && isUuid(owner.customerId)) await db.query(CLAIM, [provider, subscription, owner.customerId, owner.product]);
  }
  await db.query(KEEP, [provider, JSON.stringify(facts.map(({ id, subscription, at, fact }) => ({ id, subscription, at, fact })))]);
}

const READ = `
SELECT id, extract(epoch FROM at)::float8 AS at, fact, applied_at IS NULL AS "isNew" FROM payment_fact WHERE provider = $1 AND paid_subscription = $2`;

/** A stored fact. */
export interface KeptFact extends DatedFact {
  /** Whether it still has to be counted. */
  readonly isNew: boolean;
}

/** All facts of a subscription, in any order. */
export async function readFacts(db: Database, provider: string, subscription: string): Promise<KeptFact[]> {
  return (await db.query<KeptFact>(READ, [provider, subscription])).rows;
}

const NEW = `
SELECT DISTINCT provider, paid_subscription AS reference FROM (
  SELECT provider, paid_subscription FROM payment_fact f WHERE applied_at IS NULL
    AND EXISTS (SELECT FROM paid_subscription p WHERE p.provider = f.provider AND p.reference = f.paid_subscription)
  ORDER BY received_at LIMIT 500
) AS waiting`;

/** Subscriptions with stored facts that are not counted: their process was killed, or is still working. */
export async function listNewlyPaid(db: Database): Promise<{ provider: string; reference: string }[]> {
  return (await db.query<{ provider: string; reference: string }>(NEW)).rows;
}
