import { type PoolClient } from 'pg';
import { type AuditAction } from '../customers/audit-actions';
import { type CustomerDetails, showCustomer } from './show-customers';
import { requireCustomer } from '../customers/find-customer';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { type KeyView, lockKey, viewKey } from '../keys/key-view';
import { OperationRefused } from '../operations/operation-refused';
import { lockSubscription, type SubscriptionView } from '../subscriptions/subscription-view';
import { type SuspendedKind } from '../customers/suspension-view';

/** The suspension from now on; undefined: none. The reason is for the customer to read, and may be empty. */
export interface SuspensionWish {
  readonly reason: string | undefined;
  readonly actor: Actor;
}

/** Only an operator restores what an operator suspended. A suspension for an unpaid plan ends with a payment, or by an operator. */
type SuspensionCause = 'operator' | 'payment';

/** Actor in the audit log for changes that a payment causes. */
export const PAYMENT_ACTOR = 'payments';
const UNPAID = {
  reason: 'A payment failed. Pay it under Billing, and requests are accepted again.',
  actor: PAYMENT_ACTOR,
  cause: 'payment',
} as const;

const MAX_REASON = 500;

const SUSPENDED: Readonly<Record<SuspendedKind, AuditAction>> = {
  customer: 'customer.suspend',
  credential: 'key.suspend',
  subscription: 'subscription.suspend',
};
const RESTORED: Readonly<Record<SuspendedKind, AuditAction>> = {
  customer: 'customer.restore',
  credential: 'key.restore',
  subscription: 'subscription.restore',
};

function checkReason(reason: string | undefined): void {
  if (reason === undefined) return;
  if (reason.length > MAX_REASON) throw new OperationRefused('reason_malformed', `a reason can have at most ${MAX_REASON} characters`);
  // PostgreSQL's text cannot hold this character.
  if (reason.includes('\0')) throw new OperationRefused('reason_malformed', 'a reason must not hold the character U+0000');
}

interface Suspension {
  readonly reason: string;
  readonly cause: SuspensionCause;
}

/**
 * Suspends, changes the reason, or restores. Writes nothing, and no audit line, if that is the present state or only an operator may change
 * it.
 * @returns the previous suspension
 */
async function setSuspension(
  client: PoolClient,
  wish: SuspensionWish & { readonly kind: SuspendedKind; readonly id: string; readonly cause: SuspensionCause },
): Promise<Suspension | undefined> {
  const { kind, id, reason, actor, cause } = wish;
  checkReason(reason);
  const column = `${kind}_id`;
  const { rows } = await client.query<Suspension>(`SELECT reason, cause FROM suspension WHERE ${column} = $1 FOR UPDATE`, [id]);
  const before = rows[0];
  if (cause === 'payment' && before?.cause === 'operator') return before;
  if (before?.reason === reason && (before === undefined || before.cause === cause)) return before;
  if (reason === undefined) await client.query(`DELETE FROM suspension WHERE ${column} = $1`, [id]);
  else {
    const text = `INSERT INTO suspension (${column}, reason, cause) VALUES ($1, $2, $3)
      ON CONFLICT (${column}) DO UPDATE SET reason = excluded.reason, cause = excluded.cause`;
    await client.query(text, [id, reason, cause]);
  }
  const details = reason === undefined ? { before: before?.reason } : { reason, ...(before && { before: before.reason }) };
  await writeAudit(client, { actor, action: (reason === undefined ? RESTORED : SUSPENDED)[kind], subject: { kind, id }, details });
  return before;
}

/**
 * Refuses all requests of a customer with `subscription_inactive`, whatever the state of its subscriptions, or admits them again.
 * @param options.customer email address or id
 * @throws OperationRefused `customer_unknown`, `reason_malformed`
 */
export function suspendCustomer(db: Database, options: SuspensionWish & { readonly customer: string }): Promise<CustomerDetails> {
  return inTransaction(db, async (client) => {
    const { id } = await requireCustomer(client, options.customer);
    await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [id]);
    await setSuspension(client, { ...options, kind: 'customer', id, cause: 'operator' });
    return showCustomer(client, { customer: id });
  });
}

/**
 * Refuses a key as if it did not exist, or returns it to the state that its customer gave it. @throws OperationRefused `key_unknown`,
 * `reason_malformed`
 */
export function suspendKey(db: Database, options: SuspensionWish & { readonly id: string }): Promise<KeyView> {
  return inTransaction(db, async (client) => {
    const { id } = await lockKey(client, { id: options.id });
    await setSuspension(client, { ...options, kind: 'credential', id, cause: 'operator' });
    return viewKey(client, { id });
  });
}

const UNPAID_PLAN = `
SELECT FROM paid_subscription p JOIN subscription s ON s.customer_id = p.customer_id AND s.product_id = p.product_id
WHERE s.id = $1 AND p.entitlement = 'suspended'`;

/**
 * Refuses the requests of a subscription with `subscription_inactive`, or returns it to the state that its customer gave it. If an operator
 * lifts an operator's suspension and the plan is not paid, the subscription stays suspended for that.
 * @throws OperationRefused `subscription_unknown`, `reason_malformed`
 */
export function suspendSubscription(db: Database, options: SuspensionWish & { readonly id: string }): Promise<SubscriptionView> {
  return inTransaction(db, async (client) => {
    const { id } = await lockSubscription(client, { id: options.id });
    const before = await setSuspension(client, { ...options, kind: 'subscription', id, cause: 'operator' });
    const isRestored = options.reason === undefined && before?.cause === 'operator';
    if (isRestored && (await client.query(UNPAID_PLAN, [id])).rowCount) await suspendUnpaid(client, id);
    return lockSubscription(client, { id });
  });
}

/** Suspends a subscription because its plan is not paid. Runs in the caller's transaction, which has locked the subscription. */
export async function suspendUnpaid(client: PoolClient, id: string): Promise<void> {
  await setSuspension(client, { ...UNPAID, kind: 'subscription', id });
}

/** Restores a subscription whose plan is paid again. Runs in the caller's transaction, which has locked the subscription. */
export async function restorePaid(client: PoolClient, id: string): Promise<void> {
  await setSuspension(client, { ...UNPAID, reason: undefined, kind: 'subscription', id });
}

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
