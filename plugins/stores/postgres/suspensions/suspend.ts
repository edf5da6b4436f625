import { type PoolClient } from 'pg';
import { type AuditAction } from '../../../core/selling/audit-actions';
import { type CustomerDetails, showCustomer } from '../customers/show-customers';
import { requireCustomer } from '../customers/find-customer';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../database';
import { type KeyView, lockKey, viewKey } from '../keys/key-view';
import { OperationRefused } from '../operation-refused';
import { lockSubscription, type SubscriptionView } from '../subscriptions/subscription-view';
import { type SuspendedKind } from './suspension-view';

/** What is to hold from now on; undefined: not suspended. The reason is for the customer to read, and may be empty. */
export interface SuspensionWish {
  readonly reason: string | undefined;
  readonly actor: Actor;
}

const LONGEST_REASON = 500;

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
  if (reason.length > LONGEST_REASON)
    throw new OperationRefused('reason_malformed', `a reason can have at most ${LONGEST_REASON} characters`);
  // PostgreSQL has no text with this character.
  if (reason.includes('\0')) throw new OperationRefused('reason_malformed', 'a reason must not hold the character U+0000');
}

/** Suspends, gives another reason, or restores. Writes nothing, and no audit line, where it is so already. */
async function setSuspension(
  client: PoolClient,
  { kind, id, reason, actor }: SuspensionWish & { readonly kind: SuspendedKind; readonly id: string },
): Promise<void> {
  checkReason(reason);
  const column = `${kind}_id`;
  const { rows } = await client.query<{ reason: string }>(`SELECT reason FROM suspension WHERE ${column} = $1 FOR UPDATE`, [id]);
  const before = rows[0]?.reason;
  if (before === reason) return;
  if (reason === undefined) await client.query(`DELETE FROM suspension WHERE ${column} = $1`, [id]);
  else {
    const text = `INSERT INTO suspension (${column}, reason) VALUES ($1, $2) ON CONFLICT (${column}) DO UPDATE SET reason = excluded.reason`;
    await client.query(text, [id, reason]);
  }
  const details = reason === undefined ? { before } : { reason, ...(before === undefined ? {} : { before }) };
  await writeAudit(client, { actor, action: (reason === undefined ? RESTORED : SUSPENDED)[kind], subject: { kind, id }, details });
}

/**
 * Refuses all requests of a customer with `subscription_inactive`, whatever its subscriptions, or admits them again.
 * @param options.customer e-mail address or id
 * @throws OperationRefused `customer_unknown`, `reason_malformed`
 */
export function suspendCustomer(db: Database, options: SuspensionWish & { readonly customer: string }): Promise<CustomerDetails> {
  return inTransaction(db, async (client) => {
    const { id } = await requireCustomer(client, options.customer);
    await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [id]);
    await setSuspension(client, { ...options, kind: 'customer', id });
    return showCustomer(client, { customer: id });
  });
}

/** Refuses a key as if there were none, or lets it be what its customer made it. @throws OperationRefused `key_unknown`, `reason_malformed` */
export function suspendKey(db: Database, options: SuspensionWish & { readonly id: string }): Promise<KeyView> {
  return inTransaction(db, async (client) => {
    const { id } = await lockKey(client, { id: options.id });
    await setSuspension(client, { ...options, kind: 'credential', id });
    return viewKey(client, { id });
  });
}

/**
 * Refuses the requests of a subscription with `subscription_inactive`, or lets it be what its customer made it.
 * @throws OperationRefused `subscription_unknown`, `reason_malformed`
 */
export function suspendSubscription(db: Database, options: SuspensionWish & { readonly id: string }): Promise<SubscriptionView> {
  return inTransaction(db, async (client) => {
    const { id } = await lockSubscription(client, { id: options.id });
    await setSuspension(client, { ...options, kind: 'subscription', id });
    return lockSubscription(client, { id });
  });
}
