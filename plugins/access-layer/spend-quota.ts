import { type SpendRequest, StoreUnavailable } from '../core/ports';
import { decideSpend, type QuotaWindowName } from '../core/access/quota';
import { counterOf } from '../core/access/subscription';
import { type AccessLayerDeps, type AccessRequest, type Denial } from './access-request';

/** Names the owner, because the caller may be somebody else. */
const CAP_REACHED = 'The daily cap that its owner set for this subscription is reached. Wait for the reset, or raise the cap.';

/** Step 3: takes the request's units from the day and the month of the subscription that admitted it. Test keys have counters of their own. */
export async function spendQuota(request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  const { config, record, subscription } = request;
  // The unit was spent when the link was made.
  if (!config.quota || request.link) return undefined;
  if (!record || !subscription) return { code: 'subscription_missing' };
  const units = (request.units = subscription.unitsByAnswer?.reserve ?? request.units);
  if (!config.enforce)
    return findShortfall({ subscriptionId: counterOf(subscription.id, record.mode), limits: subscription.limits, units }, deps);
  try {
    request.spend = await deps.quota.spend({ subscriptionId: counterOf(subscription.id, record.mode), limits: subscription.limits, units });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return config.onQuotaStoreError === 'allow' ? undefined : { code: 'quota_unavailable' };
  }
  if (request.spend.granted) return undefined;
  if (request.spend.exceeded === 'rate') return { code: 'rate_exceeded' };
  const window = request.spend.exceeded === 'monthly' ? 'monthly' : 'daily';
  return { code: `quota_${window}_exceeded`, ...shortfallOf(request, window) };
}

/** Whether a request that is not enforced could be paid for. Nothing is taken, so that no rate is ever exceeded. */
async function findShortfall({ subscriptionId, limits, units = 1 }: SpendRequest, { quota }: AccessLayerDeps): Promise<Denial | undefined> {
  const { exceeded } = decideSpend(await quota.readStanding(subscriptionId), limits, units);
  return exceeded === undefined ? undefined : { code: `quota_${exceeded}_exceeded` };
}

/** A request for several units may be refused while some are left. The detail says how many are left. */
function shortfallOf({ units, spend, subscription }: AccessRequest, window: QuotaWindowName): Pick<Denial, 'detail'> {
  if (!spend || !subscription) return {};
  if (units === 1) return window === 'daily' && subscription.isCapped ? { detail: CAP_REACHED } : {};
  const { standing } = spend;
  const used = window === 'daily' ? standing.usedDaily : standing.usedMonthly;
  const left = Math.max(0, subscription.limits[window] - used);
  return { detail: `This request needs ${units} units, and ${left} are left.` };
}
