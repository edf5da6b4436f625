import { type Role } from './member-roles';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

/** A member as the others see it. */
export interface MemberView {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly since: Date;
}

const SELECT = `SELECT m.user_id AS "userId", u.email, m.role, m.since FROM member m JOIN auth_user u ON u.id = m.user_id WHERE m.customer_id = $1`;

/** Members of one organisation; far more than sign in for it. */
export const MAX_MEMBERS = 100;

/** Owners first, then by address. */
export async function listMembers(db: Database, customerId: string): Promise<MemberView[]> {
  const { rows } = await db.query<MemberView>(`${SELECT} ORDER BY (m.role = 'owner') DESC, u.email LIMIT ${MAX_MEMBERS}`, [customerId]);
  return rows;
}

/** Names a member among those of one organisation; another's reads as unknown. */
export interface MemberRef {
  readonly customerId: string;
  readonly userId: string;
}

/** @throws OperationRefused `member_unknown` */
export async function requireMember(db: Database, { customerId, userId }: MemberRef): Promise<MemberView> {
  const { rows } = isUuid(userId) ? await db.query<MemberView>(`${SELECT} AND m.user_id = $2`, [customerId, userId]) : { rows: [] };
  if (!rows[0]) throw new OperationRefused('member_unknown', `there is no member "${userId}"`);
  return rows[0];
}

/**
 * Locks an organisation until the transaction ends, so that decisions that depend on its members are made one at a time.
 * @param db inside the caller's transaction
 */
export async function lockOrganisation(db: Database, customerId: string): Promise<void> {
  await db.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
}
