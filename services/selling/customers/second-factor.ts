import { type Database } from '../../../plugins/stores/postgres/database';

const READ = 'SELECT id, secret FROM auth_two_factor WHERE user_id = $1';

/** A person's second factor, with its secret as better-auth encrypted it. */
export async function readSecondFactor(db: Database, userId: string): Promise<{ id: string; secret: string } | undefined> {
  return (await db.query<{ id: string; secret: string }>(READ, [userId])).rows[0];
}

const TAKE = 'UPDATE auth_two_factor SET last_step = $2 WHERE id = $1 AND coalesce(last_step, 0) < $2';

/**
 * Uses up a code, and earlier ones.
 * @param factor.step periods of 30 s since 1970
 * @returns false if it was used already; of two concurrent requests one gets it
 */
export async function takeCodeStep(db: Database, { id, step }: { readonly id: string; readonly step: number }): Promise<boolean> {
  return (await db.query(TAKE, [id, step])).rowCount === 1;
}
