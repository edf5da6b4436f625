import { type PoolClient } from 'pg';
import { z } from 'zod';
import { type CatalogueProduct, refusesTestKeys } from '../../../../plugins/core/selling/catalogue';
import { changeSubscriptionOptimistically, VersionConflict } from '../../../../plugins/stores/postgres/optimistic-lock';
import { changeSubscription } from '../../../../plugins/stores/postgres/subscriptions/change-subscription';
import { createSubscription } from '../../../../plugins/stores/postgres/subscriptions/create-subscription';
import { type PlanRequestView, readCurrentRequests } from '../../../../plugins/stores/postgres/subscriptions/plan-request-view';
import { setDailyCap } from '../../../../plugins/stores/postgres/subscriptions/set-daily-cap';
import { setSubscriptionState } from '../../../../plugins/stores/postgres/subscriptions/set-subscription-state';
import { type SubscriptionView } from '../../../../plugins/stores/postgres/subscriptions/subscription-view';
import { id } from '../../contract/fields';
import { versionBody } from '../../contract/keys';
import {
  changePlanBody,
  dailyCapBody,
  productList,
  subscribeBody,
  subscription,
  type LiveSource,
  type Product,
  type Subscription,
} from '../../contract/plans';
import { type Caller, type DashboardDeps, defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { Refusal } from '../http/refusal';
import { refuseOtherTerms, refuseWithoutApproval } from './plan-terms';
import { describeRequest, planRequestEndpoints } from './plan-request-endpoints';
import { readSubscriptionUse } from './subscription-use';

const params = z.object({ id });

/** A product as pages show it. */
export function describeProduct(
  product: CatalogueProduct,
  known: { subscription: Subscription | undefined; request: PlanRequestView | undefined; liveSource: LiveSource | null },
): Product {
  const { subscription: subscribed, request, liveSource } = known;
  const { id: productId, title, description, routes, base, subscribable, plans } = product;
  return {
    id: productId,
    title,
    description,
    base,
    routes: routes.map(({ method, path, purpose }) => ({ method, path, purpose })),
    subscribable,
    takesTestKeys: !refusesTestKeys(product),
    liveSource,
    plans: plans.map(({ name, daily, monthly, price, currency, approval }) => ({ name, daily, monthly, price, currency, approval })),
    subscription: subscribed ?? null,
    request: request ? describeRequest(request) : null,
  };
}

/** One subscription as it stands after a change, or within its transaction. */
async function standing(db: DashboardDeps['db'] | PoolClient, wanted: string, { caller, deps }: Scope): Promise<Subscription> {
  const query = { customerId: caller.customerId, timeZone: deps.timeZone, nowMs: deps.clock.now() };
  const found = (await readSubscriptionUse(db, query)).find((each) => each.id === wanted);
  if (!found) throw new Error('a subscription vanished while it was being changed');
  return found;
}

interface Scope {
  readonly caller: Caller;
  readonly deps: DashboardDeps;
}

/** Runs a change at the version that the page showed; a conflict tells the present state. */
async function changeAt(
  ref: { readonly id: string; readonly version: string },
  scope: Scope,
  work: (client: PoolClient, before: SubscriptionView) => Promise<unknown>,
): Promise<Subscription> {
  const { caller, deps } = scope;
  try {
    await changeSubscriptionOptimistically(deps.db, { ...ref, customerId: caller.customerId }, work);
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    throw new Refusal('version_conflict', { members: { current: await standing(deps.db, ref.id, scope) } });
  }
  return standing(deps.db, ref.id, scope);
}

/** Told before it happens: with less than was used today or this month, everything is refused until the reset. */
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

const products = defineEndpoint({
  method: 'GET',
  path: '/products',
  needs: 'read',
  answer: productList,
  handler: async ({ caller }, { db, clock, timeZone, catalogue, liveSources }) => {
    const own = await readSubscriptionUse(db, { customerId: caller.customerId, timeZone, nowMs: clock.now() });
    const requests = await readCurrentRequests(db, caller.customerId);
    const of = <Item extends { product: string }>(items: readonly Item[], id: string): Item | undefined =>
      items.find(({ product }) => product === id);
    const { products: sold } = await catalogue();
    return {
      products: sold.map((product) =>
        describeProduct(product, {
          subscription: of(own, product.id),
          request: of(requests, product.id),
          liveSource: liveSources?.find(product.id) ?? null,
        }),
      ),
    };
  },
});

const subscribe = defineEndpoint({
  method: 'POST',
  path: '/subscriptions',
  needs: 'plans',
  body: subscribeBody,
  answer: subscription,
  handler: async ({ body: { product, plan, terms }, caller }, deps) => {
    await refuseWithoutApproval({ product, plan }, deps);
    await refuseOtherTerms({ product, plan, terms }, deps);
    const { customerId, actor } = caller;
    const wanted = { customer: customerId, product, actor, keepsLimits: true, ...(plan !== null && { plan }) };
    const made = await createSubscription(deps.db, wanted);
    return standing(deps.db, made.id, { caller, deps });
  },
});

const changePlan = defineEndpoint({
  method: 'PUT',
  path: '/subscriptions/:id/plan',
  needs: 'plans',
  params,
  body: changePlanBody,
  answer: subscription,
  handler: ({ params: { id: wanted }, body, caller }, deps) => {
    const scope = { caller, deps };
    const { version, plan, terms, acceptLowerThanUsed } = body;
    return changeAt({ id: wanted, version }, scope, async (client, before) => {
      if (plan !== before.plan) await refuseWithoutApproval({ product: before.product, plan }, deps);
      await refuseOtherTerms({ product: before.product, plan, terms }, deps);
      await changeSubscription(client, { id: wanted, customerId: caller.customerId, plan, actor: caller.actor });
      if (!acceptLowerThanUsed) await refuseLimitBelowUse(client, before, scope);
    });
  },
});

const capDay = defineEndpoint({
  method: 'PUT',
  path: '/subscriptions/:id/cap',
  needs: 'plans',
  params,
  body: dailyCapBody,
  answer: subscription,
  handler: ({ params: { id: wanted }, body: { version, dailyCap }, caller }, deps) => {
    const { customerId, actor } = caller;
    return changeAt({ id: wanted, version }, { caller, deps }, (client) =>
      setDailyCap(client, { id: wanted, customerId, cap: dailyCap, actor }),
    );
  },
});

function stateEndpoint(path: `/${string}`, state: 'active' | 'paused' | 'cancelled'): Endpoint {
  return defineEndpoint({
    method: 'POST',
    path,
    needs: 'plans',
    params,
    body: versionBody,
    answer: subscription,
    handler: ({ params: { id: wanted }, body: { version }, caller }, deps) => {
      const { customerId, actor } = caller;
      return changeAt({ id: wanted, version }, { caller, deps }, (client) =>
        setSubscriptionState(client, { id: wanted, customerId, state, actor }),
      );
    },
  });
}

/** The catalogue, and the customer's subscriptions to it. A change counts from the next request; what was used stays used. */
export const planEndpoints: readonly Endpoint[] = [
  products,
  subscribe,
  changePlan,
  capDay,
  stateEndpoint('/subscriptions/:id/pause', 'paused'),
  stateEndpoint('/subscriptions/:id/resume', 'active'),
  stateEndpoint('/subscriptions/:id/cancel', 'cancelled'),
  ...planRequestEndpoints,
];
