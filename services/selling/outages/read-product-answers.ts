import { type Database } from '../../../plugins/stores/postgres/database';
import { ADMITTED, ANSWERS, type Answers } from '../requests/read-key-hours';

/** Responses to the admitted requests for one product. */
export interface ProductAnswers {
  readonly product: string;
  readonly admitted: number;
  /** Null if no gateway reported any. */
  readonly answers: Answers | null;
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
