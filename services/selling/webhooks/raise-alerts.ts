import { type Pool } from 'pg';
import { DAILY_IN_FORCE, MONTHLY_IN_FORCE, OVERAGE_IN_FORCE } from '../../../plugins/stores/postgres/access-record/limits-in-force';

/** An arbitrary number that nothing else locks. The lock lets one dashboard evaluate at a time. */
const LOCK = 720_260_004;

/** Shares for customers who have not chosen their own. */
const USUAL_PERCENTS = '{50,80,100}';
const MAILED_PERCENT = 80;

/** True if an alert is mailed: somebody is known to read it, and the kind was not switched off. */
const WANTS_MAIL = `
customer_mail_address(reached.customer_id) IS NOT NULL
AND COALESCE((
  SELECT CASE reached.kind WHEN 'quota_daily' THEN quota_daily WHEN 'quota_monthly' THEN quota_monthly ELSE key_expiry END
  FROM alert_preference WHERE customer_id = reached.customer_id
), true)`;

/**
 * Shares of a limit that were reached, by customers who used anything today (no other customer can have reached one), and keys in their
 * last week. Yesterday still counts for a minute, since usage is written up to a second after it happened. Existing alerts are left out
 * first, so that no numbers are wasted; the unique constraints decide. Deliveries begin in the same statement, so that no alert lacks its
 * webhook.
 */
const RAISE = `
WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${LOCK}) AS mine),
today AS MATERIALIZED (
  SELECT DISTINCT ((now() - age) AT TIME ZONE $1)::date AS day FROM (VALUES (interval '0'), (interval '1 minute')) AS moment(age)
),
standing AS (
  SELECT s.id AS subscription_id, s.customer_id, today.day::timestamp AS day, date_trunc('month', today.day::timestamp) AS month,
    ${DAILY_IN_FORCE}::bigint AS daily, ${MONTHLY_IN_FORCE}::bigint AS monthly, ${OVERAGE_IN_FORCE} AS overage,
    (SELECT percents FROM alert_threshold WHERE subscription_id = s.id) AS percents,
    u.spent_redis + u.spent_postgres - u.refunded AS used_daily,
    (
      SELECT sum(m.spent_redis + m.spent_postgres - m.refunded) FROM usage m
      WHERE m.subscription_id = s.id AND m.day BETWEEN date_trunc('month', today.day::timestamp)::date AND today.day
    )::bigint AS used_monthly
  FROM today
  JOIN usage u ON u.day = today.day
  JOIN subscription s ON s.id = u.subscription_id AND s.state <> 'cancelled'
  JOIN product p ON p.id = s.product_id
  LEFT JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
  WHERE (SELECT mine FROM turn)
),
reached AS (
  SELECT customer_id, kind, subscription_id, NULL::uuid AS credential_id, period, percent, used, quota_limit, is_included,
    percents IS NOT NULL OR percent >= ${MAILED_PERCENT} AS is_mailed
  FROM standing,
    LATERAL (VALUES
      ('quota_daily', day, used_daily, daily, false), ('quota_monthly', month, used_monthly, monthly, false),
      ('quota_daily', day, used_daily, (overage ->> 'daily')::bigint, true), ('quota_monthly', month, used_monthly, (overage ->> 'monthly')::bigint, true)
    ) AS win(kind, period, used, quota_limit, is_included),
    LATERAL (
      SELECT max(step) AS percent FROM unnest(COALESCE(percents, '${USUAL_PERCENTS}')) AS step WHERE used * 100 >= quota_limit * step
    ) AS share
  WHERE used > 0 AND percent IS NOT NULL
    AND (NOT is_included OR quota_limit < CASE kind WHEN 'quota_daily' THEN daily ELSE monthly END)
    AND NOT EXISTS (
      SELECT 1 FROM alert known
      WHERE known.subscription_id = standing.subscription_id AND known.kind = win.kind AND known.period = win.period
        AND known.is_included = win.is_included AND known.percent >= share.percent
        AND known.quota_limit >= win.quota_limit
    )
  UNION ALL
  SELECT k.customer_id, 'key_expiry', NULL, k.id, k.expires_at AT TIME ZONE 'UTC', NULL, NULL, NULL, false, true
  FROM credential k
  WHERE (SELECT mine FROM turn) AND k.state = 'active' AND k.expires_at > now() AND k.expires_at <= now() + interval '7 days'
    AND k.expires_at > k.created_at + interval '7 days'
    AND NOT EXISTS (SELECT 1 FROM alert known WHERE known.credential_id = k.id AND known.period = k.expires_at AT TIME ZONE 'UTC')
),
raised AS (
  INSERT INTO alert (customer_id, kind, subscription_id, credential_id, period, percent, used, quota_limit, is_included, is_mail_due)
  SELECT customer_id, kind, subscription_id, credential_id, period, percent, used, quota_limit, is_included, is_mailed AND ${WANTS_MAIL} FROM reached
  ORDER BY customer_id, kind, subscription_id, percent
  ON CONFLICT DO NOTHING
  RETURNING id, customer_id, kind, at, is_mail_due
),
mailed AS (
  INSERT INTO outbox (kind, subject) SELECT DISTINCT 'alerts', customer_id FROM raised WHERE is_mail_due ORDER BY customer_id
  ON CONFLICT (kind, subject, detail) DO UPDATE SET due_at = COALESCE(outbox.due_at, now()), asked_at = now()
),
queued AS (
  INSERT INTO webhook_delivery (webhook_id, alert_id, event_id, event, event_at)
  SELECT w.id, raised.id, raised.id, replace(raised.kind, '_', '.'), raised.at
  FROM raised JOIN webhook w ON w.customer_id = raised.customer_id AND w.state = 'active'
)
SELECT count(*)::integer AS count FROM raised`;

/**
 * Alerts every customer about limits that were reached to 50, 80 or 100 %, or to the customer's own shares, and about keys that expire
 * within 7 days. Each alert is raised once for a limit, however often and by however many processes this is called. A plan that sells use
 * above what its price includes has shares of both: of the included use, and of the limits at which requests are refused. If several shares
 * were reached at once, only the highest is reported. A key that was made for less than 7 days ends as its customer intended, and needs no
 * alert.
 * @param options.timeZone quota time zone, IANA name
 * @returns how many alerts are new
 */
export async function raiseAlerts(db: Pool, { timeZone }: { timeZone: string }): Promise<number> {
  const { rows } = await db.query<{ count: number }>(RAISE, [timeZone]);
  return rows[0]?.count ?? 0;
}
