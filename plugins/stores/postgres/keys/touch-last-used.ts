import { type Database } from '../database';

/** The column is for people; a busy key must not rewrite its row all the time. */
const PRECISION = '5 seconds';

/**
 * Locked rows are skipped: an operator's transaction must not hold up the log, and the next request brings a new chance. Changing
 * only this column notifies nobody.
 */
const UPDATE = `
WITH used AS (SELECT id, at FROM unnest($1::uuid[], $2::float8[]) AS u(id, ms), LATERAL to_timestamp(ms / 1000) AS at),
target AS (
  SELECT c.id, used.at FROM credential c JOIN used USING (id)
  WHERE c.last_used_at IS NULL OR c.last_used_at < used.at - interval '${PRECISION}'
  FOR NO KEY UPDATE OF c SKIP LOCKED
)
UPDATE credential c SET last_used_at = target.at FROM target WHERE c.id = target.id`;

/** @param used credential id → Unix milliseconds of its last admitted request */
export async function touchLastUsed(db: Database, used: ReadonlyMap<string, number>): Promise<void> {
  if (used.size > 0) await db.query(UPDATE, [[...used.keys()], [...used.values()]]);
}
