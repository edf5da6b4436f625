import { type Database } from '../../../plugins/stores/postgres/database';

/** A person who works for the seller in the console. An operator is not a customer, and signs in with a second factor. */
export interface Operator {
  /** The person's account at the dashboard. */
  readonly id: string;
  readonly email: string;
  readonly createdAt: Date;
  /** False until password and second factor are set: nothing can be done before that. */
  readonly isReady: boolean;
}

export const OPERATOR_COLUMNS = `
u.id, u.email, o.created_at AS "createdAt",
  COALESCE(u.two_factor_enabled, false) AND EXISTS (SELECT FROM auth_account a WHERE a.user_id = u.id AND a.password IS NOT NULL) AS "isReady"`;

/** @param person id of an account, or its email address (upper and lower case are the same) */
export async function findOperator(
  db: Database,
  person: { readonly id: string } | { readonly email: string },
): Promise<Operator | undefined> {
  const [where, value] = 'id' in person ? ['u.id = $1', person.id] : ['u.email = lower($1)', person.email.trim()];
  const text = `SELECT ${OPERATOR_COLUMNS} FROM operator o JOIN auth_user u ON u.id = o.user_id WHERE ${where}`;
  const { rows } = await db.query<Operator>(text, [value]);
  return rows[0];
}
