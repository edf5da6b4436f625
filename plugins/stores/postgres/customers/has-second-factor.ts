import { type Database } from '../database';

/** Whether signing in with this address asks for a second factor. @param email as the account has it */
export async function hasSecondFactor(db: Database, { email }: { email: string }): Promise<boolean> {
  const { rowCount } = await db.query('SELECT 1 FROM auth_user WHERE email = lower($1) AND two_factor_enabled', [email]);
  return rowCount === 1;
}
