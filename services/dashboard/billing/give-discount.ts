import { randomUUID } from 'node:crypto';
import { OperationRefused } from '../../selling/operations/operation-refused';
import { type DiscountWish } from '../../selling/billing/payment-port';
import { type PaidSubscription } from '../../selling/paid-plans/paid-subscriptions';
import { type Call } from '../http/bind-endpoint';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { changePaid, portOfPaid, requirePaid } from './change-payment';
import { minorOf } from './refund-payment';

type DiscountCall = Call<'PUT /operator/customers/:id/paid-plans/:paid/discount'>;

const NO_DISCOUNTS =
  'The payment provider does not accept a discount for one subscription from other programs. In its dashboard, create an offer and link it to the subscription.';

/** @throws OperationRefused `price_malformed` for more than the price */
function wishOf({ discount, months, reason }: DiscountCall['body'], { currency, price }: PaidSubscription): DiscountWish | null {
  if (discount === null) return null;
  const percent = 'percent' in discount ? discount.percent : null;
  const amount = 'amount' in discount ? minorOf(discount.amount, currency ?? '') : null;
  if (amount !== null && (amount === 0 || amount > (price ?? 0))) {
    throw new OperationRefused('price_malformed', 'the discount must be above 0, and no more than the price of the plan');
  }
  return { id: randomUUID(), percent, amount, currency: currency ?? '', months, name: reason };
}

/** Takes a discount off what a paying customer is charged from now on, through the provider that charges it. */
export async function giveDiscount({ params, body, caller: { actor } }: DiscountCall, deps: DashboardDeps): Promise<void> {
  const paid = await requirePaid(deps, { id: params.paid, customerId: params.id });
  if (!portOfPaid(paid, deps).takesDiscounts) throw new Refusal('change_refused', { detail: NO_DISCOUNTS });
  const { plan, currency } = paid;
  const details = { plan, currency, ...body.discount, months: body.months, reason: body.reason };
  await changePaid(paid, { change: { kind: 'discount', discount: wishOf(body, paid) }, actor, details }, deps);
}
