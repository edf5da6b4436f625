import { type Database } from '../../../plugins/stores/postgres/database';
import { type SuspendedKind } from '../customers/suspension-view';

/** The owner of a customer, key or subscription that can be suspended, and its suspension. */
export interface SuspensionOwner {
  readonly customerId: string;
  /** Product of a subscription; null for anything else. */
  readonly product: string | null;
  /** Email address of the customer. */
  readonly email: string;
  /** The name by which people know a key or subscription; null for a customer. */
  readonly label: string | null;
  /** Undefined: it is not suspended. */
  readonly reason: string | undefined;
}

const FIND: Readonly<Record<SuspendedKind, string>> = {
  customer: `
SELECT c.id AS "customerId", NULL AS product, c.email, NULL AS label, s.reason FROM customer c LEFT JOIN suspension s ON s.customer_id = c.id WHERE c.id = $1`,
  credential: `
SELECT c.id AS "customerId", NULL AS product, c.email, k.prefix || '…' || k.last_four AS label, s.reason
FROM credential k JOIN customer c ON c.id = k.customer_id LEFT JOIN suspension s ON s.credential_id = k.id WHERE k.id = $1`,
  subscription: `
SELECT c.id AS "customerId", p.id AS product, c.email, p.title AS label, s.reason
FROM subscription b JOIN customer c ON c.id = b.customer_id JOIN product p ON p.id = b.product_id
LEFT JOIN suspension s ON s.subscription_id = b.id WHERE b.id = $1`,
};

/**
 * @param id of a customer, key or subscription
 * @returns undefined if it does not exist
 */
export async function findSuspensionOwner(
  db: Database,
  { kind, id }: { readonly kind: SuspendedKind; readonly id: string },
): Promise<SuspensionOwner | undefined> {
  const { rows } = await db.query<Omit<SuspensionOwner, 'reason'> & { reason: string | null }>(FIND[kind], [id]);
  return rows[0] && { ...rows[0], reason: rows[0].reason ?? undefined };
}
