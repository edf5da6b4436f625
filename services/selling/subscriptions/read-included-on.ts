import { type DayAndMonth } from '../../../plugins/core/catalogue/catalogue';
import { type Database } from '../../../plugins/stores/postgres/database';
import { includedLimits } from '../catalogue/included-limits';

const BEST = `
SELECT "subscriptionId", max(daily) AS daily, max(monthly) AS monthly FROM (
  SELECT t.subscription_id AS "subscriptionId", ${includedLimits('t')} FROM subscription_term t
  WHERE t.customer_id = $1 AND t.state = 'active' AND t.since < to_timestamp($3) AND (t.until IS NULL OR t.until > to_timestamp($2))
) AS held GROUP BY 1`;

interface Day {
  readonly customerId: string;
  /** Unix seconds. */
  readonly dayStartsAt: number;
  readonly dayEndsAt: number;
}

/**
 * What the prices of a customer's subscriptions include on a day, by subscription. A day with several plans includes what the best of them does,
 * as the statement reckons it (month-use.ts).
 */
export async function readIncludedOn(db: Database, { customerId, dayStartsAt, dayEndsAt }: Day): Promise<ReadonlyMap<string, DayAndMonth>> {
  const { rows } = await db.query<DayAndMonth & { subscriptionId: string }>(BEST, [customerId, dayStartsAt, dayEndsAt]);
  return new Map(rows.map(({ subscriptionId, ...limits }) => [subscriptionId, limits]));
}
