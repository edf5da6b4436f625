import { type PoolClient } from 'pg';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { MAX_MEMBERSHIPS } from './find-memberships';
import { findInvitation, type InvitationView } from './invitation-view';
import { lockOrganisation, MAX_MEMBERS } from './list-members';

export interface Acceptance {
  /** SHA-256 of the token, as hex. */
  readonly hash: string;
  /** The account that accepts; its address is verified. */
  readonly user: { readonly id: string; readonly email: string };
  readonly actor: Actor;
}

const UNUSABLE = 'this invitation was accepted or revoked, or has expired; ask for a new one';

const COUNT = `
SELECT (SELECT count(*) FROM member WHERE customer_id = $1)::integer AS members,
  (SELECT count(*) FROM member WHERE user_id = $2)::integer AS memberships`;

/** @throws OperationRefused `member_limit_reached` */
async function requireSeat(client: PoolClient, customerId: string, userId: string): Promise<void> {
  const { rows } = await client.query<{ members: number; memberships: number }>(COUNT, [customerId, userId]);
  const { members = 0, memberships = 0 } = rows[0] ?? {};
  if (members >= MAX_MEMBERS) {
    throw new OperationRefused('member_limit_reached', `an organisation has at most ${MAX_MEMBERS} members`);
  }
  if (memberships >= MAX_MEMBERSHIPS) {
    throw new OperationRefused('member_limit_reached', `a person can be in at most ${MAX_MEMBERSHIPS} organisations`);
  }
}

/**
 * Makes an account a member, and ends the invitation. Only the invited address can accept: a forwarded mail opens nothing.
 * @throws OperationRefused `invitation_unknown` (also for another address), `member_limit_reached`
 */
export function acceptInvitation(db: Database, { hash, user, actor }: Acceptance): Promise<InvitationView> {
  return inTransaction(db, async (client) => {
    const seen = await findInvitation(client, hash);
    if (seen) await lockOrganisation(client, seen.customerId);
    // Checked again, now that no other transaction can revoke or accept it.
    const invitation = seen && (await findInvitation(client, hash));
    if (!invitation || invitation.email !== user.email.toLowerCase()) throw new OperationRefused('invitation_unknown', UNUSABLE);
    const { id, customerId, role } = invitation;
    await requireSeat(client, customerId, user.id);
    // A person who became a member meanwhile keeps the role.
    const joined = await client.query('INSERT INTO member (customer_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      customerId,
      user.id,
      role,
    ]);
    await client.query('DELETE FROM invitation WHERE id = $1', [id]);
    if (joined.rowCount) {
      const details = { member: user.email, role };
      await writeAudit(client, { actor, action: 'member.join', subject: { kind: 'customer', id: customerId }, details });
    }
    return invitation;
  });
}
