import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { requireUnpaid } from '../paid-plans/paid-subscriptions';
import { type Consent, requireConsent } from './require-consent';
import { checkLimit, requireOfferedPlan } from './subscription-terms';
import { lockSubscription, type SubscriptionRef, type SubscriptionView } from './subscription-view';
import { type Actor, writeAudit } from '../customers/write-audit';

export interface ChangeSubscriptionOptions extends SubscriptionRef {
  /** Null leaves the plan for the product's base limits. */
  readonly plan?: string | null;
  /** Null removes the override. */
  readonly daily?: number | null;
  readonly monthly?: number | null;
  /** For another plan; see `SubscribeOptions`. */
  readonly consent?: Consent;
  /** The customer pays for its plan in advance, and goes on paying that beside another plan. Default false: then the plan stays. */
  readonly paymentGoesOn?: boolean;
  readonly actor: Actor;
}

const UPDATE = 'UPDATE subscription SET plan_name = $2, daily_override = $3, monthly_override = $4, updated_at = now() WHERE id = $1';

/**
 * Changes plan or limits; what is left out stays. It counts from the next request, and what was used today and this month stays used.
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `plan_unknown`, `product_unknown`,
 * `product_without_limits`, `product_not_offered`, `limit_malformed`, `consent_required`, `consent_changed`, `plan_paid`
 */
export function changeSubscription(db: Database, options: ChangeSubscriptionOptions): Promise<SubscriptionView> {
  checkLimit(options.daily, 'daily');
  checkLimit(options.monthly, 'monthly');
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, options);
    if (before.state === 'cancelled') {
      throw new OperationRefused('subscription_cancelled', `subscription "${before.id}" is cancelled; create it again instead`);
    }
    const asked = options.plan === undefined ? before.plan : options.plan;
    const plan = asked === null || asked === before.plan ? asked : await requireOfferedPlan(client, before.product, asked);
    if (plan !== before.plan) {
      const { customerId, product } = before;
      if (!options.paymentGoesOn) await requireUnpaid(client, before);
      await requireConsent(client, { customerId, product, consent: options.consent ?? true, actor: options.actor });
    }
    const daily = options.daily === undefined ? before.dailyOverride : options.daily;
    const monthly = options.monthly === undefined ? before.monthlyOverride : options.monthly;
    await client.query(UPDATE, [before.id, plan, daily, monthly]);
    await writeAudit(client, {
      actor: options.actor,
      action: 'subscription.change',
      subject: { kind: 'subscription', id: before.id },
      details: {
        before: { plan: before.plan, daily: before.dailyOverride, monthly: before.monthlyOverride },
        after: { plan, daily, monthly },
      },
    });
    return lockSubscription(client, before);
  });
}
