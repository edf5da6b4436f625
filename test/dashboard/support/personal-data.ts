import { type PersonalPart } from '../../../services/selling/customers/personal-parts';

/**
 * What every table holds of a person, the one list of them: `none`, or the part it belongs to. The function `erase_account` does what is
 * said here, and a test walks both; a table without an entry fails it.
 */
export const TABLE_PARTS: Readonly<Record<string, PersonalPart | 'none'>> = {
  auth_user: 'account',
  auth_session: 'account',
  auth_account: 'account',
  auth_two_factor: 'account',
  auth_passkey: 'account',
  auth_verification: 'account',
  // By the deletion of the account itself; see migration 0002.
  member: 'account',
  invitation: 'account',
  email_change: 'account',
  // By the deletion of the person itself; see migration 0008.
  person_deletion: 'account',
  outbox_mail: 'account',
  status_subscription: 'account',
  submission: 'account',
  billing_details: 'billing',
  credential: 'keys',
  credential_product: 'keys',
  credential_tag: 'keys',
  whitelist_rule: 'keys',
  change_confirmation: 'keys',
  subscription: 'subscriptions',
  plan_request: 'subscriptions',
  consent: 'subscriptions',
  subscription_limit_term: 'subscriptions',
  alert: 'alerts',
  alert_preference: 'alerts',
  alert_threshold: 'alerts',
  webhook: 'webhooks',
  webhook_delivery: 'webhooks',
  admin_token: 'tokens',
  decision: 'requests',
  denial_count: 'requests',
  key_hour: 'requests',
  customer_day: 'requests',
  customer_note: 'provider',
  customer_listing: 'provider',
  customer_limit: 'provider',
  suspension: 'provider',
  // The books: amounts, and what they are computed from. They name the account by its number.
  statement: 'statements',
  subscription_term: 'statements',
  statement_billed: 'statements',
  invoice: 'invoices',
  invoice_payment: 'invoices',
  // Ids alone, for 92 days; what waits to be mailed of alerts and requests goes with the account.
  outbox: 'invoices',
  // Numbers and amounts; the payment provider knows who it was.
  payment_account: 'statements',
  checkout: 'statements',
  payment_fact: 'statements',
  payment_charge: 'statements',
  overage_charge: 'statements',
  paid_subscription: 'statements',
  // Under hashes that tell no address.
  trial: 'statements',
  plan_preview: 'statements',
  // Only ids and amounts, for 30 days.
  payment_check: 'none',
  usage: 'statements',
  audit_log: 'audit',
  // Its number stays for the statements; the address is replaced.
  customer: 'statements',
  account_deletion: 'statements',
  // Under hashes that tell no address, for a day.
  auth_rate_limit: 'none',
  // Of accounts that cannot be deleted by themselves.
  operator: 'none',
  seller_token: 'none',
  // Numbers alone, for two days.
  seller_submission: 'none',
  // Numbers of counters alone, for two days.
  rate_debt: 'none',
  // Request ids alone, for 3 days.
  quota_refund: 'none',
  invoice_series: 'none',
  // Sums over all customers.
  invoice_sum: 'none',
  invoice_unpaid: 'none',
  payment_charge_sum: 'none',
  product: 'none',
  plan: 'none',
  catalogue_revision: 'none',
  product_document: 'none',
  // Numbers of accounts alone, for seconds.
  customer_changed: 'none',
  business_figures: 'none',
  product_day: 'none',
  product_answers: 'none',
  product_pulse: 'none',
  product_outage: 'none',
  gateway_node: 'none',
  schema_migration: 'none',
};

/** The address of an account that is gone. No mail reaches it, and nobody can sign up with it. @param customerId of the account */
export function erasedAddress(customerId: string): string {
  return `deleted-${customerId}@deleted.invalid`;
}
