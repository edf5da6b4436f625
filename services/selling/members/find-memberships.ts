import { type Role } from './member-roles';
import { type Database } from '../../../plugins/stores/postgres/database';
import { organisationOf } from './rename-organisation';

/** A person's place in an organisation. */
export interface Membership {
  readonly customerId: string;
  /** The organisation's name, else its email address. */
  readonly organisation: string;
  /** Its email address. */
  readonly address: string;
  readonly role: Role;
}

/** The most that one person can join. */
export const MAX_MEMBERSHIPS = 50;

const FIND = `
SELECT m.customer_id AS "customerId", ${organisationOf('c')} AS organisation, c.email AS address, m.role
FROM member m JOIN customer c ON c.id = m.customer_id JOIN auth_user u ON u.id = m.user_id
WHERE m.user_id = $1 ORDER BY (lower(c.email) = u.email) DESC, m.since, c.id LIMIT ${MAX_MEMBERSHIPS}`;

/** The organisations of a person, their own first. Read at every request, so that a removed member is out at once. */
export async function findMemberships(db: Database, { userId }: { readonly userId: string }): Promise<Membership[]> {
  return (await db.query<Membership>(FIND, [userId])).rows;
}
