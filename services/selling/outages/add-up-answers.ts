import { type Database } from '../../../plugins/stores/postgres/database';
import { addDays } from '../statements/statement';

/** Replaces earlier sums: an erased account removes its counts from the days that are still added up. */
const ADD_UP = `
INSERT INTO product_answers AS old (day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
SELECT day, product_id, sum(admitted), sum(succeeded), sum(rejected), sum(failed), sum(abandoned), sum_counts(took)
FROM customer_day WHERE day = ANY ($1::date[]) GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (day, product_id) DO UPDATE SET admitted = excluded.admitted, succeeded = excluded.succeeded, rejected = excluded.rejected,
  failed = excluded.failed, abandoned = excluded.abandoned, took = excluded.took
WHERE (old.admitted, old.succeeded, old.rejected, old.failed, old.abandoned, old.took)
  IS DISTINCT FROM (excluded.admitted, excluded.succeeded, excluded.rejected, excluded.failed, excluded.abandoned, excluded.took)`;

/** Kept as long as customer_day. */
const DAYS_KEPT = 92;

const MISSING = `
SELECT to_char(d, 'YYYY-MM-DD') AS day FROM generate_series($1::date - ${DAYS_KEPT}, $1::date - 2, interval '1 day') AS d
WHERE NOT EXISTS (SELECT FROM product_answers WHERE day = d::date) AND EXISTS (SELECT FROM customer_day WHERE day = d::date)`;

/**
 * Adds up the responses of today and yesterday, whose counts may still change. Call it with one process at a time.
 * @param today `YYYY-MM-DD` in the quota time zone
 */
export async function addUpAnswers(db: Database, today: string): Promise<void> {
  await db.query(ADD_UP, [[addDays(today, -1), today]]);
}

/** Adds up missed days before yesterday, one at a time, and deletes those that are no longer kept. As {@link addUpAnswers}. */
export async function addUpMissedAnswers(db: Database, today: string): Promise<void> {
  const { rows } = await db.query<{ day: string }>(MISSING, [today]);
  for (const { day } of rows) await db.query(ADD_UP, [[day]]);
  await db.query('DELETE FROM product_answers WHERE day < $1::date - $2::integer', [today, DAYS_KEPT]);
}
