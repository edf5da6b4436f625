/**
 * Parts of what is known of a person, as the account page names them.
 * `erased` goes 14 days after the account was deleted; `kept` stays, without who it was: invoices alone
 * keep the buyer, because tax law wants them whole.
 */
export const PERSONAL_PARTS = {
  account: 'erased',
  keys: 'erased',
  subscriptions: 'erased',
  alerts: 'erased',
  webhooks: 'erased',
  tokens: 'erased',
  requests: 'erased',
  provider: 'erased',
  billing: 'erased',
  statements: 'kept',
  invoices: 'kept',
  audit: 'kept',
} as const;
export type PersonalPart = keyof typeof PERSONAL_PARTS;
