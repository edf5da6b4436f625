import { type Database } from '../database';

/**
 * Ends the sessions of a person.
 * @param keptToken of the session that stays
 */
export async function endOtherSessions(db: Database, { userId, keptToken }: { userId: string; keptToken: string }): Promise<void> {
  await db.query('DELETE FROM auth_session WHERE user_id = $1 AND token <> $2', [userId, keptToken]);
}
