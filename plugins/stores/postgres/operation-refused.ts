export type RefusalCode =
  | 'email_malformed'
  | 'customer_exists'
  | 'customer_unknown'
  | 'product_missing'
  | 'product_unknown'
  | 'product_without_limits'
  | 'plan_unknown'
  | 'plan_differs'
  | 'plan_changed'
  | 'plan_current'
  | 'plan_needs_no_approval'
  | 'request_unknown'
  | 'request_exists'
  | 'request_closed'
  | 'mode_unknown'
  | 'limit_malformed'
  | 'date_malformed'
  | 'name_malformed'
  | 'rule_malformed'
  | 'tag_malformed'
  | 'hash_malformed'
  | 'reason_malformed'
  | 'key_exists'
  | 'key_unknown'
  | 'key_not_usable'
  | 'key_limit_reached'
  | 'rule_limit_reached'
  | 'subscription_exists'
  | 'subscription_unknown'
  | 'subscription_cancelled'
  | 'subscription_needed'
  | 'webhook_unknown'
  | 'webhook_limit_reached'
  | 'delivery_unknown'
  | 'token_unknown'
  | 'token_limit_reached'
  | 'account_shared'
  | 'member_leaving'
  | 'member_unknown'
  | 'member_exists'
  | 'member_limit_reached'
  | 'last_owner'
  | 'owner_needed'
  | 'invitation_unknown'
  | 'invitation_exists'
  | 'invitation_limit_reached'
  | 'operator_exists'
  | 'operator_unknown'
  | 'email_taken'
  | 'deletion_asked'
  | 'way_unknown'
  | 'last_way';

/** An operation that cannot be done as asked; nothing was changed. The message is one sentence for the person who asked. */
export class OperationRefused extends Error {
  override readonly name = 'OperationRefused';
  constructor(
    readonly code: RefusalCode,
    message: string,
  ) {
    super(message);
  }
}
