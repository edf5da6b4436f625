import { type Pool, type PoolClient } from 'pg';
import { type QuotaWindows, windowsAt } from '../../../../plugins/core/access/quota';
import { mostRefundsOf } from '../../../../plugins/core/catalogue/refunds';
import { hasOwnLimits, type SubscriptionView, viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { readMonth } from '../../../selling/statements/compute-statements';
import { type IncludedNow, includedNow } from '../../../selling/statements/included-use';
import { type DailyUsage, readUsage } from '../../../selling/subscriptions/usage-read';
import { subscriptionVersion } from '../../../selling/subscriptions/change-subscription';
import { type SubscriptionUse } from '../../contract/plans';
import { windowStanding } from './forecast';

/** A subscription's fields, without its use. */
export function subscriptionFields(view: SubscriptionView) {
  return {
    ...view,
    hasOwnLimits: hasOwnLimits(view),
    ownLimits: { daily: view.dailyOverride, monthly: view.monthlyOverride, rate: view.rateOverride },
    ownPrice: view.priceOverride === null || view.currency === null ? null : { price: view.priceOverride, currency: view.currency },
    ownUntil: view.overridesEndAt,
    overage: view.overage === null || view.currency === null ? null : { ...view.overage, currency: view.currency },
    version: subscriptionVersion(view),
  };
}

/** A subscription with its use, in the contract's form. */
export type SubscriptionStanding = Omit<ReturnType<typeof subscriptionFields>, 'daily' | 'monthly'> &
  SubscriptionUse & { readonly includedNow: IncludedNow | null; readonly test: SubscriptionUse };

export interface SubscriptionsQuery {
  readonly customerId: string;
  /** IANA name of the zone in which quota days turn. */
  readonly timeZone: string;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

/** @param own this month's use of the subscription by keys of one mode */
function useOf(
  view: SubscriptionView,
  own: readonly DailyUsage[],
  { windows, now }: { windows: QuotaWindows; now: number },
): SubscriptionUse {
  const { day, dayStartsAt, dayEndsAt, monthStartsAt, monthEndsAt } = windows;
  const ofToday = own.find((each) => each.day === day);
  const times = { now, subscribedAt: view.createdAt.getTime() / 1000 };
  const today = { used: ofToday?.used ?? 0, limit: view.daily, startsAt: dayStartsAt, endsAt: dayEndsAt };
  const used = own.reduce((total, each) => total + each.used, 0);
  const thisMonth = { used, limit: view.monthly, startsAt: monthStartsAt, endsAt: monthEndsAt, mostADay: view.daily };
  return {
    daily: windowStanding(today, times),
    monthly: windowStanding(thisMonth, times),
    refunds: { used: ofToday?.refundedRequests ?? 0, limit: mostRefundsOf(view.daily) },
  };
}

/** What the prices of subscriptions with overage include, as the month's statement counts it. */
async function readIncluded(
  db: Pool | PoolClient,
  { subscriptions, query, windows }: { subscriptions: readonly SubscriptionView[]; query: SubscriptionsQuery; windows: QuotaWindows },
): Promise<ReadonlyMap<string, IncludedNow>> {
  const selling = subscriptions.filter(({ overage }) => overage !== null);
  if (selling.length === 0) return new Map();
  const { customerId, timeZone, nowMs } = query;
  const { month, day: today } = windows;
  const { terms, use } = await readMonth(db, { customers: [customerId], month, timeZone, now: nowMs / 1000 });
  return new Map(
    selling.map(({ id, daily, monthly }) => {
      const isOwn = ({ subscriptionId }: { subscriptionId: string }): boolean => subscriptionId === id;
      return [id, includedNow({ terms: terms.filter(isOwn), use: use.filter(isOwn), today, limits: { daily, monthly } })];
    }),
  );
}

/**
 * A customer's subscriptions in any state, by product, with today's and this month's use. Figures are the ledger's: with Redis up to a
 * second old.
 */
export async function readSubscriptionUse(db: Pool | PoolClient, query: SubscriptionsQuery): Promise<SubscriptionStanding[]> {
  const now = query.nowMs / 1000;
  const windows = windowsAt(now, query.timeZone);
  const subscriptions = await viewSubscriptions(db, query.customerId);
  const included = await readIncluded(db, { subscriptions, query, windows });
  const usage = await readUsage(db, { customerId: query.customerId, fromDay: `${windows.month}-01`, toDay: windows.day });
  return subscriptions.map((view) => {
    const of = (mode: DailyUsage['mode']): SubscriptionUse =>
      useOf(
        view,
        usage.filter((each) => each.subscriptionId === view.id && each.mode === mode),
        { windows, now },
      );
    return { ...subscriptionFields(view), includedNow: included.get(view.id) ?? null, ...of('live'), test: of('test') };
  });
}
