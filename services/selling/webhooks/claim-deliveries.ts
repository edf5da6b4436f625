import { type Pool } from 'pg';
import { ALERT_COLUMNS, ALERT_JOINS, type AlertView } from './alert-view';
import { type WebhookEvent } from './delivery-view';

/** A delivery that is this process's to attempt, once. */
export interface ClaimedDelivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** This one included. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: string;
  readonly eventId: string;
  readonly event: WebhookEvent;
  readonly eventAt: Date;
  /** Null for a test, and for what the seller is told. */
  readonly alert: AlertView | null;
  /** What the seller is told; else null. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** The seller's, and not a customer's. */
  readonly isSellers: boolean;
}

/** Of one webhook in one claim, so that a receiver that is slow or has much to catch up on leaves room for others. */
const MAX_OF_ONE_WEBHOOK = 2;

/**
 * Rows that another process claims at this moment are skipped, and what it has claimed is not due: nothing is sent twice at once. The
 * conditions are asked again under the lock. A claim is a lease: when its process ends before it has told the outcome, the delivery
 * becomes due again, so that it may arrive twice but is not lost.
 */
const CLAIM = `
WITH due AS (
  SELECT d.id, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.next_attempt_at, d.number) AS place
  FROM webhook_delivery d JOIN webhook w ON w.id = d.webhook_id AND w.state = 'active'
  WHERE d.state = 'waiting' AND d.next_attempt_at <= now() AND d.webhook_id <> ALL ($3)
),
mine AS (
  SELECT d.id FROM webhook_delivery d
  WHERE d.id IN (SELECT id FROM due WHERE place <= ${MAX_OF_ONE_WEBHOOK}) AND d.state = 'waiting' AND d.next_attempt_at <= now()
  ORDER BY d.next_attempt_at LIMIT $1
  FOR UPDATE SKIP LOCKED
),
claimed AS (
  UPDATE webhook_delivery d SET attempts = attempts + 1, next_attempt_at = now() + $2 * interval '1 millisecond'
  FROM mine WHERE d.id = mine.id
  RETURNING d.*
)
SELECT c.id AS "deliveryId", c.webhook_id AS "webhookId", c.attempts, w.url, w.secret, c.event_id AS "eventId", c.event, c.event_at AS "eventAt",
  c.data, w.customer_id IS NULL AS "isSellers", ${ALERT_COLUMNS}
FROM claimed c JOIN webhook w ON w.id = c.webhook_id
LEFT JOIN alert a ON a.id = c.alert_id ${ALERT_JOINS}`;

export interface ClaimOptions {
  readonly most: number;
  readonly leaseMs: number;
  readonly busy?: readonly string[];
}

type Row = Omit<ClaimedDelivery, 'alert'> & AlertView;

/**
 * Takes deliveries that are due.
 * @param options.leaseMs longer than an attempt can take
 * @param options.busy webhooks that the caller is sending to already
 */
export async function claimDeliveries(db: Pool, options: ClaimOptions): Promise<ClaimedDelivery[]> {
  const { rows } = await db.query<Row>(CLAIM, [options.most, options.leaseMs, options.busy ?? []]);
  return rows.map(({ deliveryId, webhookId, attempts, url, secret, eventId, event, eventAt, data, isSellers, ...alert }) => {
    const known = event === 'test' || data !== null ? null : alert;
    return { deliveryId, webhookId, attempts, url, secret, eventId, event, eventAt, data, isSellers, alert: known };
  });
}

/** How an attempt went. */
export interface AttemptOutcome {
  readonly deliveryId: string;
  /** Of the claim: another's claim after this one's lease has ended is left alone. */
  readonly attempts: number;
  readonly isDelivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  /** Until the next attempt; undefined when there is none. */
  readonly retryMs?: number | undefined;
}

const SETTLE = `
UPDATE webhook_delivery SET state = $3, last_status = $4, last_error = $5,
  next_attempt_at = CASE WHEN $3 = 'waiting' THEN now() + $6::float8 * interval '1 millisecond' END,
  ended_at = CASE WHEN $3 <> 'waiting' THEN now() END
WHERE id = $1 AND attempts = $2 AND state = 'waiting'`;

/** Records an attempt; the delivery waits for the next one or has ended. */
export async function settleDelivery(db: Pool, outcome: AttemptOutcome): Promise<void> {
  const { deliveryId, attempts, isDelivered, status, error, retryMs } = outcome;
  const state = isDelivered ? 'delivered' : retryMs === undefined ? 'failed' : 'waiting';
  await db.query(SETTLE, [deliveryId, attempts, state, status, error, retryMs ?? null]);
}

/** Deletes deliveries after 30 days, and alerts after 92: longer than any window that they tell of. */
export async function pruneAlerts(db: Pool): Promise<void> {
  await db.query(`DELETE FROM webhook_delivery WHERE created_at < now() - interval '30 days'`);
  await db.query(`DELETE FROM alert WHERE at < now() - interval '92 days'`);
}
