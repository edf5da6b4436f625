import { createHash } from 'node:crypto';
import { type KeyView } from './keys/key-view';
import { type SubscriptionView } from './subscriptions/subscription-view';
import { type WebhookView } from './webhooks/webhook-view';

/** 128 bits: enough that two different states never read the same. */
const VERSION_CHARACTERS = 22;

function hash(fields: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url').slice(0, VERSION_CHARACTERS);
}

/** Changes with everything a person can change of a key; not with its use. */
export function keyVersion({ name, state, expiresAt, products, tags, rules }: KeyView): string {
  return hash([name, state, expiresAt, products, tags, rules]);
}

/** Changes with everything a person can change of a subscription; not with its use. */
export function subscriptionVersion({ plan, state, dailyOverride, monthlyOverride, priceOverride, dailyCap }: SubscriptionView): string {
  return hash([plan, state, dailyOverride, monthlyOverride, priceOverride, dailyCap]);
}

/** Changes with everything a person can change of a webhook but its secret, which is never shown; not with its deliveries. */
export function webhookVersion({ url, state }: WebhookView): string {
  return hash([url, state]);
}
