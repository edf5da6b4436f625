/** Everything that is written to the audit log, by subject and verb. The dashboard has words for each, checked by the compiler. */
export type AuditAction =
  | 'customer.create'
  | 'key.create'
  | 'key.import'
  /** The new key of a rotation. */
  | 'key.rotate'
  /** The old key of a rotation. */
  | 'key.rotated'
  | 'key.change'
  | 'key.rules'
  | 'key.expire'
  | 'key.activate'
  | 'key.deactivate'
  | 'key.revoke'
  | 'subscription.create'
  | 'subscription.reactivate'
  | 'subscription.change'
  | 'subscription.pause'
  | 'subscription.resume'
  | 'subscription.cancel'
  | 'webhook.create'
  | 'webhook.change'
  | 'webhook.secret'
  | 'webhook.delete';
