import { type Pool } from 'pg';
import { dayAgo } from './seed-use';

/** $1 today. A product that is new, one that nobody calls on Sundays, one whose answers nobody reports, and of each a day on which it failed. */
const FILL = `
INSERT INTO product_answers (day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
SELECT day, product, calls, told * (calls - calls / 20 - failed), told * (calls / 20), told * failed, told * 0,
  CASE WHEN told = 1 THEN ARRAY[0, 0, calls / 2, calls / 3, 0, 0, calls - calls / 2 - calls / 3, 0, 0, 0, 0, 0] END
FROM (VALUES ('api-ip', 300000, 89, 1, 47), ('api-gst', 6000, 60, 1, 12), ('api-pincode', 3000, 89, NULL, 0), ('api-seo', 900, 89, 1, 31),
    ('api-image', 400, 20, 1, 8)) AS given (product, a_day, oldest, told, worst)
CROSS JOIN LATERAL (SELECT back, $1::date - back AS day, a_day - a_day * (back % 7) / 20 AS calls FROM generate_series(0, oldest) AS back) AS days
CROSS JOIN LATERAL (SELECT CASE WHEN back = worst THEN calls / 5 WHEN back % 29 = 3 THEN calls / 60 WHEN back % 13 = 5 THEN calls / 2000 ELSE 0 END
  AS failed) AS faults
WHERE NOT (product = 'api-seo' AND extract(isodow FROM day) = 7)`;

/** What products answered in the last 90 days, as the status page shows it. */
export async function seedAvailability(pool: Pool): Promise<void> {
  await pool.query(FILL, [dayAgo(0)]);
}
