import { createHmac } from 'node:crypto';
import { type AlertView } from '../../../../plugins/stores/postgres/webhooks/alert-view';
import { type ClaimedDelivery } from '../../../../plugins/stores/postgres/webhooks/claim-deliveries';
import { alertText } from '../alerts/alert-text';

/** One HTTP request of a webhook, as docs/dashboard-webhooks.md describes it. */
export interface WebhookMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * HMAC-SHA256 of `timestamp.body`, hex: whoever has the secret can tell that we sent exactly this, and when.
 * @param signed.timestamp Unix seconds
 */
export function signWebhook(secret: string, signed: { readonly timestamp: number; readonly body: string }): string {
  return createHmac('sha256', secret).update(`${signed.timestamp}.${signed.body}`).digest('hex');
}

function dataOf(alert: AlertView | null, timeZone: string): Readonly<Record<string, unknown>> {
  if (!alert) return { text: 'A test, sent from the dashboard.' };
  const text = alertText(alert, timeZone);
  if (alert.kind === 'key_expiry') {
    return { key_id: alert.keyId, key: alert.maskedKey, name: alert.keyName, expires_at: alert.expiresAt?.toISOString() ?? null, text };
  }
  const { subscriptionId, product, percent, used, limit } = alert;
  const period = alert.kind === 'quota_daily' ? alert.period : alert.period.slice(0, 7);
  return { subscription_id: subscriptionId, product, percent, used, limit, period, text };
}

/**
 * What is sent for a delivery. Its body follows from the event alone, so that repeats and replays say the same; the timestamp is the
 * attempt's, since receivers refuse old ones.
 */
export function createWebhookMessage(
  delivery: ClaimedDelivery,
  options: { readonly timeZone: string; readonly nowMs: number },
): WebhookMessage {
  const { secret, eventId, event, eventAt, alert } = delivery;
  const body = JSON.stringify({ id: eventId, type: event, created_at: eventAt.toISOString(), data: dataOf(alert, options.timeZone) });
  const timestamp = Math.floor(options.nowMs / 1000);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'tollgate-event': event,
    'tollgate-event-id': eventId,
    'tollgate-timestamp': String(timestamp),
    'tollgate-signature': `v1=${signWebhook(secret, { timestamp, body })}`,
  };
  return { headers, body };
}
