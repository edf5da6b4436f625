import { type DenialCode } from '../../../plugins/core/problems';

/** Refusals of requests whose key is known, in the order of the checks. */
export const REFUSAL_CODES = [
  'key_inactive',
  'key_expired',
  'product_not_authorised',
  'subscription_missing',
  'subscription_inactive',
  'caller_not_whitelisted',
  'quota_daily_exceeded',
  'quota_monthly_exceeded',
  'quota_unavailable',
  'access_layer_unavailable',
] as const satisfies readonly DenialCode[];
