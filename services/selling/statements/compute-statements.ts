import { windowsAt } from '../../../plugins/core/access/quota';
import { computeStatement, daysOfMonth, type Statement, type StatementUse, type SubscriptionTerm } from './statement';
import { includedLimits } from '../catalogue/included-limits';
import { type Database } from '../../../plugins/stores/postgres/database';

/** A statement of one month, without its customer. */
export interface Content extends Statement {
  /** IANA name of the zone in which its days turn. */
  readonly timeZone: string;
  /** The first known day: in the month in which the customer's first subscription began, or in which records began. */
  readonly fromDay: string;
}

export function groupBy<Each>(all: readonly Each[], keyOf: (each: Each) => string): Map<string, Each[]> {
  const groups = new Map<string, Each[]>();
  for (const each of all) {
    const key = keyOf(each);
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return groups;
}

/**
 * The terms of each day: of equal terms the last, in the order in which they began. A subscription can change more often than a process
 * wants to read, but has few plans and prices. A term that ends at the beginning of a day did not hold on that day. Consecutive days with
 * the same term are one row. What a payment provider charges counts as paid in advance, from its first day to the last paid day.
 */
const TERMS = `
WITH month AS (SELECT $3::timestamp AT TIME ZONE $2 AS start, ($4::date + 1)::timestamp AT TIME ZONE $2 AS "end"),
paid AS (
  SELECT customer_id, product_id, (made_at AT TIME ZONE $2)::date AS from_day,
    CASE WHEN status = 'ended' THEN (period_end AT TIME ZONE $2)::date ELSE 'infinity' END AS to_day
  FROM paid_subscription WHERE customer_id = ANY ($1) AND status <> 'waiting'
),
spans AS (
  SELECT subscription_id, customer_id, product_id, ROW(plan_name, price, currency, daily, monthly, overage, state) AS kind, (GREATEST(since, start) AT TIME ZONE $2)::date AS from_day,
    ((LEAST(until, "end") - interval '1 microsecond') AT TIME ZONE $2)::date AS to_day, max(id) AS id
  FROM subscription_term, month WHERE customer_id = ANY ($1) AND since < "end" AND (until IS NULL OR until > start) GROUP BY 1, 2, 3, 4, 5, 6
),
days AS (
  SELECT subscription_id, day::date AS day, max(id) AS id, EXISTS (
    SELECT FROM paid p WHERE p.customer_id = s.customer_id AND p.product_id = s.product_id AND day::date BETWEEN p.from_day AND p.to_day
  ) AS is_paid
  FROM spans s CROSS JOIN LATERAL generate_series(from_day::timestamp, to_day::timestamp, interval '1 day') AS day
  GROUP BY subscription_id, customer_id, product_id, kind, day
),
runs AS (
  SELECT id, is_paid, min(day) AS from_day, max(day) AS to_day
  FROM (SELECT id, is_paid, day, day - (row_number() OVER (PARTITION BY id, is_paid ORDER BY day))::integer AS run FROM days) AS placed
  GROUP BY id, is_paid, run
)
SELECT t.customer_id AS "customerId", t.subscription_id AS "subscriptionId", product_id AS product, plan_name AS plan, price::text, currency,
  ${includedLimits('t')},
  state = 'active' AS "isActive", is_paid AS "isPaidInAdvance", to_char(from_day, 'YYYY-MM-DD') AS "fromDay", to_char(to_day, 'YYYY-MM-DD') AS "toDay"
FROM runs JOIN subscription_term t USING (id) ORDER BY t.subscription_id, id, from_day`;

const USE = `
WITH requests AS MATERIALIZED (
  SELECT s.id, h.day, sum(h.admitted) AS admitted
  FROM subscription s JOIN credential c ON c.customer_id = s.customer_id AND c.mode = 'live'
  JOIN key_hour h ON h.credential_id = c.id AND h.product_id = s.product_id AND h.day BETWEEN $2::date AND $3::date
  WHERE s.id = ANY ($1) GROUP BY s.id, h.day
)
SELECT subscription AS "subscriptionId", to_char(usage.day, 'YYYY-MM-DD') AS day,
  COALESCE(sum(spent_redis + spent_postgres - refunded_unused) FILTER (WHERE NOT is_test), 0)::float8 AS charged,
  COALESCE(sum(refunded - refunded_unused) FILTER (WHERE NOT is_test), 0)::float8 AS refunded,
  COALESCE(sum(spent_redis + spent_postgres - refunded) FILTER (WHERE is_test), 0)::float8 AS test,
  COALESCE(max(requests.admitted), 0)::float8 AS requests
FROM unnest($1::uuid[]) AS subscription
CROSS JOIN LATERAL (VALUES (subscription, false), (test_counter(subscription), true)) AS counter(id, is_test)
JOIN usage ON usage.subscription_id = counter.id AND usage.day BETWEEN $2::date AND $3::date
LEFT JOIN requests ON requests.id = subscription AND requests.day = usage.day
GROUP BY subscription, usage.day`;

const FIRST = `
SELECT customer_id AS id, to_char(min(since) AT TIME ZONE $2, 'YYYY-MM-DD') AS day FROM subscription_term WHERE customer_id = ANY ($1)
GROUP BY customer_id ORDER BY customer_id`;

/** First days by customer, without customers that never had a subscription. */
export async function findFirstDays(
  db: Database,
  { customers, timeZone }: Pick<BatchQuery, 'customers' | 'timeZone'>,
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; day: string }>(FIRST, [customers, timeZone]);
  return new Map(rows.map(({ id, day }) => [id, day]));
}

export interface BatchQuery {
  /** Ids. */
  readonly customers: readonly string[];
  /** `YYYY-MM`. */
  readonly month: string;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** Unix seconds. */
  readonly now: number;
}

type TermRow = SubscriptionTerm & { readonly customerId: string };

/** Terms and use of these customers in a month, up to now. */
export async function readMonth(db: Database, { customers, month, timeZone, now }: BatchQuery) {
  const days = daysOfMonth(month);
  const [firstDay = '', lastDay = ''] = [days[0], days.at(-1)];
  const { day: today } = windowsAt(now, timeZone);
  const { rows: terms } = await db.query<TermRow>(TERMS, [customers, timeZone, firstDay, today < lastDay ? today : lastDay]);
  const subscriptions = [...new Set(terms.map(({ subscriptionId }) => subscriptionId))];
  const { rows: use } = await db.query<StatementUse>(USE, [subscriptions, firstDay, lastDay]);
  return { terms, use };
}

/**
 * Contents by customer. A customer whose records begin later has none, and no customer has one before the month begins: unknown is not
 * zero.
 */
export async function computeContents(db: Database, query: BatchQuery): Promise<Map<string, Content>> {
  const { customers, month, timeZone, now } = query;
  const days = daysOfMonth(month);
  const [firstDay = '', lastDay = ''] = [days[0], days.at(-1)];
  if (windowsAt(now, timeZone).month < month) return new Map();
  const begins = [...(await findFirstDays(db, { customers, timeZone }))].filter(([, begin]) => begin <= lastDay);
  const { terms, use } = await readMonth(db, { ...query, customers: begins.map(([id]) => id) });
  const termsOf = groupBy(terms, ({ customerId }) => customerId);
  const useOf = groupBy(use, ({ subscriptionId }) => subscriptionId);
  return new Map(
    begins.map(([id, begin]) => {
      const own = termsOf.get(id) ?? [];
      const used = [...new Set(own.map(({ subscriptionId }) => subscriptionId))].flatMap((each) => useOf.get(each) ?? []);
      return [id, { ...computeStatement(month, own, used), timeZone, fromDay: begin > firstDay ? begin : firstDay }];
    }),
  );
}
