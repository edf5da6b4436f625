import { type Database } from '../../../plugins/stores/postgres/database';
import { ADMITTED, ANSWERS, type OutcomeCounts } from '../requests/read-key-hours';
import { addDays } from '../statements/statement';

/** Responses to the admitted requests for one product. */
export interface ProductAnswers {
  readonly product: string;
  readonly admitted: number;
  /** Null if no gateway reported any. */
  readonly answers: OutcomeCounts | null;
}

const SUMS = `
SELECT product_id AS product, ${ADMITTED}, ${ANSWERS} FROM product_answers WHERE day BETWEEN $1::date AND $2::date GROUP BY 1 ORDER BY 1`;

/**
 * Responses by product, with all keys of all customers, up to ten seconds old.
 * @param period days in the quota time zone, `YYYY-MM-DD`, both included
 */
export async function readProductAnswers(db: Database, period: { fromDay: string; toDay: string }): Promise<ProductAnswers[]> {
  return (await db.query<ProductAnswers>(SUMS, [period.fromDay, period.toDay])).rows;
}

/** One product on one day with known responses. */
export interface AvailabilityDay {
  readonly product: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** At least 1; and those of 500 to 599 among them. */
  readonly answered: number;
  readonly failed: number;
}

const BY_DAY = `
SELECT product_id AS product, to_char(day, 'YYYY-MM-DD') AS day, (succeeded + rejected + failed)::float8 AS answered, failed::float8 AS failed
FROM product_answers WHERE day BETWEEN $1::date AND $2::date AND succeeded + rejected + failed > 0 ORDER BY 1, 2`;

/**
 * The known responses of each product by day. A day without an entry is unknown: there were no calls, or no gateway reported their
 * responses.
 */
export async function readAvailability(db: Database, period: { fromDay: string; toDay: string }): Promise<AvailabilityDay[]> {
  return (await db.query<AvailabilityDay>(BY_DAY, [period.fromDay, period.toDay])).rows;
}

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
