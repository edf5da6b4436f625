import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { type Actor, writeAudit } from '../customers/write-audit';
import { OperationRefused } from '../operations/operation-refused';
import { generateWebhookSecret, lockWebhook, webhookHost } from './webhook-view';

/** Events that a seller's systems can receive; docs/seller-webhooks.md describes each. */
export const SELLER_EVENTS = [
  'customer.created',
  'customer.suspended',
  'subscription.requested',
  'subscription.changed',
  'subscription.cancelled',
  'quota.reached',
  'statement.ready',
  'product.failing',
  'product.recovered',
] as const;
export type SellerEvent = (typeof SELLER_EVENTS)[number];

/** An address that receives the seller's events. It does not hold the secret, which is shown once, when it is made. */
export interface SellerWebhook {
  readonly id: string;
  readonly url: string;
  /** Null: all of them. */
  readonly events: readonly SellerEvent[] | null;
  readonly createdAt: Date;
  /** Outcome of the last delivery that ended; null before the first. */
  readonly lastOutcome: 'delivered' | 'failed' | null;
}

/** A small maximum, because each event is written once for every webhook. */
const MAX_WEBHOOKS = 10;
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('tollgate seller webhooks'))";

const SELECT = `
SELECT w.id, w.url, w.events, w.created_at AS "createdAt",
  (
    SELECT d.state FROM webhook_delivery d WHERE d.webhook_id = w.id AND d.state <> 'waiting' ORDER BY d.ended_at DESC LIMIT 1
  ) AS "lastOutcome"
FROM webhook w WHERE w.customer_id IS NULL ORDER BY w.created_at, w.id`;

/** Oldest first. */
export async function listSellerWebhooks(db: Database): Promise<SellerWebhook[]> {
  const { rows } = await db.query<SellerWebhook>(SELECT);
  return rows;
}

export interface AddSellerWebhookOptions {
  /** Checked by the caller. Private addresses are allowed, because only the person who runs the installation can add one. */
  readonly url: string;
  /** Null: all of them. */
  readonly events: readonly SellerEvent[] | null;
  readonly actor: Actor;
}

/** @returns the webhook with the secret, this once @throws OperationRefused `webhook_limit_reached` with ten */
export function addSellerWebhook(
  db: Database,
  { url, events, actor }: AddSellerWebhookOptions,
): Promise<SellerWebhook & { secret: string }> {
  return inTransaction(db, async (client) => {
    await client.query(LOCK);
    if ((await listSellerWebhooks(client)).length >= MAX_WEBHOOKS) {
      throw new OperationRefused('webhook_limit_reached', `there are ${MAX_WEBHOOKS} webhooks already; remove one first`);
    }
    const secret = generateWebhookSecret();
    const insert = 'INSERT INTO webhook (url, secret, events) VALUES ($1, $2, $3) RETURNING id, created_at AS "createdAt"';
    const { rows } = await client.query<{ id: string; createdAt: Date }>(insert, [url, secret, events]);
    if (!rows[0]) throw new Error('the webhook was not stored');
    const details = { host: webhookHost(url), events: events ?? [...SELLER_EVENTS] };
    await writeAudit(client, { actor, action: 'webhook.create', subject: { kind: 'webhook', id: rows[0].id }, details });
    return { ...rows[0], url, events, lastOutcome: null, secret };
  });
}

/** Removes a webhook with its deliveries, including waiting ones. @throws OperationRefused `webhook_unknown` */
export function removeSellerWebhook(db: Database, { id, actor }: { id: string; actor: Actor }): Promise<void> {
  return inTransaction(db, async (client) => {
    const { url } = await lockWebhook(client, { id, customerId: null });
    await client.query('DELETE FROM webhook WHERE id = $1', [id]);
    await writeAudit(client, { actor, action: 'webhook.delete', subject: { kind: 'webhook', id }, details: { host: webhookHost(url) } });
  });
}
