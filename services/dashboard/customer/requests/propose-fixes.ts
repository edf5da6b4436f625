import { type Decision } from '../../../../plugins/core/ports';
import { type Fix } from '../../contract/explain';

/**
 * What the customer could do, from here, so that a refused request passes; the likeliest first. Empty where nothing of it lies with the
 * customer, or it is the request itself that must change.
 */
export function proposeFixes({ outcome, credentialId, suspended, callerAddress, originHost }: Decision): Fix[] {
  if (credentialId === undefined || suspended !== undefined) return [];
  switch (outcome) {
    case 'caller_not_whitelisted':
      // A caller that sends an origin is a browser: its address is its reader's, and changes.
      return [originHost, callerAddress].flatMap((rule) => (rule === undefined ? [] : [{ kind: 'add_rule' as const, rule }]));
    case 'key_inactive':
      return [{ kind: 'activate_key' }];
    case 'key_expired':
    case 'product_not_authorised':
      return [{ kind: 'open_key' }];
    case 'subscription_missing':
    case 'subscription_inactive':
    case 'quota_daily_exceeded':
    case 'quota_monthly_exceeded':
      return [{ kind: 'open_plans' }];
    default:
      return [];
  }
}
