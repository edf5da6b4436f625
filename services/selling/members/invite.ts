import { createHash, randomBytes } from 'node:crypto';
import { type PoolClient } from 'pg';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { findInvitation, type InvitationRef, type InvitationView, type InvitedRole, requireInvitation } from './invitation-view';
import { lockOrganisation, MAX_MEMBERS } from './list-members';
import { MAX_MEMBERSHIPS } from './find-memberships';

/** Long enough for a weekend and a holiday. */
export const INVITATION_DAYS = 7;
/** Maximum open invitations of one organisation. */
const MAX_INVITATIONS = 20;

/** An invitation with the only copy of its token. */
export interface SentInvitation {
  readonly invitation: InvitationView;
  /** For the mail's link: 32 random bytes, base64url. */
  readonly token: string;
}

/** SHA-256 of a token, as hex: only this is stored. */
export function hashInvitationToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function newToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashInvitationToken(token) };
}

export interface InviteWish {
  readonly customerId: string;
  readonly email: string;
  readonly role: InvitedRole;
  /** The inviter's account. */
  readonly byUserId: string;
  readonly actor: Actor;
}

const IS_MEMBER = 'SELECT 1 FROM member m JOIN auth_user u ON u.id = m.user_id WHERE m.customer_id = $1 AND u.email = $2';
/** An expired invitation makes room for the next. */
const FORGET = 'DELETE FROM invitation WHERE customer_id = $1 AND email = $2 AND expires_at <= now()';
const COUNT =
  'SELECT count(*)::integer AS open, count(*) FILTER (WHERE email = $2)::integer AS same FROM invitation WHERE customer_id = $1';
const INSERT = `
INSERT INTO invitation (customer_id, email, role, token_hash, invited_by, expires_at)
VALUES ($1, $2, $3, decode($4, 'hex'), $5, now() + interval '${INVITATION_DAYS} days') RETURNING id`;

/** @throws OperationRefused `member_exists`, `invitation_exists`, `invitation_limit_reached` */
async function requireRoomFor(client: PoolClient, customerId: string, email: string): Promise<void> {
  if ((await client.query(IS_MEMBER, [customerId, email])).rowCount) {
    throw new OperationRefused('member_exists', `${email} is a member already`);
  }
  const { rows } = await client.query<{ open: number; same: number }>(COUNT, [customerId, email]);
  const { open = 0, same = 0 } = rows[0] ?? {};
  if (same > 0) throw new OperationRefused('invitation_exists', `${email} is invited already; send the invitation again, or revoke it`);
  if (open >= MAX_INVITATIONS) {
    throw new OperationRefused('invitation_limit_reached', `there are ${MAX_INVITATIONS} open invitations already; revoke one first`);
  }
}

/** Invites an address. @throws OperationRefused `member_exists`, `invitation_exists`, `invitation_limit_reached` */
export function invite(db: Database, { customerId, email: typed, role, byUserId, actor }: InviteWish): Promise<SentInvitation> {
  return inTransaction(db, async (client) => {
    const email = typed.trim().toLowerCase();
    await lockOrganisation(client, customerId);
    await client.query(FORGET, [customerId, email]);
    await requireRoomFor(client, customerId, email);
    const { token, hash } = newToken();
    const { rows } = await client.query<{ id: string }>(INSERT, [customerId, email, role, hash, byUserId]);
    const invitation = await requireInvitation(client, { id: rows[0]?.id ?? '', customerId });
    const subject = { kind: 'customer' as const, id: customerId };
    await writeAudit(client, { actor, action: 'member.invite', subject, details: { address: email, role } });
    return { invitation, token };
  });
}

const RENEW = `
UPDATE invitation SET token_hash = decode($2, 'hex'), sent_at = now(), expires_at = now() + interval '${INVITATION_DAYS} days' WHERE id = $1`;

export interface RenewWish extends InvitationRef {
  readonly actor: Actor;
  /** Throws when no more mail may go to the address. */
  readonly mayTake: (invitation: InvitationView) => Promise<void>;
}

/**
 * Makes a new link for an open invitation; the earlier link stops working.
 * @throws OperationRefused `invitation_unknown`; what `mayTake` throws
 */
export function renewInvitation(db: Database, { actor, mayTake, ...ref }: RenewWish): Promise<SentInvitation> {
  return inTransaction(db, async (client) => {
    await lockOrganisation(client, ref.customerId);
    const invitation = await requireInvitation(client, ref);
    const { id, email } = invitation;
    await mayTake(invitation);
    const { token, hash } = newToken();
    await client.query(RENEW, [id, hash]);
    const subject = { kind: 'customer' as const, id: ref.customerId };
    await writeAudit(client, { actor, action: 'member.resend', subject, details: { address: email } });
    return { invitation: await requireInvitation(client, ref), token };
  });
}

/**
 * Ends an invitation and its link.
 * @throws OperationRefused `invitation_unknown`
 */
export function revokeInvitation(db: Database, { actor, ...ref }: InvitationRef & { readonly actor: Actor }): Promise<void> {
  return inTransaction(db, async (client) => {
    await lockOrganisation(client, ref.customerId);
    const { id, email, role } = await requireInvitation(client, ref);
    await client.query('DELETE FROM invitation WHERE id = $1', [id]);
    const subject = { kind: 'customer' as const, id: ref.customerId };
    await writeAudit(client, { actor, action: 'member.withdraw', subject, details: { address: email, role } });
  });
}

export interface Acceptance {
  /** SHA-256 of the token, as hex. */
  readonly hash: string;
  /** The account that accepts; its address is verified. */
  readonly user: { readonly id: string; readonly email: string };
  readonly actor: Actor;
}

const UNUSABLE = 'this invitation was accepted or revoked, or has expired; ask for a new one';

const COUNT_SEATS = `
SELECT (SELECT count(*) FROM member WHERE customer_id = $1)::integer AS members,
  (SELECT count(*) FROM member WHERE user_id = $2)::integer AS memberships`;

/** @throws OperationRefused `member_limit_reached` */
async function requireSeat(client: PoolClient, customerId: string, userId: string): Promise<void> {
  const { rows } = await client.query<{ members: number; memberships: number }>(COUNT_SEATS, [customerId, userId]);
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
