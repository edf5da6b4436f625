import { type Pool } from 'pg';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { claim, type OutboxItem, pruneOutbox, retry, settle } from '../outbox/outbox';
import { ALERT_COLUMNS, ALERT_JOINS, type AlertView } from './alert-view';
import { type WebhookEvent } from './delivery-view';

/** A delivery that this process must attempt, once. */
export interface ClaimedDelivery {
  readonly item: OutboxItem<'webhook'>;
  readonly webhookId: string;
  readonly url: string;
  readonly secret: string;
  readonly eventId: string;
  readonly event: WebhookEvent;
  readonly eventAt: Date;
  /** Null for a test, and for the seller's events. */
  readonly alert: AlertView | null;
  /** Content of a seller's event; otherwise null. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** True for the seller's webhook, false for a customer's. */
  readonly isSellers: boolean;
}

const READ = `
SELECT c.webhook_id AS "webhookId", w.url, w.secret, c.event_id AS "eventId", c.event, c.event_at AS "eventAt", c.data,
  w.customer_id IS NULL AS "isSellers", ${ALERT_COLUMNS}
FROM webhook_delivery c JOIN webhook w ON w.id = c.webhook_id LEFT JOIN alert a ON a.id = c.alert_id ${ALERT_JOINS}
WHERE c.id = $1 AND c.state = 'waiting'`;

type Row = Omit<ClaimedDelivery, 'alert' | 'item'> & AlertView;

/**
 * Takes a delivery that is due; undefined if there is none.
 * @param options.leaseMs longer than an attempt can take
 * @param options.busy webhooks that this process is already sending enough to
 */
export async function claimDelivery(
  db: Pool,
  options: { readonly leaseMs: number; readonly busy?: readonly string[] },
): Promise<ClaimedDelivery | undefined> {
  for (;;) {
    const item = await claim(db, { kind: 'webhook', ...options });
    if (!item) return undefined;
    const { rows } = await db.query<Row>(READ, [item.subject]);
    if (rows[0]) {
      const { webhookId, url, secret, eventId, event, eventAt, data, isSellers, ...alert } = rows[0];
      const known = event === 'test' || data !== null ? null : alert;
      return { item, webhookId, url, secret, eventId, event, eventAt, data, isSellers, alert: known };
    }
    // The delivery was deleted with its alert, or because of its age.
    await settle(db, item);
  }
}

/** The result of an attempt. */
export interface AttemptOutcome {
  readonly isDelivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  /** Milliseconds until the next attempt; undefined if there is none. */
  readonly retryMs?: number | undefined;
}

const LOG = `
UPDATE webhook_delivery SET state = $2, attempts = $3, last_status = $4, last_error = $5, ended_at = CASE WHEN $2 <> 'waiting' THEN now() END
WHERE id = $1`;

/**
 * Records an attempt; the delivery then waits for the next one, or has ended. A delivery that another process has claimed since is left
 * alone.
 */
export function settleDelivery(db: Pool, { item }: Pick<ClaimedDelivery, 'item'>, outcome: AttemptOutcome): Promise<void> {
  const { isDelivered, status, error, retryMs } = outcome;
  return inTransaction(db, async (client) => {
    const isWaiting = !isDelivered && retryMs !== undefined;
    const isOurs = isWaiting ? await retry(client, item, retryMs) : await settle(client, item);
    const state = isWaiting ? 'waiting' : isDelivered ? 'delivered' : 'failed';
    if (isOurs) await client.query(LOG, [item.subject, state, item.attempts, status, error]);
  });
}

/** Deletes deliveries after 30 days, alerts after 92, which is longer than any window that they refer to, and sent items of the outbox. */
export async function pruneAlerts(db: Pool): Promise<void> {
  await db.query(`DELETE FROM webhook_delivery WHERE created_at < now() - interval '30 days'`);
  await db.query(`DELETE FROM alert WHERE at < now() - interval '92 days'`);
  await pruneOutbox(db);
}
