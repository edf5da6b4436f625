import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { cutPage, numberBefore } from '../operations/page-cursor';
import { type SellerEvent } from './seller-webhooks';
import { viewWebhook, type WebhookRef } from './webhook-view';

export type WebhookEvent = 'quota.daily' | 'quota.monthly' | 'key.expiry' | 'test' | SellerEvent;

/** The delivery of one event to one webhook. Kept 30 days. */
export interface DeliveryView {
  readonly id: string;
  readonly alertId: string | null;
  readonly event: WebhookEvent;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  /** Status of the last attempt; null if there was no response. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: Date;
  /** While an attempt runs: the time at which it counts as lost. */
  readonly nextAttemptAt: Date | null;
  readonly endedAt: Date | null;
}

const VIEW = `
d.id, d.alert_id AS "alertId", d.event, d.state, d.attempts, d.last_status AS "lastStatus", d.last_error AS "lastError",
d.created_at AS "createdAt", o.due_at AS "nextAttemptAt", d.ended_at AS "endedAt"
FROM webhook_delivery d LEFT JOIN outbox o ON o.kind = 'webhook' AND o.subject = d.id AND o.detail = ''`;
const PAGE = `
SELECT d.number::text AS number, ${VIEW} WHERE d.webhook_id = $1 AND d.number < $2 ORDER BY d.number DESC LIMIT $3`;
const ONE = `SELECT ${VIEW} WHERE d.id = $1`;
const TEST = `
INSERT INTO webhook_delivery (webhook_id, event_id, event, event_at) VALUES ($1, gen_random_uuid(), 'test', now()) RETURNING id`;
const REPLAY = `
INSERT INTO webhook_delivery (webhook_id, alert_id, event_id, event, event_at, data)
SELECT webhook_id, alert_id, event_id, event, event_at, data FROM webhook_delivery WHERE id = $1 AND webhook_id = $2 RETURNING id`;

/**
 * Deliveries to one webhook, newest first. `next` is undefined at the end.
 * @throws OperationRefused `webhook_unknown`
 */
export async function listDeliveries(
  db: Database,
  query: WebhookRef & { limit: number; after?: string | undefined },
): Promise<{ deliveries: readonly DeliveryView[]; next: string | undefined }> {
  const webhook = await viewWebhook(db, query);
  const values = [webhook.id, numberBefore(query.after), query.limit + 1];
  const page = await db.query<DeliveryView & { number: string }>(PAGE, values);
  const { rows, next } = cutPage(page.rows, query.limit);
  return { deliveries: rows, next };
}

/** Sends a test event, to a paused webhook once it is resumed. @throws OperationRefused `webhook_unknown` */
export async function requestTestDelivery(db: Database, ref: WebhookRef): Promise<DeliveryView> {
  const webhook = await viewWebhook(db, ref);
  const { rows } = await db.query<{ id: string }>(TEST, [webhook.id]);
  return viewDelivery(db, rows[0]?.id);
}

/**
 * Sends an event again, as a new delivery with the same event id, by which receivers recognise it.
 * @throws OperationRefused `webhook_unknown`, `delivery_unknown`
 */
export async function replayDelivery(db: Database, { deliveryId, ...ref }: WebhookRef & { deliveryId: string }): Promise<DeliveryView> {
  const webhook = await viewWebhook(db, ref);
  const { rows } = isUuid(deliveryId) ? await db.query<{ id: string }>(REPLAY, [deliveryId, webhook.id]) : { rows: [] };
  if (!rows[0]) throw new OperationRefused('delivery_unknown', `there is no delivery "${deliveryId}"`);
  return viewDelivery(db, rows[0].id);
}

async function viewDelivery(db: Database, id: string | undefined): Promise<DeliveryView> {
  const { rows } = await db.query<DeliveryView>(ONE, [id]);
  if (!rows[0]) throw new Error('the delivery was not stored');
  return rows[0];
}
