import { type Decision } from '../../../../plugins/core/ports';
import { type Fix } from '../../contract/explain';

/**
 * Changes that the customer can make so that a refused request passes, the likeliest first. Empty when the customer cannot help, or when
 * the request itself must change.
 */
export function proposeFixes({ outcome, credentialId, suspended, callerAddress, originHost }: Decision): Fix[] {
  if (credentialId === undefined || suspended !== undefined) return [];
  switch (outcome) {
    case 'caller_not_whitelisted':
      // A caller that sends an origin is a browser. Its address belongs to its reader and changes.
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
