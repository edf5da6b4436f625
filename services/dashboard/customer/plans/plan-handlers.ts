import { type PoolClient } from 'pg';
import { type CatalogueProduct, refusesTestKeys } from '../../../../plugins/core/catalogue/catalogue';
import { firstCallOf, pickFirst } from '../../../selling/catalogue/first-call';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { listPaid } from '../../../selling/paid-plans/paid-subscriptions';
import { askForPlan, withdrawPlanRequest } from '../../../selling/subscriptions/ask-for-plan';
import {
  changeSubscription,
  changeSubscriptionOptimistically,
  setDailyCap,
  setSubscriptionState,
  SubscriptionChanged,
} from '../../../selling/subscriptions/change-subscription';
import { createSubscription } from '../../../selling/subscriptions/subscribe';
import { type PlanRequestView, readCurrentRequests } from '../../../selling/subscriptions/plan-request-view';
import { requireChangesLeft } from '../../../selling/subscriptions/require-changes-left';
import { listConsents } from '../../../selling/subscriptions/require-consent';
import { type SubscriptionView } from '../../../selling/subscriptions/subscription-view';
import { type planEndpoints, subscription } from '../../contract/plans';
import { type Call, type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps, type KnownSource } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { shapeAnswer } from '../../http/shape-answer';
import { isCollecting, isPaidFirst } from '../../../selling/billing/payments-of';
import { refuseOtherTerms, refusePaid, requireFreeNow } from './plan-terms';
import { inTransaction } from '../../../../plugins/stores/postgres/database';
import { opensNothing, understoodText } from '../../reference/live-routes';
import { requireUnderstood } from './require-understood';
import { restOfMonth } from './rest-of-month';
import { readSubscriptionUse, type SubscriptionStanding } from './subscription-use';
import { type SignedInCaller } from '../../http/callers';

/** A product as pages show it. */
export function describeProduct(
  product: CatalogueProduct,
  known: {
    readonly subscription?: SubscriptionStanding | undefined;
    readonly request?: PlanRequestView | undefined;
    readonly liveSource: KnownSource | null | undefined;
    /** The customer agreed to the product's present text. */
    readonly hasConsent?: boolean | undefined;
    /** Plans with a price begin when they are paid. */
    readonly isCollecting?: boolean | undefined;
    readonly paidPlanId?: string | undefined;
    /** `YYYY-MM-DD` in the quota time zone, for a customer. */
    readonly today?: string | undefined;
  },
) {
  const {
    subscription = null,
    request = null,
    liveSource = null,
    hasConsent = false,
    isCollecting = false,
    paidPlanId = null,
    today,
  } = known;
  const plans = product.plans.map((plan) => {
    const paidFirst = isCollecting && isPaidFirst(plan);
    const until = { today: today ?? '', present: subscription ?? undefined, plans: product.plans };
    return { ...plan, isPaidFirst: paidFirst, restOfMonth: paidFirst || today === undefined ? null : restOfMonth(plan, until) };
  });
  const firstCall = firstCallOf(product) ?? null;
  const consent = product.consent === undefined ? null : { text: product.consent, isGiven: hasConsent };
  return {
    ...product,
    plans,
    paidPlanId,
    firstCall,
    countsUnits: product.units !== undefined,
    takesTestKeys: !refusesTestKeys(product),
    liveSource: liveSource && { isThere: liveSource.isThere, since: liveSource.since },
    liveRoutes: [...(liveSource?.routes ?? [])],
    opensNothing: liveSource && opensNothing(liveSource) ? understoodText(product.title, liveSource) : null,
    subscription,
    request,
    consent,
  };
}

/** One subscription as it stands after a change, or within its transaction. */
async function standing(db: DashboardDeps['db'] | PoolClient, wanted: string, { caller, deps }: Scope): Promise<SubscriptionStanding> {
  const query = { customerId: caller.customerId, timeZone: deps.timeZone, nowMs: deps.clock.now() };
  const found = (await readSubscriptionUse(db, query)).find((each) => each.id === wanted);
  if (!found) throw new Error('a subscription vanished while it was being changed');
  return found;
}

interface Scope {
  readonly caller: SignedInCaller;
  readonly deps: DashboardDeps;
}

/** Runs a change at the version that the page showed; a conflict returns the present state. */
async function changeAt(
  ref: { readonly id: string; readonly version: string },
  scope: Scope,
  work: (client: PoolClient, before: SubscriptionView) => Promise<unknown>,
): Promise<SubscriptionStanding> {
  const { caller, deps } = scope;
  try {
    await changeSubscriptionOptimistically(deps.db, { ...ref, customerId: caller.customerId }, work);
  } catch (error) {
    if (!(error instanceof SubscriptionChanged)) throw error;
    const current = shapeAnswer(subscription, await standing(deps.db, ref.id, scope));
    throw new Refusal('version_conflict', { members: { current } });
  }
  return standing(deps.db, ref.id, scope);
}

/** Refuses before the change: with a limit below today's or this month's use, everything would be refused until the reset. */
async function refuseLimitBelowUse(
  client: PoolClient,
  before: { daily: number; monthly: number; id: string },
  scope: Scope,
): Promise<void> {
  const { daily, monthly } = await standing(client, before.id, scope);
  const isLower = daily.limit < before.daily || monthly.limit < before.monthly;
  if (!isLower || (daily.used <= daily.limit && monthly.used <= monthly.limit)) return;
  const members = { used_daily: daily.used, used_monthly: monthly.used, daily: daily.limit, monthly: monthly.limit };
  throw new Refusal('limit_below_use', { members });
}

type SettingState = Call<'POST /subscriptions/:id/pause'> | Call<'POST /subscriptions/:id/resume'>;

const setState =
  (state: 'active' | 'paused' | 'cancelled') =>
  ({ params: { id }, body, caller }: SettingState, deps: DashboardDeps) => {
    const { customerId, actor } = caller;
    const consent = 'consent' in body ? body.consent : undefined;
    return changeAt({ id, version: body.version }, { caller, deps }, async (client, before) => {
      if (state === 'active' && before.state !== state) await requireChangesLeft(client, before);
      if (state === 'cancelled') await refusePaid(client, before);
      await setSubscriptionState(client, { id, customerId, state, actor, consent });
    });
  };

/** The catalogue, and the customer's subscriptions to it. */
export const planHandlers: Handlers<typeof planEndpoints> = {
  'GET /products': async ({ caller }, { db, clock, timeZone, catalogue, liveSources, payments }) => {
    const own = await readSubscriptionUse(db, { customerId: caller.customerId, timeZone, nowMs: clock.now() });
    const requests = await readCurrentRequests(db, caller.customerId);
    const consents = await listConsents(db, caller.customerId);
    const sold = await catalogue();
    const paid = await listPaid(db, caller.customerId);
    const { products } = sold;
    const { day: today } = windowsAt(clock.now() / 1000, timeZone);
    return {
      products: products.map((product) =>
        describeProduct(product, {
          subscription: own.find((each) => each.product === product.id),
          request: requests.find((each) => each.product === product.id),
          liveSource: liveSources?.find(product.id),
          hasConsent: consents.has(product.id),
          isCollecting: isCollecting(sold, payments),
          paidPlanId: paid.find((each) => each.product === product.id)?.id,
          today,
        }),
      ),
      first: pickFirst(products)?.id ?? null,
    };
  },

  'POST /subscriptions': async ({ body: { product, plan, terms, consent, understood }, caller }, deps) => {
    const { customerId, actor } = caller;
    if (!caller.isSeller) await requireFreeNow(deps.db, { customerId, product, plan }, deps);
    await refuseOtherTerms({ product, plan, terms }, deps);
    const wanted = { customer: customerId, product, actor, keepsLimits: true, consent, ...(plan !== null && { plan }) };
    const made = await inTransaction(deps.db, async (client) => {
      await requireUnderstood(client, { customerId, product, plan, understood, actor }, deps);
      return createSubscription(client, wanted);
    });
    return standing(deps.db, made.id, { caller, deps });
  },

  'PUT /subscriptions/:id/plan': ({ params: { id }, body, caller }, deps) => {
    const scope = { caller, deps };
    const { version, plan, terms, acceptLowerThanUsed, consent, understood } = body;
    const { customerId, actor } = caller;
    return changeAt({ id, version }, scope, async (client, before) => {
      if (plan !== before.plan) {
        if (!caller.isSeller) await requireFreeNow(client, { ...before, plan }, deps);
        await requireChangesLeft(client, before);
      }
      const { product } = before;
      await refuseOtherTerms({ product, plan, terms }, deps);
      if (plan !== before.plan) await requireUnderstood(client, { customerId, product, plan, understood, actor }, deps);
      await changeSubscription(client, { id, customerId, plan, consent, actor });
      if (!acceptLowerThanUsed) await refuseLimitBelowUse(client, before, scope);
    });
  },

  'PUT /subscriptions/:id/cap': ({ params: { id }, body: { version, dailyCap: cap }, caller }, deps) => {
    const { customerId, actor } = caller;
    return changeAt({ id, version }, { caller, deps }, (client) => setDailyCap(client, { id, customerId, cap, actor }));
  },

  'POST /subscriptions/:id/pause': setState('paused'),
  'POST /subscriptions/:id/resume': setState('active'),
  'POST /subscriptions/:id/cancel': setState('cancelled'),

  'POST /plan-requests': async ({ body: { product, plan, terms, consent, understood }, caller: { customerId, actor } }, deps) => {
    await refuseOtherTerms({ product, plan, terms }, deps);
    return inTransaction(deps.db, async (client) => {
      await requireUnderstood(client, { customerId, product, plan, understood, actor }, deps);
      return askForPlan(client, { customer: customerId, product, plan, consent, actor });
    });
  },

  'POST /plan-requests/:id/withdraw': ({ params: { id }, caller: { customerId, actor } }, { db }) =>
    withdrawPlanRequest(db, { id, customerId, actor }),
};
