import { type Pool, type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { addUpMissedAnswers } from '../outages/product-answers';
import { addDays } from '../statements/statement';

/** Figures of one product on one plan. */
export interface ProductFigures {
  readonly product: string;
  /** Null: base limits. */
  readonly plan: string | null;
  /** Active now. */
  readonly subscriptions: number;
  /** Monthly price of all of them; null if there is no price. */
  readonly revenue: string | null;
  readonly currency: string | null;
  /** Units of live keys in the period: taken, and given back because our side or the source failed. */
  readonly charged: number;
  readonly refunded: number;
  /** Most customers on one day of the period. */
  readonly mostCustomersADay: number;
}

const LOCK = 720_260_062;

const MISSING = `
SELECT to_char(d, 'YYYY-MM-DD') AS day FROM generate_series($1::date - 30, $1::date - 1, interval '1 day') AS d
WHERE NOT EXISTS (SELECT FROM product_day WHERE day = d::date)`;

/**
 * `subscriptions` only for today, because the number on earlier days is not stored. Exempt requests and reserved units that were not used
 * are not failures and were meant to be given back, so neither count has them.
 */
const ADD_UP = `
WITH used AS (
  SELECT s.product_id, COALESCE(s.plan_name, '') AS plan_name,
    sum(u.spent_redis + u.spent_postgres - u.refunded_exempt - u.refunded_unused)::bigint AS charged,
    sum(u.refunded - u.refunded_exempt - u.refunded_unused)::bigint AS refunded, count(*)::integer AS customers
  FROM usage u JOIN subscription s ON s.id = u.subscription_id WHERE u.day = $1::date GROUP BY 1, 2
), subscribed AS (
  SELECT product_id, COALESCE(plan_name, '') AS plan_name, count(*)::integer AS subscriptions
  FROM subscription WHERE $2::boolean AND state = 'active' GROUP BY 1, 2
)
INSERT INTO product_day (day, product_id, plan_name, charged, refunded, customers, subscriptions)
SELECT $1::date, product_id, plan_name, COALESCE(charged, 0), COALESCE(refunded, 0), COALESCE(customers, 0), subscriptions
FROM used FULL JOIN subscribed USING (product_id, plan_name)`;

async function addUpDay(client: PoolClient, day: string, isToday: boolean): Promise<void> {
  await client.query('DELETE FROM product_day WHERE day = $1', [day]);
  await client.query(ADD_UP, [day, isToday]);
}

/**
 * Adds up today, yesterday (whose refunds may still come) and missed days of the last 30, and responses of earlier days. One process does
 * so at a time; others do nothing.
 * @param today `YYYY-MM-DD` in the quota time zone
 */
export function addUpProducts(db: Pool, today: string): Promise<void> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ got: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS got', [LOCK]);
    if (!rows[0]?.got) return;
    const missing = await client.query<{ day: string }>(MISSING, [today]);
    const days = new Set([...missing.rows.map(({ day }) => day), addDays(today, -1)]);
    for (const day of days) await addUpDay(client, day, false);
    await addUpDay(client, today, true);
    await addUpMissedAnswers(client, today);
    await client.query("DELETE FROM product_day WHERE day < $1::date - interval '400 days'", [today]);
  });
}

const READ = `
WITH period AS (
  SELECT product_id, plan_name, sum(charged)::float8 AS charged, sum(refunded)::float8 AS refunded, max(customers) AS "mostCustomersADay",
    COALESCE((array_agg(subscriptions ORDER BY day DESC) FILTER (WHERE subscriptions IS NOT NULL))[1], 0) AS subscriptions
  FROM product_day WHERE day BETWEEN $1::date - 29 AND $1::date GROUP BY 1, 2
)
SELECT period.product_id AS product, NULLIF(plan_name, '') AS plan, charged, refunded, "mostCustomersADay", period.subscriptions,
  (l.price * period.subscriptions)::text AS revenue, l.currency
FROM period LEFT JOIN plan l ON l.product_id = period.product_id AND l.name = period.plan_name
ORDER BY period.product_id, period.plan_name`;

/**
 * The 30 days up to today, as last added up.
 * @param today `YYYY-MM-DD` in the quota time zone
 */
export async function readProductFigures(db: Database, today: string): Promise<ProductFigures[]> {
  return (await db.query<ProductFigures>(READ, [today])).rows;
}
