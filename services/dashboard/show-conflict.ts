import { KeyChanged } from '../selling/keys/change-key-optimistically';
import { type VersionConflict } from '../selling/operations/version';
import { SubscriptionChanged } from '../selling/subscriptions/change-subscription-optimistically';
import { WebhookChanged } from '../selling/webhooks/change-webhook';
import { webhook } from './contract/alerts';
import { key } from './contract/keys';
import { subscription } from './contract/plans';
import { toKey } from './customer/keys/key-handlers';
import { subscriptionFields } from './customer/plans/subscription-use';
import { toWebhook } from './customer/webhooks/webhook-handlers';
import { shapeAnswer } from './http/shape-answer';

/** The present state of what was changed meanwhile, as its endpoint returns it; undefined for a subject that no endpoint shows. */
export function showConflict(conflict: VersionConflict): unknown {
  if (conflict instanceof KeyChanged) return shapeAnswer(key, toKey(conflict.current));
  if (conflict instanceof WebhookChanged) return shapeAnswer(webhook, toWebhook(conflict.current));
  if (!(conflict instanceof SubscriptionChanged)) return undefined;
  const shown = subscription.omit({ daily: true, monthly: true, refunds: true, test: true, includedNow: true });
  return shapeAnswer(shown, subscriptionFields(conflict.current));
}
