import { type Pool } from 'pg';

export interface AttemptLimit {
  /** Identifies who attempts what, without a name or address in clear text. */
  readonly key: string;
  /** Maximum attempts in a window, which begins with the first attempt. */
  readonly most: number;
  readonly windowSeconds: number;
}

/**
 * One row a key, by the server's clock: nodes count together. The count stops growing at the limit. better-auth prunes only rows that it
 * has seen expire; here each attempt, which adds one row and lets better-auth add one, takes up to four away that are a day old. The
 * longest window of either is an hour.
 */
const TAKE = `
WITH moment AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms, $2::bigint * 1000 AS window_ms),
pruned AS (DELETE FROM auth_rate_limit WHERE key IN (
  SELECT key FROM auth_rate_limit WHERE last_request < (SELECT now_ms - 86400000 FROM moment) AND key <> $1
  ORDER BY last_request LIMIT 4 FOR UPDATE SKIP LOCKED))
INSERT INTO auth_rate_limit AS known (key, count, last_request) SELECT $1, 1, now_ms FROM moment
ON CONFLICT (key) DO UPDATE SET
  count = CASE WHEN known.last_request <= excluded.last_request - $2::bigint * 1000 THEN 1 ELSE LEAST(known.count, $3) + 1 END,
  last_request = CASE WHEN known.last_request <= excluded.last_request - $2::bigint * 1000 THEN excluded.last_request ELSE known.last_request END
RETURNING count, (SELECT GREATEST(1, ceil((known.last_request + window_ms - now_ms) / 1000.0))::integer FROM moment) AS "waitSeconds"`;

/**
 * Counts one attempt.
 * @returns undefined when it is allowed, else the seconds until the next one is
 */
export async function takeAttempt(db: Pool, { key, most, windowSeconds }: AttemptLimit): Promise<number | undefined> {
  const { rows } = await db.query<{ count: number; waitSeconds: number }>(TAKE, [key, windowSeconds, most]);
  const { count = 1, waitSeconds = windowSeconds } = rows[0] ?? {};
  return count > most ? waitSeconds : undefined;
}

/** Forgets what {@link takeAttempt} counted under these keys. */
export async function clearAttempts(db: Pool, keys: readonly string[]): Promise<void> {
  await db.query('DELETE FROM auth_rate_limit WHERE key = ANY ($1)', [keys]);
}
