import { Webhook } from 'standardwebhooks';
import { type AlertView } from '../../../selling/webhooks/alert-view';
import { type ClaimedDelivery } from '../../../selling/webhooks/claim-deliveries';
import { alertText } from '../alerts/alert-text';

/** One HTTP request of a webhook, as guides/50-webhooks.md and docs/seller-webhooks.md describe it. */
export interface WebhookMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const SECRET_PREFIX = 'whsec_';

/**
 * The signer of one webhook, by the Standard Webhooks specification 1.0: HMAC-SHA256 with the bytes of the secret's base64. Secrets made by
 * earlier versions are in base64url without padding; `Buffer` reads both forms as the same 32 bytes.
 * @param secret `whsec_…`
 */
function signerOf(secret: string): Webhook {
  return new Webhook(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'), { format: 'raw' });
}

function dataOf(alert: AlertView | null, timeZone: string): Readonly<Record<string, unknown>> {
  if (!alert) return { text: 'A test.' };
  const text = alertText(alert, timeZone);
  if (alert.kind === 'key_expiry') {
    return { key_id: alert.keyId, key: alert.maskedKey, name: alert.keyName, expires_at: alert.expiresAt?.toISOString() ?? null, text };
  }
  const { subscriptionId, product, percent, used, limit } = alert;
  const period = alert.kind === 'quota_daily' ? alert.period : alert.period.slice(0, 7);
  return { subscription_id: subscriptionId, product, percent, used, limit, period, text };
}

/**
 * The message of a delivery. Its body depends only on the event, so that repeats and replays are the same. The timestamp is the attempt's,
 * because receivers refuse old ones.
 */
export function createWebhookMessage(
  delivery: Omit<ClaimedDelivery, 'item'>,
  options: { readonly timeZone: string; readonly nowMs: number },
): WebhookMessage {
  const { secret, eventId, event, eventAt, alert } = delivery;
  const data = delivery.data ?? dataOf(alert, options.timeZone);
  const body = JSON.stringify({ id: eventId, type: event, timestamp: eventAt.toISOString(), data });
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(options.nowMs / 1000)),
    'webhook-signature': signerOf(secret).sign(eventId, new Date(options.nowMs), body),
  };
  return { headers, body };
}
