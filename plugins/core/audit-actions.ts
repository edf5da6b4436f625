/** What the audit log says was done. Old logs keep their words: a word may be added here, and none taken away. */
export const AUDIT_ACTIONS = [
  'customer.create',
  'customer.limits',
  'key.create',
  'key.import',
  'key.rotate',
  'key.rotated',
  'key.change',
  'key.rules',
  'key.expire',
  'key.activate',
  'key.deactivate',
  'key.revoke',
  'subscription.create',
  'subscription.reactivate',
  'subscription.change',
  'subscription.pause',
  'subscription.resume',
  'subscription.cancel',
  'webhook.create',
  'webhook.change',
  'webhook.delete',
  'webhook.secret',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];
