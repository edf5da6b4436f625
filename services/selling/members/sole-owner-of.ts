import { type Database } from '../../../plugins/stores/postgres/database';
import { organisationOf } from './rename-organisation';

/** An organisation that would be left without an owner. */
export interface OwnedAlone {
  readonly customerId: string;
  /** Its name, else its email address. */
  readonly organisation: string;
  /** Others who are in it. */
  readonly otherMembers: number;
}

const FIND = `
SELECT m.customer_id AS "customerId", ${organisationOf('c')} AS organisation,
  (SELECT count(*)::integer FROM member o WHERE o.customer_id = m.customer_id AND o.user_id <> m.user_id) AS "otherMembers"
FROM member m JOIN customer c ON c.id = m.customer_id
WHERE m.user_id = $1 AND m.role = 'owner'
  AND NOT EXISTS (SELECT FROM member o WHERE o.customer_id = m.customer_id AND o.user_id <> m.user_id AND o.role = 'owner')
ORDER BY c.email`;

/**
 * Organisations of which this person is the only owner. One with other members must be handed over before the account can be deleted (the
 * database refuses otherwise); one without is deleted with it.
 */
export async function soleOwnerOf(db: Database, { userId }: { readonly userId: string }): Promise<OwnedAlone[]> {
  return (await db.query<OwnedAlone>(FIND, [userId])).rows;
}
