import { z } from 'zod';
import { id, moment, planName, productId, suspension, version } from './fields';

const limits = z.object({ daily: z.number().int(), monthly: z.number().int() });

/** One window of a subscription: requests used against its limit. */
export const windowStanding = z.object({
  used: z.number(),
  limit: z.number(),
  resetsAt: moment,
  /**
   * When the limit is reached at the rate of this window so far; the present moment once it is; null when it is not reached before the
   * reset, or too little was used to tell.
   */
  exhaustedAt: moment.nullable(),
});
export type WindowStanding = z.output<typeof windowStanding>;

/** What keys of one mode used of a subscription's limits. */
const use = {
  daily: windowStanding,
  monthly: windowStanding,
  /** Failed requests that were given back today, and how many are at most. */
  refunds: z.object({ used: z.number(), limit: z.number() }),
};
export const subscriptionUse = z.object(use);
export type SubscriptionUse = z.output<typeof subscriptionUse>;

export const subscription = z.object({
  id,
  product: z.string(),
  /** Null: base limits. */
  plan: z.string().nullable(),
  state: z.enum(['active', 'paused', 'cancelled']),
  /** Absent: not suspended. */
  suspended: suspension.optional(),
  /** Of live keys. */
  ...use,
  /** Of test keys, which have the same limits for themselves. */
  test: subscriptionUse,
  /** True when an operator set limits for this subscription alone. */
  hasOwnLimits: z.boolean(),
  /** These limits, which outrank any plan's; null where the plan's holds. */
  ownLimits: z.object({ daily: z.number().int().nullable(), monthly: z.number().int().nullable() }),
  /** Requests a day after which the customer wants no more, whatever the limit; null without one. */
  dailyCap: z.number().int().nullable(),
  createdAt: moment,
  version,
});
export type Subscription = z.output<typeof subscription>;

/** A plan that the provider gives on request, and how that stands. */
export const planRequest = z.object({
  id,
  product: z.string(),
  plan: z.string(),
  /** What was asked for, with its price a month. */
  ...limits.shape,
  price: z.string(),
  currency: z.string(),
  state: z.enum(['open', 'approved', 'declined', 'withdrawn']),
  /** Why it was declined; else empty. */
  reason: z.string(),
  askedAt: moment,
  answeredAt: moment.nullable(),
});
export type PlanRequest = z.output<typeof planRequest>;

/** Whether live keys get answers; test keys always do. */
export const liveSource = z.object({
  /** False: every call with a live key is refused. */
  isThere: z.boolean(),
  /** When this was first heard: not before the dashboard was started. */
  since: moment,
});
export type LiveSource = z.output<typeof liveSource>;

export const product = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  routes: z.array(z.object({ method: z.string(), path: z.string(), purpose: z.string() })),
  /** Null: none are published. */
  base: limits.nullable(),
  subscribable: z.boolean(),
  /** False: it has no sandbox, so calls with a test key are refused. */
  takesTestKeys: z.boolean(),
  /** Null: not known, or not a product that can be called. */
  liveSource: liveSource.nullable(),
  plans: z.array(
    limits.extend({
      name: z.string(),
      /** A month, with two decimals. */
      price: z.string(),
      /** ISO 4217. */
      currency: z.string(),
      /** `request`: is asked for under `/plan-requests`, and given by the provider. */
      approval: z.enum(['automatic', 'request']),
    }),
  ),
  subscription: subscription.nullable(),
  /** The last one, while it is open and for 30 days after it was declined. */
  request: planRequest.nullable(),
});
export type Product = z.output<typeof product>;

export const productList = z.object({ products: z.array(product) });
export type ProductList = z.output<typeof productList>;

/**
 * What the page showed when the customer agreed. Given and not what the catalogue says any more: 409 `terms_changed`, nothing happens.
 * A null price is that of the base limits.
 */
const terms = limits.extend({ price: z.string().max(20).nullable(), currency: z.string().max(3).nullable() });
export type Terms = z.output<typeof terms>;

export const askForPlanBody = z.object({ product: productId, plan: planName, terms });

export const subscribeBody = z.object({ product: productId, plan: planName.nullable(), terms: terms.optional() });

/** `acceptLowerThanUsed`: the customer has seen that today's or this month's use is above the new limit (409 `limit_below_use`). */
export const changePlanBody = z.object({
  version,
  plan: planName.nullable(),
  terms: terms.optional(),
  acceptLowerThanUsed: z.boolean().default(false),
});

/** Null takes the cap away. The highest is PostgreSQL's integer. */
export const dailyCapBody = z.object({ version, dailyCap: z.number().int().min(0).max(2_147_483_647).nullable() });
