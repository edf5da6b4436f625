import { randomBytes } from 'node:crypto';
import { type PoolClient } from 'pg';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

/** An address that receives a customer's alerts. It does not hold the secret, which is shown once, when it is made. */
export interface WebhookView {
  readonly id: string;
  readonly customerId: string;
  readonly url: string;
  /** Paused: nothing new is recorded for it, and waiting deliveries are not sent. */
  readonly state: 'active' | 'paused';
  readonly createdAt: Date;
  /** Outcome of the last delivery that ended; null before the first. */
  readonly lastOutcome: 'delivered' | 'failed' | null;
}

const SELECT = `
SELECT w.id, w.customer_id AS "customerId", w.url, w.state, w.created_at AS "createdAt",
  (
    SELECT d.state FROM webhook_delivery d WHERE d.webhook_id = w.id AND d.state <> 'waiting' ORDER BY d.ended_at DESC LIMIT 1
  ) AS "lastOutcome"
FROM webhook w`;

/** One customer's webhooks, oldest first. */
export async function viewWebhooks(db: Database, customerId: string): Promise<WebhookView[]> {
  const { rows } = await db.query<WebhookView>(`${SELECT} WHERE w.customer_id = $1 ORDER BY w.created_at, w.id`, [customerId]);
  return rows;
}

/** Names a webhook of one customer, or of the seller; any other reads as unknown. */
export interface WebhookRef {
  readonly id: string;
  /** Null: the seller's. */
  readonly customerId: string | null;
}

/** @throws OperationRefused `webhook_unknown` */
export function viewWebhook(db: Database, webhook: WebhookRef): Promise<WebhookView> {
  return readWebhook(db, webhook, '');
}

/** Reads a webhook and locks it until the transaction ends. @throws OperationRefused `webhook_unknown` */
export function lockWebhook(client: PoolClient, webhook: WebhookRef): Promise<WebhookView> {
  return readWebhook(client, webhook, 'FOR UPDATE OF w');
}

async function readWebhook(db: Database, { id, customerId }: WebhookRef, lock: '' | 'FOR UPDATE OF w'): Promise<WebhookView> {
  const where = `WHERE w.id = $1 AND w.customer_id IS NOT DISTINCT FROM $2 ${lock}`;
  const { rows } = isUuid(id) ? await db.query<WebhookView>(`${SELECT} ${where}`, [id, customerId]) : { rows: [] };
  if (!rows[0]) throw new OperationRefused('webhook_unknown', `there is no webhook "${id}"`);
  return rows[0];
}

/** Generates the secret that signs deliveries: 256 bits, in the form that the Standard Webhooks specification defines. */
export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** For the audit log: a path may hold a secret of the receiver. */
export function webhookHost(url: string): string {
  return new URL(url).host;
}
