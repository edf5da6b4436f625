import { type Database } from '../database';

/** The hash of an account's password; undefined when the person signs in by other ways alone. */
export async function findPasswordHash(db: Database, userId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ password: string | null }>(
    "SELECT password FROM auth_account WHERE user_id = $1 AND provider_id = 'credential'",
    [userId],
  );
  return rows[0]?.password ?? undefined;
}
