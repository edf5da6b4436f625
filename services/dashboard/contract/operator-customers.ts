import { z } from 'zod';
import { IMPORT_MEMBERS, MAX_BATCH } from '../../selling/keys/import-members';
import { alert } from './alerts';
import { givenAmount } from './billing-fields';
import { CSV, type Endpoints } from './endpoint';
import { cursor, day, givenMoment, id, keyName, longCursor, moment, pageSize, planName, productId, submission, suspended } from './fields';
import { listedKey } from './keys';
import { rate } from './operator-home';
import { overage, requestRate, subscription } from './plans';

const listedCustomer = z.object({
  id,
  email: z.string(),
  /** What the organisation calls itself; null if it has only its address. */
  name: z.string().nullable(),
  createdAt: moment,
  suspended,
});

/** `leaving`: asked for deletion, or ended the last subscription within 30 days. `idle`: has no subscription. */
const customerState = z.enum(['active', 'idle', 'leaving', 'suspended']);

/** Figures of use are up to some minutes old; everything else is as of now. */
const customerLine = listedCustomer.extend({
  state: customerState,
  /** Subscriptions that are not cancelled; a null plan: the base limits. */
  plans: z.array(z.object({ product: z.string(), plan: z.string().nullable(), state: z.enum(['active', 'paused']) })),
  /** A month's prices of active subscriptions. */
  rates: z.array(rate),
  /** Requests that were admitted in the last 30 days, and how many more than in the 30 days before. */
  used: z.number(),
  growth: z.number(),
  /** Day of the last request that was admitted; null: unknown. */
  lastSeenOn: day.nullable(),
});
export type CustomerLine = z.input<typeof customerLine>;

/** Which customers, and in which order. */
const listFilter = {
  /** Beginning of an email address, id of a customer or key, or a key's last four characters. Then the order is by address. */
  search: z.string().trim().max(254).optional(),
  state: customerState.optional(),
  /** Only customers with this product; ignored if a state is given. */
  product: productId.optional(),
  /** `rate`: by the largest amount of one currency. */
  sort: z.enum(['email', 'created', 'used', 'growth', 'rate', 'seen']).default('email'),
  direction: z.enum(['up', 'down']).default('up'),
};
const filterQuery = z.object(listFilter);
export type CustomersFilter = z.output<typeof filterQuery>;

const note = z.object({ id, at: moment, author: z.string(), text: z.string() });

/** Why a subscription has its own price or limits, and until when. */
const limitTerm = z.object({ subscriptionId: id, reason: z.string(), setBy: z.string(), endsAt: moment.nullable() });

const customerDetails = listedCustomer.extend({
  /** Keys that are not revoked. */
  keys: z.number().int(),
  subscriptions: z.array(subscription),
  limitTerms: z.array(limitTerm),
  /** The newest 20. */
  notes: z.array(note),
  /** The newest 10. */
  alerts: z.array(alert),
});
export type CustomerDetails = z.input<typeof customerDetails>;

const limit = z.number().int().min(0).max(2_147_483_647).nullable();

/** What happens to the payments for the customer's present plan. It must be said: nobody is charged for a plan that is gone. */
const givenPayment = z.enum(['ends_now', 'ends_with_period', 'goes_on']);
export type GivenPayment = z.output<typeof givenPayment>;
const SETTLING = ['payment_off', 'payment_away', 'change_refused'] as const;

/** A plan request that waits for the seller's answer, with the terms that the customer agreed to. */
const openPlanRequest = z.object({
  id,
  customerId: id,
  customer: z.string(),
  title: z.string(),
  plan: z.string(),
  /** The present plan; null: the base limits, or no subscription. */
  currentPlan: z.string().nullable(),
  /** True: the limits count units; each response says how many it cost. */
  countsUnits: z.boolean(),
  /** A day and a month. */
  daily: z.number().int(),
  monthly: z.number().int(),
  price: z.string(),
  currency: z.string(),
  overage: overage.nullable(),
  askedAt: moment,
});
export type OpenPlanRequest = z.input<typeof openPlanRequest>;

const text = { type: ['string', 'null'] };
const texts = { anyOf: [text, { type: 'array', items: { type: 'string' } }] };

/** A line of a file of keys. Anything is accepted here: a mistake in one key refuses that key, not the request. */
const importedKey = z.unknown().meta({
  type: 'object',
  description:
    'A key with its `customer` (an email address) and `key`, or `sha256` of the key. Missing customers and subscriptions are created.',
  required: ['customer'],
  properties: Object.fromEntries(IMPORT_MEMBERS.map((name) => [name, name === 'products' || name === 'rules' ? texts : text])),
});

/** Customers, and everything about one of them. */
export const customerEndpoints = {
  'GET /operator/customers': {
    for: 'operators',
    sellerScopes: ['customers:read'],
    summary: 'Find customers',
    query: z.object({ after: longCursor.optional(), limit: pageSize, ...listFilter }),
    answer: z.object({ customers: z.array(customerLine), next: longCursor.nullable() }),
  },
  'GET /operator/customers.csv': {
    for: 'operators',
    sellerScopes: ['customers:read'],
    summary: 'The first 100,000 of them as CSV',
    query: filterQuery,
    file: CSV,
  },
  'POST /operator/customers': {
    for: 'operators',
    sellerScopes: ['customers:write'],
    summary: 'Create a customer',
    body: z.object({
      email: z.string().trim().max(254).pipe(z.email('must be an email address')),
      submission: submission.optional(),
      /** Mails the customer how to sign up. */ invite: z.boolean().default(false),
    }),
    answer: listedCustomer,
    refuses: ['already_done', 'customer_exists', 'email_malformed'],
  },
  'GET /operator/customers/:id': {
    for: 'operators',
    sellerScopes: ['customers:read'],
    summary: 'Show a customer',
    answer: customerDetails,
    refuses: ['customer_unknown'],
  },
  'GET /operator/customers/:id/keys': {
    for: 'operators',
    summary: 'List keys of a customer',
    query: z.object({ after: cursor.optional(), limit: pageSize }),
    answer: z.object({ keys: z.array(listedKey), next: z.string().nullable(), total: z.number().int() }),
  },
  'POST /operator/customers/:id/notes': {
    for: 'operators',
    sellerScopes: ['customers:write'],
    summary: 'Write a note on a customer',
    body: z.object({ text: z.string().trim().min(1).max(2_000) }),
    refuses: ['customer_unknown'],
  },
  'POST /operator/keys/import': {
    for: 'operators',
    sellerScopes: ['keys:write'],
    summary: 'Import keys of another system; needs `customers:write` and `subscriptions:write` too',
    body: z.object({
      keys: z.array(importedKey).min(1).max(MAX_BATCH),
      /** Products of keys that name none. */
      products: z.array(productId).max(100).default([]),
      /** Plan of the subscriptions that are made for keys that name none. */
      plan: planName.optional(),
      /** Shows the last four characters of keys that have 16 or more. */
      showsLastFour: z.boolean().default(false),
      /** Reports what the import would do, and changes nothing. */
      dryRun: z.boolean().default(false),
    }),
    answer: z.object({
      imported: z.number().int(),
      /** Keys that their customers have already. */
      known: z.number().int(),
      /** `line` counts the members of `keys`, from 1. */
      refused: z.array(z.object({ line: z.number().int(), reason: z.string() })),
      /** Warnings about keys that were imported nevertheless. */
      warnings: z.array(z.object({ line: z.number().int(), warning: z.string() })),
    }),
  },
  'POST /operator/customers/:id/keys': {
    for: 'operators',
    summary: 'Issue a key to a customer',
    body: z.object({
      submission,
      name: keyName.optional(),
      mode: z.enum(['live', 'test']),
      products: z.array(productId).min(1),
    }),
    /** Holds the secret, once. */
    answer: z.object({ secret: z.string(), id }),
    refuses: [
      'customer_unknown',
      'already_done',
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'change_limit_reached',
      'key_limit_reached',
    ],
  },
  'POST /operator/keys/:id/revoke': {
    for: 'operators',
    sellerScopes: ['keys:write'],
    summary: 'Revoke a key',
    refuses: ['key_unknown', 'key_not_usable'],
  },
  'POST /operator/suspensions': {
    for: 'operators',
    sellerScopes: ['customers:write'],
    summary: 'Suspend a customer, a key or a subscription, or lift that; the customer is told by email',
    /** The customer reads the reason. Null restores it. */
    body: z.object({
      kind: z.enum(['customer', 'key', 'subscription']),
      id,
      reason: z.string().trim().min(1).max(500).nullable(),
      /** Pauses what the customer pays for it, until it is restored. */
      pausePayment: z.boolean().default(false),
    }),
    refuses: ['customer_unknown', 'key_unknown', 'subscription_unknown', 'reason_malformed', ...SETTLING],
  },
  'PUT /operator/subscriptions/:id/limits': {
    for: 'operators',
    sellerScopes: ['subscriptions:write'],
    summary: 'Give a subscription a price or limits of its own',
    /** Requests a day and a month; null for the plan's limits. */
    body: z.object({
      daily: limit,
      monthly: limit,
      /** How fast requests may come; null for the plan's rate, absent to keep the present one. */
      rate: requestRate.nullable().optional(),
      /** A month, in the plan's currency; null for the plan's price, absent to keep the present one. */
      price: givenAmount.nullable().optional(),
      reason: z.string().trim().min(1).max(500),
      /** When own limits and price end by themselves; null: never. */
      endsAt: givenMoment.nullable(),
    }),
    refuses: [
      'subscription_unknown',
      'subscription_cancelled',
      'limit_malformed',
      'price_malformed',
      'plan_needed',
      'plan_paid',
      'date_malformed',
      'reason_malformed',
    ],
  },
  'PUT /operator/customers/:id/plan': {
    for: 'operators',
    sellerScopes: ['subscriptions:write'],
    summary: 'Put a customer on a plan, including one that is given on request',
    /**
     * A null plan: the base limits. `payment`: see below; without it a customer who pays for another plan keeps that plan (409
     * `plan_paid`).
     */
    body: z.object({ product: productId, plan: planName.nullable(), payment: givenPayment.optional() }),
    refuses: [
      'customer_unknown',
      'plan_paid',
      ...SETTLING,
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'plan_unknown',
      'consent_required',
      'consent_changed',
      'change_limit_reached',
    ],
  },
  'GET /operator/plan-requests': {
    for: 'operators',
    sellerScopes: ['subscriptions:read'],
    summary: 'List plans that customers asked for',
    query: z.object({ customer: id.optional(), after: cursor.optional(), limit: pageSize }),
    answer: z.object({ requests: z.array(openPlanRequest), next: cursor.nullable() }),
  },
  'POST /operator/plan-requests/:id/approve': {
    for: 'operators',
    sellerScopes: ['subscriptions:write'],
    summary: 'Approve a request for a plan',
    body: z.object({ payment: givenPayment.optional() }),
    refuses: [
      'plan_paid',
      ...SETTLING,
      'request_unknown',
      'request_closed',
      'plan_changed',
      'consent_required',
      'subscription_exists',
      'subscription_cancelled',
    ],
  },
  'POST /operator/plan-requests/:id/decline': {
    for: 'operators',
    sellerScopes: ['subscriptions:write'],
    summary: 'Decline a request for a plan',
    /** The customer reads the reason. */
    body: z.object({ reason: z.string().trim().min(1).max(500) }),
    refuses: ['request_unknown', 'request_closed', 'reason_malformed'],
  },
} as const satisfies Endpoints;
