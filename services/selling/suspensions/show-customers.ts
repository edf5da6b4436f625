import { type Database } from '../../../plugins/stores/postgres/database';
import { type SubscriptionView, viewSubscriptions } from '../subscriptions/subscription-view';
import { type Suspension, suspensionOf } from '../customers/suspension-view';
import { type Customer, requireCustomer } from '../customers/find-customer';

export interface CustomerSummary extends Customer {
  readonly suspended: Suspension | null;
  /** The name that its organisation gives itself. */
  readonly name: string | null;
}

export interface CustomerDetails extends CustomerSummary {
  /** Keys that are not revoked. */
  readonly keys: number;
  readonly subscriptions: readonly SubscriptionView[];
}

const COLUMNS = `c.id, c.email, c.created_at AS "createdAt", c.display_name AS name, ${suspensionOf('customer', 'c.id')} AS suspended`;

const SHOW = `
SELECT ${COLUMNS}, (SELECT count(*)::integer FROM credential k WHERE k.customer_id = c.id AND k.state <> 'revoked') AS keys
FROM customer c WHERE c.id = $1`;

/** @throws OperationRefused `customer_unknown` */
export async function showCustomer(db: Database, { customer }: { customer: string }): Promise<CustomerDetails> {
  const found = await requireCustomer(db, customer);
  const { rows } = await db.query<Omit<CustomerDetails, 'subscriptions'>>(SHOW, [found.id]);
  const shown = rows[0] ?? { ...found, suspended: null, name: null, keys: 0 };
  return { ...shown, subscriptions: await viewSubscriptions(db, found.id) };
}

const LIST = `
SELECT ${COLUMNS} FROM customer c
WHERE ($1::text IS NULL OR strpos(lower(c.email), lower($1)) > 0)
  AND (NOT $2::boolean OR EXISTS (SELECT FROM suspension WHERE customer_id = c.id))
  AND ($3::text IS NULL OR lower(c.email) > lower($3))
ORDER BY lower(c.email) LIMIT $4`;

export interface CustomersQuery {
  readonly limit: number;
  /** Part of the email address, in any case. */
  readonly search?: string | undefined;
  readonly onlySuspended?: boolean | undefined;
  /** The email address after which the list begins. */
  readonly after?: string | undefined;
}

/** Customers, ordered by email address. */
export async function listCustomers(db: Database, { limit, search, onlySuspended, after }: CustomersQuery): Promise<CustomerSummary[]> {
  const { rows } = await db.query<CustomerSummary>(LIST, [search ?? null, onlySuspended ?? false, after ?? null, limit]);
  return rows;
}

/** @param customerId of a customer that exists */
export async function findCustomerSuspension(db: Database, customerId: string): Promise<Suspension | null> {
  const { rows } = await db.query<{ suspended: Suspension | null }>(`SELECT ${suspensionOf('customer', '$1')} AS suspended`, [customerId]);
  return rows[0]?.suspended ?? null;
}
