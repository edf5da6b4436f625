import { type PoolClient } from 'pg';
import { type AuditAction } from '../customers/audit-actions';
import { type Role } from './member-roles';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { lockOrganisation, type MemberRef, type MemberView, requireMember } from './list-members';

/** The acting member. The role that counts is the one that the member has once the organisation is locked. */
export interface MemberAct extends MemberRef {
  /** The account of the caller, who is a member too. */
  readonly byUserId: string;
  readonly actor: Actor;
}

const COUNT_OTHERS = `SELECT 1 FROM member WHERE customer_id = $1 AND role = 'owner' AND user_id <> $2`;

/** @throws OperationRefused `last_owner` */
async function requireAnotherOwner(client: PoolClient, { customerId, userId }: MemberRef): Promise<void> {
  const { rowCount } = await client.query(COUNT_OTHERS, [customerId, userId]);
  if (!rowCount) throw new OperationRefused('last_owner', 'an organisation needs an owner: make somebody else an owner first');
}

/** Only owners may make, change or remove owners. @throws OperationRefused `owner_needed` */
async function requireOwnerFor(client: PoolClient, { customerId, byUserId }: MemberAct): Promise<void> {
  const { role } = await requireMember(client, { customerId, userId: byUserId });
  if (role !== 'owner') throw new OperationRefused('owner_needed', 'only an owner can make an owner, or change one');
}

const IS_LEAVING = 'SELECT 1 FROM account_deletion WHERE user_id = $1 AND erased_at IS NULL';

/**
 * An account that is to be erased could leave an organisation without an owner.
 * @throws OperationRefused `member_leaving`
 */
async function requireStaying(client: PoolClient, { userId }: MemberRef): Promise<void> {
  const { rowCount } = await client.query(IS_LEAVING, [userId]);
  if (rowCount) throw new OperationRefused('member_leaving', 'this account is being deleted; it cannot become an owner');
}

async function audit(
  client: PoolClient,
  action: Extract<AuditAction, `member.${string}`>,
  { act, details }: { act: MemberAct; details: Readonly<Record<string, unknown>> },
): Promise<void> {
  await writeAudit(client, { actor: act.actor, action, subject: { kind: 'customer', id: act.customerId }, details });
}

const SET = 'UPDATE member SET role = $3 WHERE customer_id = $1 AND user_id = $2';

/**
 * Gives a member another role.
 * @returns the member, and whether the role changed
 * @throws OperationRefused `member_unknown`, `owner_needed`, `last_owner`, `member_leaving`
 */
export function changeRole(
  db: Database,
  { role, ...act }: MemberAct & { readonly role: Role },
): Promise<{ member: MemberView; isNew: boolean }> {
  return inTransaction(db, async (client) => {
    await lockOrganisation(client, act.customerId);
    const before = await requireMember(client, act);
    if (before.role === role) return { member: before, isNew: false };
    if (before.role === 'owner' || role === 'owner') await requireOwnerFor(client, act);
    if (before.role === 'owner') await requireAnotherOwner(client, act);
    if (role === 'owner') await requireStaying(client, act);
    await client.query(SET, [act.customerId, act.userId, role]);
    await audit(client, 'member.role', { act, details: { member: before.email, before: before.role, after: role } });
    return { member: { ...before, role }, isNew: true };
  });
}

/**
 * Ends a membership, and with it all access from the next request on.
 * @throws OperationRefused `member_unknown`, `owner_needed`, `last_owner`
 */
export function removeMember(db: Database, act: MemberAct): Promise<MemberView> {
  return inTransaction(db, async (client) => {
    await lockOrganisation(client, act.customerId);
    const member = await requireMember(client, act);
    const leaves = act.userId === act.byUserId;
    if (member.role === 'owner') {
      if (!leaves) await requireOwnerFor(client, act);
      await requireAnotherOwner(client, act);
    }
    await client.query('DELETE FROM member WHERE customer_id = $1 AND user_id = $2', [act.customerId, act.userId]);
    const details = { member: member.email, role: member.role };
    await audit(client, leaves ? 'member.leave' : 'member.remove', { act, details });
    return member;
  });
}

/**
 * Hands the ownership over: the other member becomes an owner, and the caller an admin.
 * @throws OperationRefused `member_unknown`, `owner_needed`, `member_leaving`; `member_exists` for oneself
 */
export function transferOwnership(db: Database, act: MemberAct): Promise<MemberView> {
  return inTransaction(db, async (client) => {
    await lockOrganisation(client, act.customerId);
    if (act.userId === act.byUserId) throw new OperationRefused('member_exists', 'you are an owner already');
    const member = await requireMember(client, act);
    await requireOwnerFor(client, act);
    await requireStaying(client, act);
    await client.query(SET, [act.customerId, act.userId, 'owner']);
    await client.query(SET, [act.customerId, act.byUserId, 'admin']);
    await audit(client, 'member.transfer', { act, details: { member: member.email, before: member.role } });
    return { ...member, role: 'owner' };
  });
}
