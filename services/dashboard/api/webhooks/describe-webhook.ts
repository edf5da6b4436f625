import { type DeliveryView } from '../../../../plugins/stores/postgres/webhooks/delivery-view';
import { webhookVersion } from '../../../../plugins/stores/postgres/version';
import { type WebhookView } from '../../../../plugins/stores/postgres/webhooks/webhook-view';
import { type Delivery, type Webhook } from '../../contract/alerts';

export function describeWebhook(view: WebhookView): Webhook {
  const { id, url, state, createdAt, lastOutcome } = view;
  return { id, url, state, createdAt: createdAt.toISOString(), lastOutcome, version: webhookVersion(view) };
}

export function describeDelivery(view: DeliveryView): Delivery {
  const { createdAt, nextAttemptAt, endedAt, ...rest } = view;
  const { id, alertId, event, state, attempts, lastStatus, lastError } = rest;
  return {
    id,
    alertId,
    event,
    state,
    attempts,
    lastStatus,
    lastError,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    endedAt: endedAt?.toISOString() ?? null,
  };
}
