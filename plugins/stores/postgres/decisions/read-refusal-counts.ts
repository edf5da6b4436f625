import { type Database } from '../database';

/** Refused requests with one customer's keys. */
export interface RefusalCount {
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly product: string;
  readonly code: string;
  readonly count: number;
}

const QUERY = `
SELECT to_char(d.day, 'YYYY-MM-DD') AS day, d.product_id AS product, d.code, sum(d.count)::float8 AS count
FROM denial_count d JOIN credential k ON k.id = d.credential_id
WHERE k.customer_id = $1 AND d.day BETWEEN $2::date AND $3::date
GROUP BY d.day, d.product_id, d.code ORDER BY d.day, d.product_id, d.code`;

/** By day, product and code; up to half a second old. Both ends belong to the period. */
export async function readRefusalCounts(
  db: Database,
  { customerId, fromDay, toDay }: { customerId: string; fromDay: string; toDay: string },
): Promise<RefusalCount[]> {
  const { rows } = await db.query<RefusalCount>(QUERY, [customerId, fromDay, toDay]);
  return rows;
}
