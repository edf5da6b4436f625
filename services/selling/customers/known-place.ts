import { type Pool } from 'pg';

/** How long a place is remembered after its last success. */
const REMEMBERED_DAYS = 30;

/** The stamp is in the future, because rows of this table are pruned a day after their stamp. */
const REMEMBER = `
INSERT INTO auth_rate_limit (key, count, last_request)
VALUES ($1, 1, (extract(epoch FROM now() + ${REMEMBERED_DAYS - 1} * interval '1 day') * 1000)::bigint)
ON CONFLICT (key) DO UPDATE SET last_request = excluded.last_request`;

const KNOWN = `
SELECT 1 FROM auth_rate_limit
WHERE key = $1 AND last_request > (extract(epoch FROM now() - interval '1 day') * 1000)::bigint`;

/** Remembers a place from which somebody signed in. @param key never a name or an address in the clear */
export async function rememberPlace(db: Pool, key: string): Promise<void> {
  await db.query(REMEMBER, [key]);
}

/** True for a place that was remembered within the last 30 days. */
export async function isKnownPlace(db: Pool, key: string): Promise<boolean> {
  const { rowCount } = await db.query(KNOWN, [key]);
  return rowCount === 1;
}
