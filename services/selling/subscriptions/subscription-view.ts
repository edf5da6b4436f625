import { type SubscriptionState } from '../../../plugins/core/ports';
import { type Overage, type Rate } from '../../../plugins/core/catalogue/catalogue';
import { requireCustomer } from '../customers/find-customer';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { type Suspension, suspensionOf } from '../customers/suspension-view';
import { OperationRefused } from '../operations/operation-refused';
import {
  DAILY_IN_FORCE,
  MONTHLY_IN_FORCE,
  OVERAGE_IN_FORCE,
  RATE_IN_FORCE,
} from '../../../plugins/stores/postgres/access-record/limits-in-force';

/** A subscription as people see it. */
export interface SubscriptionView {
  readonly id: string;
  readonly customerId: string;
  /** Email address. */
  readonly customer: string;
  readonly product: string;
  /** Null: the product's base limits. */
  readonly plan: string | null;
  readonly state: SubscriptionState;
  readonly suspended: Suspension | null;
  /**
   * Limits in force, requests a day and a month: override, else plan, else base; a day's limit is no higher than the customer's own cap.
   */
  readonly daily: number;
  readonly monthly: number;
  /** How fast requests may come; null: no limit. */
  readonly rate: Rate | null;
  readonly dailyOverride: number | null;
  readonly monthlyOverride: number | null;
  readonly rateOverride: Rate | null;
  /** The subscription's own price a month, and its currency; null if the plan's counts. */
  readonly priceOverride: string | null;
  readonly currency: string | null;
  /** What the plan sells above these included limits; the limits in force are then the cap. Null: nothing. */
  readonly overage: (Pick<Overage, 'per' | 'price'> & { readonly daily: number; readonly monthly: number }) | null;
  /** When its own price and limits end by themselves; null: never, or there are none. */
  readonly overridesEndAt: Date | null;
  /** Set by the customer for itself. */
  readonly dailyCap: number | null;
  readonly createdAt: Date;
}

const SELECT = `
SELECT s.id, s.customer_id AS "customerId", c.email AS customer, s.product_id AS product, s.plan_name AS plan, s.state,
  ${suspensionOf('subscription', 's.id')} AS suspended,
  ${DAILY_IN_FORCE} AS daily, ${MONTHLY_IN_FORCE} AS monthly, ${RATE_IN_FORCE} AS rate,
  s.daily_override AS "dailyOverride", s.monthly_override AS "monthlyOverride", s.rate_override AS "rateOverride",
  CASE WHEN s.price_override_currency = l.currency THEN s.price_override::text END AS "priceOverride", l.currency,
  ${OVERAGE_IN_FORCE} AS overage,
  (SELECT ends_at FROM subscription_limit_term t WHERE t.subscription_id = s.id) AS "overridesEndAt", s.daily_cap AS "dailyCap", s.created_at AS "createdAt"
FROM subscription s
JOIN customer c ON c.id = s.customer_id
JOIN product p ON p.id = s.product_id
LEFT JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name`;

/** One customer's subscriptions, in any state, by product. */
export async function viewSubscriptions(db: Database, customerId: string): Promise<SubscriptionView[]> {
  const { rows } = await db.query<SubscriptionView>(`${SELECT} WHERE s.customer_id = $1 ORDER BY s.product_id`, [customerId]);
  return rows;
}

/** True when an operator set limits for this subscription alone. */
export function hasOwnLimits({ dailyOverride, monthlyOverride, rateOverride }: SubscriptionView): boolean {
  return dailyOverride !== null || monthlyOverride !== null || rateOverride !== null;
}

/** Names a subscription; with `customerId` only among that customer's, another's then reads as unknown. */
export interface SubscriptionRef {
  readonly id: string;
  readonly customerId?: string;
}

/** Reads a subscription and locks it until the transaction ends. @throws OperationRefused `subscription_unknown` */
export async function lockSubscription(db: Database, { id, customerId }: SubscriptionRef): Promise<SubscriptionView> {
  const { rows } = isUuid(id)
    ? await db.query<SubscriptionView>(`${SELECT} WHERE s.id = $1 AND ($2::uuid IS NULL OR s.customer_id = $2) FOR UPDATE OF s`, [
        id,
        customerId ?? null,
      ])
    : { rows: [] };
  if (!rows[0]) throw new OperationRefused('subscription_unknown', `there is no subscription "${id}"`);
  return rows[0];
}

/**
 * A customer's subscriptions in any state, by product.
 * @param options.customer email address or id
 * @throws OperationRefused `customer_unknown`
 */
export async function listSubscriptions(db: Database, { customer }: { customer: string }): Promise<SubscriptionView[]> {
  const { id } = await requireCustomer(db, customer);
  return viewSubscriptions(db, id);
}
