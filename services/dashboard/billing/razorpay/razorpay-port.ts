import { z } from 'zod';
import { type GivenFact } from '../../../selling/billing/payment-facts';
import { lookedUp } from '../answer-clock';
import { asChange } from '../as-change';
import {
  ChangeRefused,
  type CheckoutWish,
  type PaymentPort,
  type PlanSwitch,
  ProviderRefused,
  type UseCharge,
} from '../../../selling/billing/payment-port';
import { chargesSince, refund } from './razorpay-charges';
import { type RazorpayAnswer, connectRazorpay, type RazorpayOptions } from './razorpay-client';
import { readRazorpayEvent } from './razorpay-events';
import { isBegun, noteOf, NOTES, type SubscriptionEntity, subscriptionEntity, subscriptionFact, useReference } from './razorpay-facts';
import { PAGE, RazorpayPlans } from './razorpay-plans';

const DAY_SECONDS = 86_400;
/** Razorpay must know the number of charges: ten years of months. A UPI mandate may last 30 years. */
const MONTHS = 120;
/** Days to look back for the page of an earlier checkout request. A page can be paid on for a day, and clocks may differ by another. */
const WISH_DAYS = 3;

const listed = z.object({ items: z.array(subscriptionEntity) });

/** https://razorpay.com/docs/api/payments/subscriptions/create-add-on */
const addOn = z.object({ id: z.string(), item: z.object({ description: z.string().nullish() }) });
const listedAddOns = z.object({ items: z.array(addOn) });

function subscriptionWish({ id, customerId, product, plan, trialDays }: CheckoutWish, planId: string, now: number) {
  return {
    plan_id: planId,
    total_count: MONTHS,
    quantity: 1,
    // Razorpay mails the customer about charges and, if one fails, how to change the card. It has no page for that.
    customer_notify: 1,
    expire_by: Math.floor(now) + DAY_SECONDS,
    ...(trialDays > 0 && { start_at: Math.floor(now) + trialDays * DAY_SECONDS }),
    notes: { [NOTES.customer]: customerId, [NOTES.product]: product, [NOTES.plan]: plan, [NOTES.checkout]: id },
  } as const;
}

const stateOf = (given: SubscriptionEntity): 'open' | 'paid' | 'closed' =>
  given.status === 'created' ? 'open' : isBegun(given) ? 'paid' : 'closed';

/**
 * Takes payments by Razorpay Subscriptions: its hosted page, its official SDK, and signed webhooks. A checkout is a subscription that
 * nobody has agreed to yet. Razorpay has no idempotency keys here, so earlier requests are found by their notes.
 */
export function createRazorpayPort(options: RazorpayOptions): PaymentPort {
  const client = connectRazorpay(options);
  const { sdk, asked } = client;
  const plans = new RazorpayPlans(client);
  const one = (work: Promise<unknown>) => asked(work, subscriptionEntity);
  const fetched = (id: string) => one(sdk.subscriptions.fetch(id));

  async function factOf({ value, at }: RazorpayAnswer<SubscriptionEntity>, cancelsAt?: number): Promise<GivenFact[]> {
    if (noteOf(value, 'customer') === undefined || !isBegun(value)) return [];
    const [plan, next] = [await plans.find(value.plan_id), await plans.findNext(value)];
    const found = subscriptionFact(value, plan, { id: '', at, next });
    if (found?.fact.kind !== 'subscription') return [];
    return [lookedUp({ ...found, fact: { ...found.fact, ...(cancelsAt !== undefined && { cancelsAt }) } })];
  }

  async function* pages(query: {
    readonly plan_id?: string;
    readonly from?: number;
  }): AsyncGenerator<RazorpayAnswer<SubscriptionEntity[]>> {
    for (let skip = 0; ; skip += PAGE) {
      const { value, at } = await asked(sdk.subscriptions.all({ ...query, count: PAGE, skip }), listed);
      yield { value: value.items, at };
      if (value.items.length < PAGE) return;
    }
  }

  /** The page of the same request, if it was sent before; else the time at Razorpay. */
  async function findWish(wish: CheckoutWish, planId: string): Promise<SubscriptionEntity | number> {
    let now = 0;
    const from = Math.floor(Date.now() / 1_000) - WISH_DAYS * DAY_SECONDS;
    for await (const { value, at } of pages({ plan_id: planId, from })) {
      const found = value.find((each) => noteOf(each, 'checkout') === wish.id);
      if (found) return found;
      now = at;
    }
    return now;
  }

  /**
   * Cancels at the end of the period if the subscription is charged already. A trial, or a subscription with a payment due, ends at once.
   */
  async function cancel(id: string, when: 'cancel' | 'end'): Promise<GivenFact[]> {
    const before = await fetched(id);
    if (['cancelled', 'completed', 'expired'].includes(before.value.status)) return factOf(before);
    const isLater = when === 'cancel' && before.value.status === 'active';
    const asking = one(sdk.subscriptions.cancel(id, isLater));
    const answer = await (isLater ? asChange(asking) : asking);
    return factOf(answer, isLater ? (answer.value.current_end ?? undefined) : undefined);
  }

  /** Razorpay cancels a trial that is paused. */
  async function pause(id: string): Promise<GivenFact[]> {
    const before = await fetched(id);
    if (before.value.status === 'paused') return factOf(before);
    if (before.value.status !== 'active') throw new ChangeRefused('Razorpay pauses only what is charged');
    return factOf(await asChange(one(sdk.subscriptions.pause(id, { pause_at: 'now' }))));
  }

  /**
   * Razorpay prices a change within a period itself, by the days that are left. So every change except a trial's takes effect between two
   * periods.
   */
  async function switchPlan(id: string, { title, plan, price, begins, heldPrice }: PlanSwitch): Promise<GivenFact[]> {
    const { value } = await fetched(id);
    const { item } = await plans.find(value.plan_id);
    if (item.amount * value.quantity !== heldPrice) throw new ChangeRefused('the subscription was changed in the meantime');
    const product = noteOf(value, 'product') ?? '';
    const wanted = await plans.require({ product, title, plan, price, currency: item.currency });
    const schedule = begins === 'now' ? 'now' : 'cycle_end';
    const change = { plan_id: wanted.id, quantity: 1, schedule_change_at: schedule, customer_notify: 1 } as const;
    await asChange(one(sdk.subscriptions.update(id, change)));
    return factOf(await fetched(id));
  }

  /** Add-ons have no notes, so our id stands in the description. */
  async function findAddOn(id: string): Promise<string | undefined> {
    for (let skip = 0; ; skip += PAGE) {
      const { items } = (await asked(sdk.addons.all({ count: PAGE, skip }), listedAddOns)).value;
      const found = items.find(({ item }) => item.description === useReference(id));
      if (found || items.length < PAGE) return found?.id;
    }
  }

  async function chargeUse(subscription: string, { id, description: name, amount, currency, isAgain }: UseCharge): Promise<string> {
    const known = isAgain ? await findAddOn(id) : undefined;
    if (known !== undefined) return known;
    const item = { name, amount, currency, description: useReference(id) };
    return (await asked(sdk.subscriptions.createAddon(subscription, { item, quantity: 1 }), addOn)).value.id;
  }

  return {
    name: 'razorpay',
    leadsBack: false,
    isCancelFinal: true,
    chargesAtOnce: false,
    // Offers can only be made in Razorpay's own dashboard: https://razorpay.com/docs/payments/subscriptions/offers
    takesDiscounts: false,

    async openCheckout(wish) {
      const { id: planId } = await plans.require(wish);
      const found = await findWish(wish, planId);
      const made = typeof found === 'number' ? (await one(sdk.subscriptions.create(subscriptionWish(wish, planId, found)))).value : found;
      if (typeof made.short_url !== 'string') throw new ProviderRefused('Razorpay gave no page for a checkout');
      return { session: made.id, url: made.short_url };
    },

    async settleCheckout(session, act) {
      const found = await fetched(session);
      const answer = act === 'close' && stateOf(found.value) === 'open' ? await one(sdk.subscriptions.cancel(session, false)) : found;
      return { state: stateOf(answer.value), facts: await factOf(answer) };
    },

    async *listFacts(of) {
      if (typeof of === 'string') return yield* await factOf(await fetched(of));
      for await (const { value, at } of pages({})) for (const each of value) yield* await factOf({ value: each, at });
      yield* chargesSince(client, of.since);
    },

    async previewChange(subscription, { charge }) {
      const { value } = await fetched(subscription);
      if (typeof value.payment_method === 'string' && value.payment_method !== 'card') {
        throw new ChangeRefused(`Razorpay changes no plan that is paid by ${value.payment_method}`);
      }
      return { amount: charge, currency: (await plans.find(value.plan_id)).item.currency };
    },

    async changeSubscription(subscription, change) {
      switch (change.kind) {
        case 'switch':
          return switchPlan(subscription, change);
        case 'stay':
          return factOf(await asChange(one(sdk.subscriptions.cancelScheduledChanges(subscription))));
        case 'cancel':
        case 'end':
          return cancel(subscription, change.kind);
        case 'pause':
          return pause(subscription);
        case 'resume':
          return factOf(await asChange(one(sdk.subscriptions.resume(subscription, { resume_at: 'now' }))));
        case 'keep':
          throw new ChangeRefused('Razorpay takes no cancellation back');
        case 'discount':
          throw new ChangeRefused('Razorpay takes no discount but its own offers');
      }
    },

    refund: (invoice, wish) => refund(client, invoice, wish),
    chargeUse,

    readEvent: (body, headers) =>
      readRazorpayEvent({ client, plans, webhookSecret: options.webhookSecret }, body, headers['x-razorpay-signature']),
  };
}
