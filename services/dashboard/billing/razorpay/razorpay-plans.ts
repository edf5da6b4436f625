import { z } from 'zod';
import { type CheckoutWish, ProviderRefused } from '../../../selling/billing/payment-port';
import { type RazorpayClient } from './razorpay-client';
import { noteOf, NOTES, type PlanEntity, planEntity, type SubscriptionEntity, subscriptionEntity } from './razorpay-facts';

/** What makes a plan at Razorpay: one is never changed, so another price is another plan. */
export type PlanWish = Pick<CheckoutWish, 'product' | 'title' | 'plan' | 'price' | 'currency'>;

/** Razorpay's most. */
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

/** The plans at Razorpay. They never change, so each is asked for once. */
export class RazorpayPlans {
  private readonly known = new Map<string, PlanEntity>();

  constructor(private readonly client: RazorpayClient) {}

  async find(id: string): Promise<PlanEntity> {
    return this.known.get(id) ?? this.note((await this.client.asked(this.client.sdk.plans.fetch(id), planEntity)).value);
  }

  /** What a subscription begins with its next period in place of its plan. */
  async findNext({ id, has_scheduled_changes: isWaiting }: SubscriptionEntity): Promise<PlanEntity | undefined> {
    if (isWaiting !== true) return undefined;
    try {
      const { value } = await this.client.asked(this.client.sdk.subscriptions.pendingUpdate(id), subscriptionEntity);
      return await this.find(value.plan_id);
    } catch (error) {
      // It began, or was taken back, since the event that told of it.
      if (error instanceof ProviderRefused) return undefined;
      throw error;
    }
  }

  /** Makes one only where there is none for this price. Two processes may make two, which are as good as one. */
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
