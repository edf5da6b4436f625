import { type Pool, type PoolClient } from 'pg';
import { windowsAt } from '../../../../plugins/core/quota';
import { mostRefundsOf } from '../../../../plugins/core/refunds';
import { type SubscriptionView, viewSubscriptions } from '../../../../plugins/stores/postgres/subscriptions/subscription-view';
import { readUsage } from '../../../../plugins/stores/postgres/quota/usage-read';
import { subscriptionVersion } from '../../../../plugins/stores/postgres/version';
import { type Subscription } from '../../contract/plans';
import { windowStanding } from './forecast';

/** What a subscription is, without what was used of it. */
export type SubscriptionFields = Omit<Subscription, 'daily' | 'monthly' | 'refunds'>;

export function subscriptionFields(view: SubscriptionView): SubscriptionFields {
  const { id, product, plan, state, suspended } = view;
  return {
    id,
    product,
    plan,
    state,
    ...(suspended && { suspended }),
    hasOwnLimits: view.dailyOverride !== null || view.monthlyOverride !== null,
    createdAt: view.createdAt.toISOString(),
    version: subscriptionVersion(view),
  };
}

export interface SubscriptionsQuery {
  readonly customerId: string;
  /** IANA name of the zone in which quota days turn. */
  readonly timeZone: string;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

/**
 * A customer's subscriptions in any state, by product, with what was used today and this month. Figures are the ledger's: with Redis
 * up to a second old.
 */
export async function readSubscriptionUse(db: Pool | PoolClient, query: SubscriptionsQuery): Promise<Subscription[]> {
  const now = query.nowMs / 1000;
  const { day, month, dayStartsAt, dayEndsAt, monthStartsAt, monthEndsAt } = windowsAt(now, query.timeZone);
  const owner = { customerId: query.customerId, fromDay: `${month}-01`, toDay: day };
  const subscriptions = await viewSubscriptions(db, query.customerId);
  const usage = await readUsage(db, owner);
  return subscriptions.map((view) => {
    const own = usage.filter(({ subscriptionId }) => subscriptionId === view.id);
    const ofToday = own.find((each) => each.day === day);
    const usedThisMonth = own.reduce((total, { used }) => total + used, 0);
    const times = { now, subscribedAt: view.createdAt.getTime() / 1000 };
    const today = { used: ofToday?.used ?? 0, limit: view.daily, startsAt: dayStartsAt, endsAt: dayEndsAt };
    const thisMonth = { used: usedThisMonth, limit: view.monthly, startsAt: monthStartsAt, endsAt: monthEndsAt };
    return {
      ...subscriptionFields(view),
      daily: windowStanding(today, times),
      monthly: windowStanding(thisMonth, times),
      refunds: { used: ofToday?.refundedRequests ?? 0, limit: mostRefundsOf(view.daily) },
    };
  });
}
