import { type Pool } from 'pg';

/** Forgets what {@link takeAttempt} counted under these keys. */
export async function clearAttempts(db: Pool, keys: readonly string[]): Promise<void> {
  await db.query('DELETE FROM auth_rate_limit WHERE key = ANY ($1)', [keys]);
}
