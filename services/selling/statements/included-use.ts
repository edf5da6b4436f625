import { type DayAndMonth } from '../../../plugins/core/catalogue/catalogue';
import { daysOfMonth, type StatementUse, type SubscriptionTerm, termsOfDay } from './statement';
import { MonthUse } from './month-use';

/** Maximum units of a day or a month that the price includes, and those that were sold above. */
export interface IncludedUse {
  readonly included: number;
  readonly above: number;
}

export interface IncludedNow {
  readonly today: IncludedUse;
  readonly thisMonth: IncludedUse;
}

interface Running {
  /** Terms of one subscription, as in the month's statement. */
  readonly terms: readonly SubscriptionTerm[];
  readonly use: readonly StatementUse[];
  /** `YYYY-MM-DD`. */
  readonly today: string;
  /** Limits at which requests are refused: no more is admitted, included or not. */
  readonly limits: DayAndMonth;
}

/** The state of a running month, by the same count as its statement: what an earlier plan of the month included stays included. */
export function includedNow({ terms, use, today, limits }: Running): IncludedNow {
  const soFar = new MonthUse();
  const addDay = (day: string): number => {
    const own = use.find((each) => each.day === day);
    const sold = soFar.addDay((own?.charged ?? 0) - (own?.refunded ?? 0), termsOfDay(terms, day));
    return sold.reduce((sum, { units }) => sum + units, 0);
  };
  const earlier = daysOfMonth(today.slice(0, 'YYYY-MM'.length)).filter((day) => day < today);
  const aboveEarlier = earlier.reduce((sum, day) => sum + addDay(day), 0);
  const before = soFar.included;
  const above = addDay(today);
  const held = termsOfDay(terms, today);
  const most = (reaches: readonly number[]): number => Math.max(0, ...reaches);
  const day = most(held.map(({ daily, monthly }) => Math.min(daily, monthly - before)));
  const month = most(held.map(({ monthly }) => monthly));
  return {
    today: { included: Math.max(soFar.included - before, Math.min(limits.daily, day)), above },
    thisMonth: { included: Math.max(soFar.included, Math.min(limits.monthly, month)), above: aboveEarlier + above },
  };
}
