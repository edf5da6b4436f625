import { type Pool } from 'pg';
import { type KeyMode } from '../../../plugins/core/ports';

/** The owner of usage: a customer's subscriptions together, or one subscription. */
export type UsageOwner = { readonly customerId: string } | { readonly subscriptionId: string };

/** Days are `YYYY-MM-DD` in the quota time zone; both ends belong to the period. */
export type UsageQuery = UsageOwner & { readonly fromDay: string; readonly toDay: string };

/** What keys of one mode used of one subscription on one day. Counts are requests; with Redis they are up to a second old. */
export interface DailyUsage {
  readonly subscriptionId: string;
  /** Product id; null when the subscription no longer exists. */
  readonly product: string | null;
  readonly mode: KeyMode;
  readonly day: string;
  /** Units taken, without those that no request used. */
  readonly charged: number;
  /** Units given back because a service or its upstream failed, or because the catalogue exempts the request. */
  readonly refunded: number;
  /** Units of these that were given back for requests; see `mostRefundsOf`. */
  readonly refundedRequests: number;
  /** `charged - refunded`: what counts against the limits. */
  readonly used: number;
}

const QUERY = `
  SELECT owned.id AS "subscriptionId", owned.product_id AS product, counter.mode, to_char(usage.day, 'YYYY-MM-DD') AS day,
    (spent_redis + spent_postgres - refunded_unused)::float8 AS charged, (refunded - refunded_unused)::float8 AS refunded,
    refunded_requests::float8 AS "refundedRequests",
    (spent_redis + spent_postgres - refunded)::float8 AS used
  FROM (
    SELECT id, product_id FROM subscription WHERE customer_id = $1::uuid
    UNION ALL
    SELECT $2::uuid, (SELECT product_id FROM subscription WHERE id = $2::uuid) WHERE $2::uuid IS NOT NULL
  ) AS owned
  CROSS JOIN LATERAL (VALUES ('live', owned.id), ('test', test_counter(owned.id))) AS counter (mode, id)
  JOIN usage ON usage.subscription_id = counter.id AND usage.day BETWEEN $3::date AND $4::date
  ORDER BY usage.day, owned.product_id, owned.id, counter.mode`;

/** Usage by day, then product, live before test; days without usage have no entry. */
export async function readUsage(db: Pick<Pool, 'query'>, query: UsageQuery): Promise<DailyUsage[]> {
  const customerId = 'customerId' in query ? query.customerId : null;
  const subscriptionId = 'subscriptionId' in query ? query.subscriptionId : null;
  const { rows } = await db.query<DailyUsage>(QUERY, [customerId, subscriptionId, query.fromDay, query.toDay]);
  return rows;
}
