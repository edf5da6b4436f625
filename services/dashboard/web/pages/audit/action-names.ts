import { type AuditAction } from '../../../contract/audit';

/** What the audit log calls its actions, for people. */
const ACTIONS: Readonly<Record<AuditAction, string>> = {
  'customer.create': 'Account created',
  'customer.limits': 'Limits changed',
  'customer.suspend': 'Account suspended by the provider',
  'customer.restore': 'Account restored by the provider',
  'account.second_factor_on': 'Second factor turned on',
  'account.second_factor_off': 'Second factor turned off',
  'account.recovery_codes': 'Recovery codes replaced',
  'account.recovery_code_used': 'Signed in with a recovery code',
  'key.create': 'Key created',
  'key.import': 'Key imported',
  'key.rotate': 'Key created by rotation',
  'key.rotated': 'Key rotated',
  'key.change': 'Key changed',
  'key.rules': 'Whitelist rules changed',
  'key.expire': 'Expiry changed',
  'key.activate': 'Key activated',
  'key.deactivate': 'Key deactivated',
  'key.revoke': 'Key revoked',
  'key.suspend': 'Key suspended by the provider',
  'key.restore': 'Key restored by the provider',
  'subscription.create': 'Subscribed',
  'subscription.reactivate': 'Resubscribed',
  'subscription.change': 'Plan or limits changed',
  'subscription.pause': 'Subscription paused',
  'subscription.resume': 'Subscription resumed',
  'subscription.cancel': 'Subscription cancelled',
  'subscription.request': 'Plan requested',
  'subscription.withdraw': 'Plan request withdrawn',
  'subscription.approve': 'Plan request approved',
  'subscription.decline': 'Plan request declined',
  'subscription.suspend': 'Subscription suspended by the provider',
  'subscription.restore': 'Subscription restored by the provider',
  'webhook.create': 'Webhook added',
  'webhook.change': 'Webhook changed',
  'webhook.secret': 'Webhook secret rotated',
  'token.create': 'Management token created',
  'token.revoke': 'Management token revoked',
  'product.add': 'Product offered',
  'product.change': 'Product changed',
  'product.retire': 'Product withdrawn',
  'plan.add': 'Plan offered',
  'plan.change': 'Plan changed',
  'plan.retire': 'Plan withdrawn',
  'webhook.delete': 'Webhook deleted',
};

/** @param action for example `key.revoke`; one that is not known stays as it is */
export function actionName(action: string): string {
  const names: Readonly<Record<string, string>> = ACTIONS;
  return names[action] ?? action;
}
