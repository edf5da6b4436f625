/**
 * Parts of a person's data, as the account page names them. `erased` is deleted 14 days after the account was deleted; `kept` stays,
 * anonymised: only invoices keep the buyer, because tax law requires them whole.
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
