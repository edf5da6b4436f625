import { z } from 'zod';
import { alert } from './alerts';
import { cursor, id, keyName, moment, pageSize, productId, submission, suspension } from './fields';
import { listedKey } from './keys';
import { subscription } from './plans';

export const listedCustomer = z.object({
  id,
  email: z.string(),
  /** What its organisation calls itself; null: nothing but the address. */
  name: z.string().nullable(),
  createdAt: moment,
  /** Absent: not suspended. */
  suspended: suspension.optional(),
});
export type ListedCustomer = z.output<typeof listedCustomer>;

export const listCustomersQuery = z.object({
  after: cursor.optional(),
  limit: pageSize,
  /** Beginning of an e-mail address, id of a customer or key, or a key's last four characters. */
  search: z.string().trim().max(254).optional(),
});
export const customerPage = z.object({ customers: z.array(listedCustomer), next: cursor.nullable() });
export type CustomerPage = z.output<typeof customerPage>;

export const createCustomerBody = z.object({ email: z.string().trim().max(254).pipe(z.email('must be an e-mail address')) });

const note = z.object({ id, at: moment, author: z.string(), text: z.string() });

/** Why a subscription has limits of its own, and until when. */
const limitTerm = z.object({ subscriptionId: id, reason: z.string(), setBy: z.string(), endsAt: moment.nullable() });

export const customerDetails = listedCustomer.extend({
  /** Keys that are not revoked. */
  keys: z.number().int(),
  subscriptions: z.array(subscription),
  limitTerms: z.array(limitTerm),
  /** The newest 20. */
  notes: z.array(note),
  /** The newest 10. */
  alerts: z.array(alert),
});
export type CustomerDetails = z.output<typeof customerDetails>;

export const customerKeysQuery = z.object({ after: cursor.optional(), limit: pageSize });
export const customerKeyPage = z.object({ keys: z.array(listedKey), next: z.string().nullable(), total: z.number().int() });

/** What the provider stops; a null reason restores it. */
export const suspendBody = z.object({
  kind: z.enum(['customer', 'key', 'subscription']),
  id,
  reason: z.string().trim().max(500).nullable(),
});
export type SuspendBody = z.input<typeof suspendBody>;

export const issueKeyBody = z.object({
  submission,
  name: keyName.optional(),
  mode: z.enum(['live', 'test']),
  products: z.array(productId).min(1),
});
/** Holds the secret, once. */
export const issuedKey = z.object({ secret: z.string(), id });

const limit = z.number().int().min(0).max(2_147_483_647).nullable();

/** Requests a day and a month; null for what the plan gives. */
export const setLimitsBody = z.object({
  daily: limit,
  monthly: limit,
  reason: z.string().trim().min(1).max(500),
  /** When the limits go by themselves; null: for good. */
  endsAt: moment.nullable(),
});

export const addNoteBody = z.object({ text: z.string().trim().min(1).max(2_000) });

/** A plan that waits for the provider's answer, with the terms that the customer agreed to. */
export const openPlanRequest = z.object({
  id,
  customerId: id,
  customer: z.string(),
  title: z.string(),
  plan: z.string(),
  /** What holds meanwhile; null: the base limits, or no subscription. */
  currentPlan: z.string().nullable(),
  /** Requests a day and a month. */
  daily: z.number().int(),
  monthly: z.number().int(),
  price: z.string(),
  currency: z.string(),
  askedAt: moment,
});
export type OpenPlanRequest = z.output<typeof openPlanRequest>;

export const planRequestsQuery = z.object({ customer: id.optional(), after: cursor.optional(), limit: pageSize });
export const planRequestPage = z.object({ requests: z.array(openPlanRequest), next: cursor.nullable() });
export type PlanRequestPage = z.output<typeof planRequestPage>;

/** The customer reads the reason. */
export const declineBody = z.object({ reason: z.string().trim().min(1).max(500) });
