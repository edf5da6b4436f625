import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { givenConsent, givenUnderstood, id, moment, planName, productId, suspended, version } from './fields';
import { versionBody } from './keys';

const limits = z.object({ daily: z.number().int(), monthly: z.number().int() });

/** How fast requests may come: the average number in each window, and the burst that is allowed after a pause. */
export const requestRate = z.object({
  limit: z.number().int(),
  windowSeconds: z.union([z.literal(1), z.literal(60)]),
  burst: z.number().int(),
});
const limitsAndRate = limits.extend({ rate: requestRate.optional() });

/** What a plan sells above its limits, which its price includes. */
export const overage = z.object({
  /** Number of requests, or units, for this price. */
  per: z.number().int(),
  /** With the decimals of the plan's currency. */
  price: z.string().max(20),
  /** The limits above which requests are refused. */
  cap: limits,
});

/** One window of a subscription: requests used against its limit. */
const windowStanding = z.object({
  used: z.number(),
  limit: z.number(),
  resetsAt: moment,
  /**
   * When the limit is reached at this window's rate so far; the present time if it is reached; null if it is not reached before the reset,
   * or too little was used to say.
   */
  exhaustedAt: moment.nullable(),
});
export type WindowStanding = z.input<typeof windowStanding>;

/** What keys of one mode used of a subscription's limits. */
const use = {
  daily: windowStanding,
  monthly: windowStanding,
  /** Failed requests that were given back today, and the daily maximum. */
  refunds: z.object({ used: z.number(), limit: z.number() }),
};
const subscriptionUse = z.object(use);
export type SubscriptionUse = z.input<typeof subscriptionUse>;

const includedUse = z.object({ included: z.number(), above: z.number() });
export type IncludedUse = z.input<typeof includedUse>;

export const subscription = z.object({
  id,
  product: z.string(),
  /** Null: base limits. */
  plan: z.string().nullable(),
  state: z.enum(['active', 'paused', 'cancelled']),
  suspended,
  /** Use of live keys. */
  ...use,
  /** Use of test keys, which have the same limits of their own. */
  test: subscriptionUse,
  /** How fast requests of live keys, and those of test keys, may come; null: no limit. */
  rate: requestRate.nullable(),
  /** True when an operator set limits for this subscription alone. */
  hasOwnLimits: z.boolean(),
  /** The subscription's own limits, which override any plan's; null if the plan's holds. */
  ownLimits: z.object({ daily: z.number().int().nullable(), monthly: z.number().int().nullable(), rate: requestRate.nullable() }),
  /** A month's price that the seller gave this subscription alone; null if the plan's counts. It ends with the plan. */
  ownPrice: z.object({ price: z.string(), currency: z.string() }).nullable(),
  /** When own limits and price end by themselves, and the plan's count again; null: never, or there are none. */
  ownUntil: moment.nullable(),
  /** The customer's own daily cap, whatever the limit; null without one. */
  dailyCap: z.number().int().nullable(),
  /**
   * What the price includes, and the price of `per` requests above that. Requests are refused at the limits above. Null: nothing is sold
   * above the limits.
   */
  overage: z.object({ per: z.number().int(), price: z.string(), currency: z.string(), ...limits.shape }).nullable(),
  /**
   * Units of live keys that the price includes, and units sold above them, as the month's statement counts them. Null: no units are sold
   * above.
   */
  includedNow: z.object({ today: includedUse, thisMonth: includedUse }).nullable(),
  createdAt: moment,
  version,
});
export type Subscription = z.input<typeof subscription>;

/** A plan that the seller gives on request, and the request's state. */
const planRequest = z.object({
  id,
  product: z.string(),
  plan: z.string(),
  /** The requested limits and price a month. */
  ...limits.shape,
  price: z.string(),
  currency: z.string(),
  overage: overage.nullable(),
  state: z.enum(['open', 'approved', 'declined', 'withdrawn']),
  /** Why it was declined; otherwise empty. */
  reason: z.string(),
  askedAt: moment,
  answeredAt: moment.nullable(),
});
export type PlanRequest = z.input<typeof planRequest>;

/** Whether live keys get responses. Test keys always do. */
const liveSource = z.object({
  /** False: calls with a live key are refused, except where `liveRoutes` says otherwise. */
  isThere: z.boolean(),
  /** When the dashboard first heard of this, at the earliest when it was started. */
  since: moment,
});
export type LiveSource = z.input<typeof liveSource>;

/** What a live key gets from a route today. */
const openedRoute = z.object({
  path: z.string(),
  /**
   * `open`: all that the route is for; `in_part`: only what `only` says; `kept`: responses about earlier responses of other routes;
   * `about`: an index or a health check; `refused`: 503 until the product has a source.
   */
  state: z.enum(['open', 'in_part', 'kept', 'about', 'refused']),
  /** Words after the path, such as `with candidates`; otherwise empty. */
  only: z.string(),
});
export type OpenedRoute = z.output<typeof openedRoute>;

export const product = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  routes: z.array(z.object({ method: z.string(), path: z.string(), purpose: z.string() })),
  /** A call that needs nothing but a key; null if the product cannot be called, or only with more. */
  firstCall: z.object({ method: z.enum(['GET', 'POST']), path: z.string(), query: z.record(z.string(), z.string()) }).nullable(),
  /** Null: none are published. */
  base: limitsAndRate.nullable(),
  subscribable: z.boolean(),
  /** True: limits count units; each response says how many it cost. */
  countsUnits: z.boolean(),
  /** False: the product has no sandbox, so calls with a test key are refused. */
  takesTestKeys: z.boolean(),
  /** Null: not known, or not a product that can be called. */
  liveSource: liveSource.nullable(),
  /** Empty: not known. */
  liveRoutes: z.array(openedRoute),
  /**
   * Why live keys open nothing today; a caller who takes a plan with a price must confirm it as `understood`. Null: they open something.
   */
  opensNothing: z.string().nullable(),
  plans: z.array(
    limitsAndRate.extend({
      name: z.string(),
      /** A month, with the currency's decimals. */
      price: z.string(),
      /** ISO 4217. */
      currency: z.string(),
      /** `request`: the plan is requested under `/plan-requests`, and given by the seller. */
      approval: z.enum(['automatic', 'request']),
      /** Absent: requests are refused at the limits. */
      overage: overage.optional(),
      /** True: the plan begins when it is paid; see `POST /checkouts`. */
      isPaidFirst: z.boolean(),
      /**
       * What it costs until the end of this month if it is taken now, and for how many days; null if it is paid in advance, or nobody takes
       * it.
       */
      restOfMonth: z.object({ days: z.number().int(), amount: z.string() }).nullable(),
    }),
  ),
  subscription: subscription.nullable(),
  /** The id of the plan that is paid in advance, see `GET /billing`; null if there is none. */
  paidPlanId: id.nullable(),
  /** The text that subscribers must agree to; null if there is none. */
  consent: z.object({ text: z.string(), isGiven: z.boolean() }).nullable(),
  /** The last request, while it is open and for 30 days after it was declined. */
  request: planRequest.nullable(),
});
export type Product = z.input<typeof product>;

/**
 * What the page showed when the customer agreed. If the catalogue says something else by now: 409 `terms_changed`, and nothing happens. A
 * null price is that of the base limits.
 */
export const terms = limitsAndRate.extend({
  price: z.string().max(20).nullable(),
  currency: z.string().max(3).nullable(),
  overage: overage.optional(),
});
export type Terms = z.input<typeof terms>;

const members = { for: 'members', needs: 'plans', scopes: ['subscriptions:write'] } as const;
const setState = {
  ...members,
  body: versionBody,
  answer: subscription,
  refuses: ['subscription_unknown', 'subscription_cancelled', 'version_conflict'],
} as const;

/** The catalogue, and the customer's subscriptions. A change counts from the next request; what was used stays used. */
export const planEndpoints = {
  'GET /products': {
    for: 'members',
    needs: 'read',
    scopes: ['subscriptions:read'],
    summary: 'List products, with plans and your subscriptions',
    answer: z.object({
      products: z.array(product),
      /** The product with which newcomers begin; null if none can be subscribed to and called. */
      first: z.string().nullable(),
    }),
  },
  'POST /subscriptions': {
    ...members,
    summary: 'Subscribe to a product',
    /** `consent`: agrees to the product's text (else 409 `consent_required`, where it has one). */
    body: z.object({
      product: productId,
      plan: planName.nullable(),
      terms: terms.optional(),
      consent: givenConsent,
      understood: givenUnderstood,
    }),
    answer: subscription,
    refuses: [
      'opens_nothing',
      'payment_needed',
      'plan_paid',
      'plan_current',
      'currency_differs',
      'change_refused',
      'plan_needs_approval',
      'terms_changed',
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'plan_unknown',
      'plan_differs',
      'subscription_exists',
      'consent_required',
      'consent_changed',
      'change_limit_reached',
    ],
  },
  'PUT /subscriptions/:id/plan': {
    ...members,
    summary: 'Change the plan of a subscription',
    /** `acceptLowerThanUsed`: the customer has seen that today's or this month's use is above the new limit (409 `limit_below_use`). */
    body: z.object({
      version,
      plan: planName.nullable(),
      terms: terms.optional(),
      acceptLowerThanUsed: z.boolean().default(false),
      consent: givenConsent,
      understood: givenUnderstood,
    }),
    answer: subscription,
    refuses: [
      ...setState.refuses,
      'opens_nothing',
      'payment_needed',
      'plan_paid',
      'plan_current',
      'currency_differs',
      'change_refused',
      'plan_needs_approval',
      'terms_changed',
      'limit_below_use',
      'consent_required',
      'consent_changed',
      'change_limit_reached',
      'plan_unknown',
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
    ],
  },
  'PUT /subscriptions/:id/cap': {
    ...setState,
    summary: 'Set or remove your own daily cap',
    /** Null removes the cap. The maximum is PostgreSQL's integer. */
    body: z.object({ version, dailyCap: z.number().int().min(0).max(2_147_483_647).nullable() }),
  },
  'POST /subscriptions/:id/pause': { ...setState, summary: 'Pause a subscription' },
  'POST /subscriptions/:id/resume': {
    ...setState,
    summary: 'Resume a subscription',
    /** `consent`: see `POST /subscriptions`. */
    body: versionBody.extend({ consent: givenConsent }),
    refuses: [...setState.refuses, 'change_limit_reached', 'consent_required', 'consent_changed'],
  },
  'POST /subscriptions/:id/cancel': {
    ...setState,
    whileSuspended: true,
    summary: 'Cancel a subscription',
    refuses: [...setState.refuses, 'plan_paid'],
  },
  'POST /plan-requests': {
    for: 'members',
    needs: 'plans',
    summary: 'Ask for a plan that the seller gives on request',
    body: z.object({ product: productId, plan: planName, terms, consent: givenConsent, understood: givenUnderstood }),
    answer: planRequest,
    refuses: [
      'opens_nothing',
      'terms_changed',
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'plan_unknown',
      'plan_needs_no_approval',
      'plan_current',
      'request_exists',
      'consent_required',
      'consent_changed',
    ],
  },
  'POST /plan-requests/:id/withdraw': {
    for: 'members',
    whileSuspended: true,
    needs: 'plans',
    summary: 'Withdraw a request for a plan',
    answer: planRequest,
    refuses: ['request_unknown', 'request_closed'],
  },
} as const satisfies Endpoints;
