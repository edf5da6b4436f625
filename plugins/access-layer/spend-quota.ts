import { StoreUnavailable } from '../core/ports';
import { counterOf } from '../core/quota-counter-id';
import { type AccessLayerDeps, type AccessRequest, type Denial } from './access-request';

/** Step 3: takes one unit from the day and the month of the subscription that admitted the request; test keys have both for themselves. */
export async function spendQuota(request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  const { config, record, subscription } = request;
  if (!config.quota) return undefined;
  if (!record || !subscription) return { code: 'subscription_missing' };
  try {
    request.spend = await deps.quota.spend({ subscriptionId: counterOf(subscription.id, record.mode), limits: subscription.limits });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return config.onQuotaStoreError === 'allow' ? undefined : { code: 'quota_unavailable' };
  }
  if (request.spend.granted) return undefined;
  return { code: request.spend.exceeded === 'monthly' ? 'quota_monthly_exceeded' : 'quota_daily_exceeded' };
}
