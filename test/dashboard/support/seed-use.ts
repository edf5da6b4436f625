import { type Pool } from 'pg';

const HOUR_MS = 3_600_000;
/** Of the quota time zone before UTC. */
const ZONE_MS = 5.5 * HOUR_MS;

const placeOf = (ms: number): { day: string; hour: number } => {
  const there = new Date(ms + ZONE_MS);
  return { day: there.toISOString().slice(0, 10), hour: there.getUTCHours() };
};
/** Day in the quota time zone this many days ago. */
export const dayAgo = (days: number): string => placeOf(Date.now() - days * 24 * HOUR_MS).day;

const SUBSCRIBE = [
  `INSERT INTO subscription (customer_id, product_id, plan_name, state, daily_override, created_at)
   SELECT $1, product, plan, state, daily, now() - interval '75 days'
   FROM (VALUES ('api-ip', NULL, 'active', NULL), ('api-pincode', NULL, 'active', NULL), ('api-gst', 'Star', 'active', NULL),
     ('api-seo', NULL, 'paused', 1000)) AS given (product, plan, state, daily)`,
  "UPDATE subscription_term SET since = since - interval '75 days' WHERE customer_id = $1",
  // In the middle of the last month, as its statement shows.
  "UPDATE subscription SET plan_name = 'Star' WHERE customer_id = $1 AND product_id = 'api-ip'",
  `UPDATE subscription_term SET since = CASE WHEN until IS NULL THEN date_trunc('month', now()) - interval '15 days' ELSE since END,
     until = CASE WHEN until IS NOT NULL THEN date_trunc('month', now()) - interval '15 days' END
   WHERE customer_id = $1 AND product_id = 'api-ip'`,
];

const SPEND = `
INSERT INTO usage (subscription_id, day, spent_redis, refunded)
SELECT CASE WHEN mode = 'test' THEN test_counter(s.id) ELSE s.id END, given.day, given.charged, given.refunded
FROM json_to_recordset($2) AS given(product text, mode text, day date, charged bigint, refunded bigint)
JOIN subscription s ON s.customer_id = $1 AND s.product_id = given.product`;

const REFUSE = `
INSERT INTO denial_count (credential_id, product_id, day, code, count)
SELECT $1, product, day, code, count FROM json_to_recordset($2) AS given(product text, day date, code text, count bigint)`;

const HOURS = `
INSERT INTO key_hour (credential_id, day, hour, product_id, admitted, refused, unavailable, succeeded, rejected, failed, abandoned, took)
SELECT $1, day, hour, product, admitted, refused, unavailable, succeeded, rejected, failed, abandoned, took
FROM json_to_recordset($2) AS given(day date, hour smallint, product text, admitted bigint, refused bigint, unavailable bigint,
  succeeded bigint, rejected bigint, failed bigint, abandoned bigint, took integer[])`;

const DAYS = `
INSERT INTO customer_day (customer_id, day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
SELECT $1, day, product, admitted, succeeded, rejected, failed, abandoned, took
FROM json_to_recordset($2) AS given(day date, product text, admitted bigint, succeeded bigint, rejected bigint, failed bigint,
  abandoned bigint, took bigint[])`;

/** Most of them quick; none for a product whose answers are not measured. */
function answersOf(admitted: number, product: string): object {
  if (product === 'api-pincode') return {};
  const [rejected, failed, abandoned] = [Math.round(admitted / 20), Math.round(admitted / 60), Math.round(admitted / 200)];
  const answered = admitted - abandoned;
  const took = [0, 0, Math.floor(answered / 2), Math.floor(answered / 3), 0, 0, 0, 0, 0, 0, 0, 0];
  took[6] = answered - took.reduce((sum, count) => sum + count, 0);
  return { succeeded: answered - rejected - failed, rejected, failed, abandoned, took };
}

/** Thirty days that rise and fall as weeks do; today near a limit, at one and far from one. */
function usualDays(): { product: string; mode: string; day: string; charged: number; refunded: number }[] {
  const today: Record<string, number> = { 'api-ip': 61_402, 'api-pincode': 1_000, 'api-gst': 84_010 };
  const most: Record<string, number> = { 'api-ip': 48_000, 'api-pincode': 900, 'api-gst': 2_400 };
  const live = Object.keys(today).flatMap((product, order) =>
    Array.from({ length: 30 }, (_, back) => {
      const usual = Math.round(((1 + Math.sin(back / 1.1 + order)) * (most[product] ?? 0)) / 2) + 40;
      return {
        product,
        mode: 'live',
        day: dayAgo(back),
        charged: back ? usual : (today[product] ?? 0),
        refunded: back % 6 === order ? 37 : 0,
      };
    }),
  );
  const test = [12, 2_400].map((charged, back) => ({ product: 'api-ip', mode: 'test', day: dayAgo(back), charged, refunded: 0 }));
  // All of today's limit is used.
  return [...live, ...test].map((each) => (each.product === 'api-pincode' ? { ...each, refunded: 0 } : each));
}

/** Two days whose nights are quiet, with one hour in which nothing could be checked, and a week before them. */
function usualHours(): object[] {
  // Hours of the zone begin half an hour after those of UTC.
  const last = Math.floor((Date.now() - HOUR_MS / 2) / HOUR_MS) * HOUR_MS + HOUR_MS / 2;
  const hours = Array.from({ length: 48 }, (_, index) => ({ index, ...placeOf(last - (47 - index) * HOUR_MS) })).filter(
    ({ index }) => index % 24 > 5,
  );
  const earlier = Array.from({ length: 6 }, (_, index) => ({ index: index + 3, day: dayAgo(index + 3), hour: 12 }));
  return [...hours, ...earlier].flatMap(({ index, day, hour }) =>
    ['api-ip', 'api-pincode'].map((product, order) => {
      const admitted = Math.round((2 + Math.sin(index / 3 + order)) * 700) - order * 300;
      // Services told nothing about the oldest two days.
      const answers = earlier.some((each) => each.day === day && each.index > 6) ? {} : answersOf(admitted, product);
      const refused = index % 7 === order ? 90 : 0;
      return { day, hour, product, admitted, refused, unavailable: index === 30 ? 40 : 0, ...answers };
    }),
  );
}

/** Subscriptions near, at and far from their limits, and thirty days of use, by hour for this key. */
export async function seedUse(pool: Pool, customerId: string, keyId: string): Promise<void> {
  for (const statement of SUBSCRIBE) await pool.query(statement, [customerId]);
  const days = usualDays();
  await pool.query(SPEND, [customerId, JSON.stringify(days)]);
  const refusals = Array.from({ length: 12 }, (_, index) => ({
    day: dayAgo(index * 2),
    product: index % 2 ? 'api-ip' : 'api-pincode',
    code: ['caller_not_whitelisted', 'quota_daily_exceeded', 'key_expired'][index % 3],
    count: 40 + index * 17,
  }));
  await pool.query(REFUSE, [keyId, JSON.stringify(refusals)]);
  await pool.query(HOURS, [keyId, JSON.stringify(usualHours())]);
  const live = days.filter(({ mode }) => mode === 'live');
  const answered = live.map(({ day, product, charged }) => ({ day, product, admitted: charged, ...answersOf(charged, product) }));
  await pool.query(DAYS, [customerId, JSON.stringify(answered)]);
}
