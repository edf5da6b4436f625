import { type PersonalParts } from '../../../contract/account';

type PartsOf<Fate> = { readonly [Part in keyof PersonalParts as PersonalParts[Part] extends Fate ? Part : never]: string };

/** What goes with an account, as its owner knows it. */
export const PARTS_ERASED: PartsOf<'erased'> = {
  account: 'your email address, password, second factor, passkeys and sessions, and mail that was kept',
  keys: 'API keys with their names, tags and whitelist rules',
  subscriptions: 'subscriptions with their caps, and requests for plans',
  alerts: 'alerts, their thresholds and settings',
  webhooks: 'webhooks and the log of their deliveries',
  tokens: 'tokens of the management API',
  requests: 'the log of your requests, and counts by key',
  billing: 'the name, address and tax number for your next invoices',
  provider: 'limits and suspensions set for you, and the provider’s notes',
};

/** What does not, and why. */
export const PARTS_KEPT: PartsOf<'kept'> = {
  statements: 'monthly statements, with the plans and daily counts they are computed from: the provider’s books',
  invoices: 'invoices, with the name and address they were made out to: tax law requires the provider to keep them whole',
  audit: 'the audit log: what was done and when, as evidence. Network addresses and all details are taken out',
};
