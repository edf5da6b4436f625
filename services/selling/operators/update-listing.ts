import { type Pool, type PoolClient } from 'pg';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { SUSPENSION_OF_ROW } from '../customers/suspension-view';

/** Days over which use is counted. */
export const USE_DAYS = 30;

/**
 * $1: ids of customers, $2: today. Each table is read once for all of them. Addresses under `.invalid` (RFC 2606) belong to no real person:
 * they are readers of the public pages, and erased accounts.
 */
const LINES = `
SELECT c.id, c.email, c.display_name AS name, c.created_at, CASE WHEN s.reason IS NOT NULL THEN ${SUSPENSION_OF_ROW}::jsonb END AS suspended,
  COALESCE(term.plans, '[]') AS plans, COALESCE(price.rates, '[]') AS rates, COALESCE(price.rate, 0) AS rate,
  COALESCE(used.used, 0) AS used, COALESCE(used.used - used.before, 0) AS growth, COALESCE(used.last_seen_on, '-infinity') AS last_seen_on,
  CASE WHEN s.reason IS NOT NULL THEN 'suspended' WHEN deletion.customer_id IS NOT NULL THEN 'leaving'
    WHEN term.active > 0 THEN 'active' WHEN term.ended > 0 THEN 'leaving' ELSE 'idle' END AS state
FROM customer c
LEFT JOIN suspension s ON s.customer_id = c.id
LEFT JOIN account_deletion deletion ON deletion.customer_id = c.id AND deletion.erased_at IS NULL
LEFT JOIN (
  SELECT customer_id, count(*) FILTER (WHERE until IS NULL AND state = 'active') AS active,
    count(*) FILTER (WHERE state = 'active' AND until > $2::date - ${USE_DAYS}) AS ended,
    jsonb_agg(jsonb_build_object('product', product_id, 'plan', plan_name, 'state', state) ORDER BY product_id)
      FILTER (WHERE until IS NULL AND state <> 'cancelled') AS plans
  FROM subscription_term WHERE customer_id = ANY ($1::uuid[]) GROUP BY 1
) AS term ON term.customer_id = c.id
LEFT JOIN (
  SELECT customer_id, jsonb_agg(jsonb_build_object('currency', currency, 'amount', amount::text) ORDER BY currency) AS rates, max(amount) AS rate
  FROM (
    SELECT customer_id, currency, sum(price) AS amount FROM subscription_term
    WHERE customer_id = ANY ($1::uuid[]) AND until IS NULL AND state = 'active' AND price > 0 GROUP BY 1, 2
  ) AS sums GROUP BY 1
) AS price ON price.customer_id = c.id
LEFT JOIN (
  SELECT customer_id, COALESCE(sum(admitted) FILTER (WHERE day > $2::date - ${USE_DAYS}), 0)::bigint AS used,
    COALESCE(sum(admitted) FILTER (WHERE day <= $2::date - ${USE_DAYS} AND day > $2::date - ${2 * USE_DAYS}), 0)::bigint AS before,
    max(day) FILTER (WHERE admitted > 0) AS last_seen_on
  FROM customer_day WHERE customer_id = ANY ($1::uuid[]) AND day <= $2::date GROUP BY 1
) AS used ON used.customer_id = c.id
WHERE c.id = ANY ($1::uuid[]) AND c.email NOT LIKE '%.invalid'`;

/** Keeps the last day of use that is older than the stored counts. */
const UPDATE = `
WITH line AS MATERIALIZED (${LINES}), wanted AS (
  SELECT line.*, lists.list FROM line CROSS JOIN LATERAL (
    SELECT 'all' UNION ALL SELECT 'state:' || line.state UNION ALL SELECT 'product:' || (each ->> 'product') FROM jsonb_array_elements(line.plans) AS each
  ) AS lists (list)
), gone AS (
  DELETE FROM customer_listing l WHERE l.customer_id = ANY ($1::uuid[])
    AND NOT EXISTS (SELECT FROM wanted WHERE wanted.id = l.customer_id AND wanted.list = l.list)
)
INSERT INTO customer_listing AS old (
  list, customer_id, email, name, created_at, state, suspended, plans, rates, rate, used, growth, last_seen_on, counted_on
)
SELECT list, id, email, name, created_at, state, suspended, plans, rates, rate, used, growth, last_seen_on, $2::date FROM wanted ORDER BY id, list
ON CONFLICT (list, customer_id) DO UPDATE SET
  email = excluded.email, name = excluded.name, state = excluded.state, suspended = excluded.suspended, plans = excluded.plans,
  rates = excluded.rates, rate = excluded.rate, used = excluded.used, growth = excluded.growth,
  last_seen_on = GREATEST(old.last_seen_on, excluded.last_seen_on), counted_on = excluded.counted_on, counted_at = now()`;

const LOCK = 720_260_370;
/** Customers at a time. */
const BATCH = 2_000;

const CHANGED = `
DELETE FROM customer_changed WHERE number IN (SELECT number FROM customer_changed ORDER BY number LIMIT ${BATCH})
RETURNING customer_id AS id`;

/** Customers whose 30 days have moved on, and customers who were active since they were counted. */
const STALE = `
(SELECT customer_id AS id FROM customer_listing
 WHERE list = 'all' AND counted_on < $1::date AND (used > 0 OR growth <> 0 OR state = 'leaving') LIMIT ${BATCH})
UNION
(SELECT d.customer_id FROM customer_day d JOIN customer_listing l ON l.list = 'all' AND l.customer_id = d.customer_id
 WHERE d.day = $1::date AND l.counted_at < now() - interval '5 minutes' LIMIT ${BATCH})`;

async function updateLines(client: PoolClient, ids: readonly string[], today: string): Promise<void> {
  if (ids.length > 0) await client.query(UPDATE, [[...new Set(ids)].sort(), today]);
}

/**
 * Does one batch of work, unless another process is doing it.
 * @returns how many customers it processed
 */
function withLock(db: Pool, today: string, find: (client: PoolClient) => Promise<readonly { readonly id: string }[]>): Promise<number> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ got: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS got', [LOCK]);
    if (!rows[0]?.got) return 0;
    const ids = (await find(client)).map(({ id }) => id);
    await updateLines(client, ids, today);
    return ids.length;
  });
}

/**
 * Updates the lines of changed customers, the oldest change first, at most one batch. Cheap if nothing changed.
 * @param today `YYYY-MM-DD` in the quota time zone
 * @returns how many changes were processed; fewer than a batch if none is left
 */
export async function updateChangedCustomers(db: Pool, today: string): Promise<number> {
  const { rowCount } = await db.query('SELECT 1 FROM customer_changed LIMIT 1');
  if (!rowCount) return 0;
  return withLock(db, today, async (client) => (await client.query<{ id: string }>(CHANGED)).rows);
}

/**
 * Updates the whole list: changed customers, and a batch of active ones.
 * @param today as above
 */
export async function updateListing(db: Pool, today: string): Promise<void> {
  while ((await updateChangedCustomers(db, today)) >= BATCH);
  await withLock(db, today, async (client) => (await client.query<{ id: string }>(STALE, [today])).rows);
}
