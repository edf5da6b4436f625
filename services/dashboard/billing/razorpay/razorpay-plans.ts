import { z } from 'zod';
import { type CheckoutWish, ProviderRefused } from '../../../selling/billing/payment-port';
import { type RazorpayClient } from './razorpay-client';
import { noteOf, NOTES, type PlanEntity, planEntity, type SubscriptionEntity, subscriptionEntity } from './razorpay-facts';

/** What identifies a plan at Razorpay. Razorpay never changes a plan, so another price is another plan. */
export type PlanWish = Pick<CheckoutWish, 'product' | 'title' | 'plan' | 'price' | 'currency'>;

/** Razorpay's maximum. */
export const PAGE = 100;

const listed = z.object({ items: z.array(planEntity.catch(() => UNREADABLE)) });
/** Stands for plans of another program, such as a weekly one without notes. They are never ours. */
const UNREADABLE: PlanEntity = { id: '', period: '', interval: 0, item: { amount: 0, currency: '' }, notes: {} };

function isFor({ period, interval, item, ...plan }: PlanEntity, { product, plan: name, price, currency }: PlanWish): boolean {
  const isMonthly = period === 'monthly' && interval === 1;
  return (
    isMonthly && item.amount === price && item.currency === currency && noteOf(plan, 'product') === product && noteOf(plan, 'plan') === name
  );
}

/** The plans at Razorpay. They never change, so each is requested once. */
export class RazorpayPlans {
  private readonly known = new Map<string, PlanEntity>();

  constructor(private readonly client: RazorpayClient) {}

  async find(id: string): Promise<PlanEntity> {
    return this.known.get(id) ?? this.note((await this.client.asked(this.client.sdk.plans.fetch(id), planEntity)).value);
  }

  /** The plan that replaces a subscription's plan in the next period. */
  async findNext({ id, has_scheduled_changes: isWaiting }: SubscriptionEntity): Promise<PlanEntity | undefined> {
    if (isWaiting !== true) return undefined;
    try {
      const { value } = await this.client.asked(this.client.sdk.subscriptions.pendingUpdate(id), subscriptionEntity);
      return await this.find(value.plan_id);
    } catch (error) {
      // The change took effect, or was taken back, after the event that reported it.
      if (error instanceof ProviderRefused) return undefined;
      throw error;
    }
  }

  /** Makes a plan only if none has this price. Two processes may make two, which does no harm. */
  async require(wish: PlanWish): Promise<PlanEntity> {
    return this.findKnown(wish) ?? (await this.findListed(wish)) ?? this.make(wish);
  }

  private note(plan: PlanEntity): PlanEntity {
    this.known.set(plan.id, plan);
    return plan;
  }

  private findKnown(wish: PlanWish): PlanEntity | undefined {
    return [...this.known.values()].find((plan) => isFor(plan, wish));
  }

  private async findListed(wish: PlanWish): Promise<PlanEntity | undefined> {
    for (let skip = 0; ; skip += PAGE) {
      const { items } = (await this.client.asked(this.client.sdk.plans.all({ count: PAGE, skip }), listed)).value;
      for (const plan of items) if (noteOf(plan, 'plan') !== undefined) this.note(plan);
      const found = this.findKnown(wish);
      if (found || items.length < PAGE) return found;
    }
  }

  private async make({ product, title, plan, price, currency }: PlanWish): Promise<PlanEntity> {
    const item = { name: `${title}: ${plan}`, amount: price, currency };
    const notes = { [NOTES.product]: product, [NOTES.plan]: plan };
    const made = this.client.sdk.plans.create({ period: 'monthly', interval: 1, item, notes });
    return this.note((await this.client.asked(made, planEntity)).value);
  }
}
