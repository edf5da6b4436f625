import { z } from 'zod';
import { type ChargeFact, type PaymentFact, type SubscriptionFact } from '../../../selling/paid-plans/payment-state';
import { type GivenFact } from '../../../selling/billing/payment-facts';

/** Notes that we write to subscriptions and plans at Razorpay, so that each says whose it is. */
export const NOTES = {
  customer: 'tollgate_customer',
  product: 'tollgate_product',
  plan: 'tollgate_plan',
  checkout: 'tollgate_checkout',
  refund: 'tollgate_refund',
} as const;

/** Without notes, Razorpay writes an empty list. */
export const notes = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .transform((given) => (Array.isArray(given) ? {} : given));
const seconds = z.number().nullish();

/** https://razorpay.com/docs/api/payments/subscriptions/plans-entity */
export const planEntity = z.object({
  id: z.string(),
  period: z.string(),
  interval: z.number(),
  item: z.object({ amount: z.number().int(), currency: z.string() }),
  notes,
});
export type PlanEntity = z.output<typeof planEntity>;

/** https://razorpay.com/docs/api/payments/subscriptions/entity */
export const subscriptionEntity = z.object({
  id: z.string(),
  plan_id: z.string(),
  status: z.string(),
  quantity: z.number().int().default(1),
  paid_count: z.number().default(0),
  customer_id: z.string().nullish(),
  payment_method: z.string().nullish(),
  current_end: seconds,
  charge_at: seconds,
  start_at: seconds,
  created_at: z.number(),
  short_url: z.string().nullish(),
  has_scheduled_changes: z.boolean().nullish(),
  notes,
});
export type SubscriptionEntity = z.output<typeof subscriptionEntity>;

/** https://razorpay.com/docs/api/payments/entity */
export const paymentEntity = z.object({
  id: z.string(),
  amount: z.number().int(),
  currency: z.string(),
  status: z.string(),
  invoice_id: z.string().nullish(),
  amount_refunded: z.number().int().nullish(),
});
export type PaymentEntity = z.output<typeof paymentEntity>;

/** https://razorpay.com/docs/api/payments/subscriptions/fetch-invoices */
export const invoiceEntity = z.object({
  id: z.string(),
  status: z.string(),
  amount: z.number().int(),
  currency: z.string(),
  subscription_id: z.string().nullish(),
  payment_id: z.string().nullish(),
  short_url: z.string().nullish(),
  issued_at: seconds,
  paid_at: seconds,
  line_items: z.array(z.object({ description: z.string().nullish(), amount: z.number().int() })).nullish(),
});
export type InvoiceEntity = z.output<typeof invoiceEntity>;

export function noteOf(given: { readonly notes: Readonly<Record<string, unknown>> }, name: keyof typeof NOTES): string | undefined {
  const value = given.notes[NOTES[name]];
  return typeof value === 'string' ? value : undefined;
}

/**
 * https://razorpay.com/docs/payments/subscriptions/states: a subscription that begins at once stays `created` until it is charged, so
 * `authenticated` is a trial. Statuses that Razorpay adds later count as not paid.
 */
const STATUSES: Readonly<Record<string, SubscriptionFact['status']>> = {
  created: 'waiting',
  authenticated: 'trial',
  active: 'active',
  pending: 'failing',
  halted: 'failing',
  paused: 'active',
  completed: 'ended',
  cancelled: 'ended',
  expired: 'ended',
};

/**
 * Whether the customer ever agreed to the subscription: from then on, Razorpay names the customer or counts a charge. The others are
 * checkout pages on which nobody paid.
 */
export function isBegun({ status, customer_id: customer, paid_count: charges }: SubscriptionEntity): boolean {
  if (status === 'created' || status === 'expired') return false;
  return status !== 'cancelled' || charges > 0 || (customer !== null && customer !== undefined);
}

interface FactDetails {
  readonly id: string;
  readonly at: number;
  /** The plan that begins with the next period, if any. */
  readonly next?: PlanEntity | undefined;
}

/**
 * A subscription of ours, with the price of its plan. Undefined for a subscription of another program, or one that nobody agreed to.
 * Razorpay does not say whether it was cancelled to the end of its period; see `cancelsAt` of the fact.
 */
export function subscriptionFact(given: SubscriptionEntity, plan: PlanEntity, { id, at, next }: FactDetails): GivenFact | undefined {
  const [customerId, product] = [noteOf(given, 'customer'), noteOf(given, 'product')];
  const name = noteOf(plan, 'plan') ?? noteOf(given, 'plan');
  if (customerId === undefined || product === undefined || name === undefined || !isBegun(given)) return undefined;
  const periodEnd = given.current_end ?? given.charge_at ?? given.start_at ?? given.created_at;
  // All charges were made, and the last period has not ended.
  const isLast = given.status === 'completed' && periodEnd > at;
  const fact: PaymentFact = {
    kind: 'subscription',
    status: isLast ? 'active' : (STATUSES[given.status] ?? 'failing'),
    plan: name,
    price: plan.item.amount * given.quantity,
    currency: plan.item.currency,
    periodEnd,
    ...(isLast && { cancelsAt: periodEnd }),
    ...(given.status === 'paused' && { isPaused: true }),
    next: next === undefined ? null : { plan: noteOf(next, 'plan') ?? name, price: next.item.amount * given.quantity },
  };
  return { id, at, subscription: given.id, owner: { customerId, product }, fact };
}

/** The description of an add-on for use above the limits. Add-ons have no notes, so it holds our id. */
export const useReference = (id: string): string => `Reference ${id}`;
const REFERENCE = /^Reference ([0-9a-f-]{36})$/;

/** Use above the limits on an invoice. */
export function useOn({ line_items: lines }: Pick<InvoiceEntity, 'line_items'>): Pick<ChargeFact, 'use'> {
  const use = (lines ?? []).flatMap(({ description, amount }) => {
    const id = REFERENCE.exec(description ?? '')?.[1];
    return id === undefined ? [] : [{ id, amount }];
  });
  return use.length > 0 ? { use } : {};
}
