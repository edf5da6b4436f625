import { ANSWER_TIME_BOUNDS_MS } from '../../../plugins/core/catalogue/answer-times';
import { type KeyMode } from '../../../plugins/core/ports';
import { type Database } from '../../../plugins/stores/postgres/database';
import { type AnswerHour } from '../../../plugins/stores/postgres/decisions/answer-counts';
import { type KeyHour } from '../../../plugins/stores/postgres/decisions/count-key-hours';

/** Responses of product services. */
export type OutcomeCounts = Pick<AnswerHour, 'succeeded' | 'rejected' | 'failed' | 'abandoned' | 'took'>;

interface Outcomes extends Pick<KeyHour, 'admitted' | 'refused' | 'unavailable'> {
  /** Null if no service reported any. */
  readonly answers: OutcomeCounts | null;
}

const TOOK = ANSWER_TIME_BOUNDS_MS.map((_bound, place) => place).concat(ANSWER_TIME_BOUNDS_MS.length);

export const ADMITTED = 'sum(admitted)::float8 AS admitted';
export const ANSWERS = `
CASE WHEN sum(succeeded) IS NOT NULL THEN json_build_object('succeeded', sum(succeeded), 'rejected', sum(rejected), 'failed', sum(failed),
  'abandoned', sum(abandoned), 'took', json_build_array(${TOOK.map((place) => `COALESCE(sum(took[${place + 1}]), 0)`).join(', ')})) END AS answers`;

/** The columns of {@link Outcomes}; rows are summed up. */
const OUTCOMES = `${ADMITTED}, sum(refused)::float8 AS refused, sum(unavailable)::float8 AS unavailable, ${ANSWERS}`;

/** Days in the quota time zone, `YYYY-MM-DD`; both ends belong to the period. */
interface Period {
  readonly fromDay: string;
  readonly toDay: string;
  /** Quota time zone. */
  readonly timeZone: string;
}

/** `hour` and `startsAt` are null if whole days were requested. */
export interface KeyUsage extends Readonly<Pick<KeyHour, 'day' | 'product'> & Outcomes> {
  readonly hour: number | null;
  readonly startsAt: Date | null;
  /** Number of them without a line in the request log. */
  readonly unlogged: number;
}

export interface KeyUsageQuery extends Period {
  readonly keyId: string;
  readonly by: 'day' | 'hour';
}

/** Hours are counted from the beginning of their day: a day on which clocks change has 22 to 26 of them, each as long as any other. */
const STARTS_AT = "(day::timestamp AT TIME ZONE $4) + hour * interval '1 hour'";

const OF_KEY = `
SELECT to_char(day, 'YYYY-MM-DD') AS day, CASE WHEN $5 THEN hour END AS hour, CASE WHEN $5 THEN ${STARTS_AT} END AS "startsAt",
  product_id AS product, ${OUTCOMES},
  sum(admitted_unlogged + refused_unlogged)::float8 AS unlogged
FROM key_hour WHERE credential_id = $1 AND day BETWEEN $2::date AND $3::date
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 4`;

/** Requests with one key, up to five seconds old, oldest first; days and hours without requests have no entry. */
export async function readKeyUsage(db: Database, { keyId, fromDay, toDay, timeZone, by }: KeyUsageQuery): Promise<KeyUsage[]> {
  const { rows } = await db.query<KeyUsage>(OF_KEY, [keyId, fromDay, toDay, timeZone, by === 'hour']);
  return rows;
}

/** A customer's admitted requests of all keys for one product on one day. */
export interface DailyAnswers extends Pick<Outcomes, 'admitted' | 'answers'> {
  readonly day: string;
  readonly product: string;
}

const BY_DAY = `
SELECT to_char(day, 'YYYY-MM-DD') AS day, product_id AS product, ${ADMITTED}, ${ANSWERS}
FROM customer_day WHERE customer_id = $1 AND day BETWEEN $2::date AND $3::date
GROUP BY 1, 2 ORDER BY 1, 2`;

/** Responses by day and product, up to five seconds old, oldest first. Days without admitted requests have no entry. */
export async function readDailyAnswers(db: Database, query: Omit<HourlyUsageQuery, 'timeZone' | 'product'>): Promise<DailyAnswers[]> {
  const { rows } = await db.query<DailyAnswers>(BY_DAY, [query.customerId, query.fromDay, query.toDay]);
  return rows;
}

/** Requests of all of a customer's keys for one product in one hour. */
export interface HourlyUsage extends Readonly<Outcomes> {
  readonly startsAt: Date;
  readonly product: string;
  /** Mode of the keys. */
  readonly mode: KeyMode;
}

export interface HourlyUsageQuery extends Period {
  readonly customerId: string;
  /** Only this product. */
  readonly product?: string | undefined;
}

const OF_CUSTOMER = `
SELECT ${STARTS_AT} AS "startsAt", product_id AS product, mode, ${OUTCOMES}
FROM credential JOIN key_hour ON key_hour.credential_id = credential.id
WHERE customer_id = $1 AND day BETWEEN $2::date AND $3::date AND ($5::text IS NULL OR product_id = $5)
GROUP BY day, hour, product_id, mode ORDER BY 1, 2, 3`;

/** Usage by hour, product and mode, up to five seconds old, oldest first. Hours without requests have no entry. */
export async function readHourlyUsage(db: Database, query: HourlyUsageQuery): Promise<HourlyUsage[]> {
  const { customerId, fromDay, toDay, timeZone, product } = query;
  const { rows } = await db.query<HourlyUsage>(OF_CUSTOMER, [customerId, fromDay, toDay, timeZone, product ?? null]);
  return rows;
}
