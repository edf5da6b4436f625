import { type CataloguePlan } from '../../../../plugins/core/catalogue/catalogue';
import { toMinor } from '../../../../plugins/core/catalogue/money';
import { daysOfMonth, shareOfPrice } from '../../../selling/statements/statement';

interface Present {
  /** Null: base limits. */
  readonly plan: string | null;
  readonly state: 'active' | 'paused' | 'cancelled';
  readonly ownPrice: { readonly price: string; readonly currency: string } | null;
}

/**
 * What a plan costs until the end of this month if it is taken now, by the days that statement.ts would charge. Of two plans on one day the
 * more expensive counts, so a cheaper one begins to cost tomorrow.
 * @param today `YYYY-MM-DD` in the quota time zone
 */
export function restOfMonth(
  plan: CataloguePlan,
  { today, present, plans }: { readonly today: string; readonly present: Present | undefined; readonly plans: readonly CataloguePlan[] },
): { days: number; amount: string } {
  const month = daysOfMonth(today.slice(0, 'YYYY-MM'.length));
  const left = month.filter((day) => day >= today).length;
  const charged = present?.state === 'active' ? (present.ownPrice ?? plans.find(({ name }) => name === present.plan)) : undefined;
  const isCheaper = charged?.currency === plan.currency && toMinor(charged.price, charged.currency) > toMinor(plan.price, plan.currency);
  const days = isCheaper ? left - 1 : left;
  return { days, amount: shareOfPrice(plan, days, month.length) };
}
