import { type Role } from './member-roles';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { organisationOf } from './rename-organisation';

/** An invited person cannot be an owner at first. */
export type InvitedRole = Exclude<Role, 'owner'>;

/** An open invitation, without its token. */
export interface InvitationView {
  readonly id: string;
  readonly customerId: string;
  /** The organisation's name, else its email address. */
  readonly organisation: string;
  /** Address in lower case. */
  readonly email: string;
  readonly role: InvitedRole;
  /** Address of the inviter; null once that account is gone. */
  readonly invitedBy: string | null;
  readonly sentAt: Date;
  readonly expiresAt: Date;
  readonly hasExpired: boolean;
}

/** Columns of {@link InvitationView}, of every invitation. */
export const INVITATION_VIEW = `
SELECT i.id, i.customer_id AS "customerId", ${organisationOf('c')} AS organisation, i.email, i.role,
  (SELECT u.email FROM auth_user u WHERE u.id = i.invited_by) AS "invitedBy",
  i.sent_at AS "sentAt", i.expires_at AS "expiresAt", i.expires_at <= now() AS "hasExpired"
FROM invitation i JOIN customer c ON c.id = i.customer_id`;

/** Newest first, without paging: their number is limited. */
export async function listInvitations(db: Database, customerId: string): Promise<InvitationView[]> {
  return (await db.query<InvitationView>(`${INVITATION_VIEW} WHERE i.customer_id = $1 ORDER BY i.sent_at DESC, i.id`, [customerId])).rows;
}

/** Names an invitation among one organisation's; another's reads as unknown. */
export interface InvitationRef {
  readonly id: string;
  readonly customerId: string;
}

/** @throws OperationRefused `invitation_unknown` */
export async function requireInvitation(db: Database, { id, customerId }: InvitationRef): Promise<InvitationView> {
  const { rows } = isUuid(id)
    ? await db.query<InvitationView>(`${INVITATION_VIEW} WHERE i.id = $1 AND i.customer_id = $2`, [id, customerId])
    : { rows: [] };
  if (!rows[0]) throw new OperationRefused('invitation_unknown', `there is no invitation "${id}"`);
  return rows[0];
}

/** The invitation of a mail, unless it has expired. @param hash SHA-256 of its token, 64 lower-case hex digits */
export async function findInvitation(db: Database, hash: string): Promise<InvitationView | undefined> {
  const { rows } = await db.query<InvitationView>(`${INVITATION_VIEW} WHERE i.token_hash = decode($1, 'hex') AND i.expires_at > now()`, [
    hash,
  ]);
  return rows[0];
}

const LIST = `${INVITATION_VIEW} WHERE i.email = lower($1) AND i.expires_at > now() ORDER BY i.sent_at DESC, i.id LIMIT 50`;

/** Open invitations to an address, newest first. Only for a person who has proved to own the address. */
export async function listInvitationsTo(db: Database, email: string): Promise<InvitationView[]> {
  return (await db.query<InvitationView>(LIST, [email])).rows;
}

const HASH = `
SELECT encode(token_hash, 'hex') AS hash FROM invitation WHERE id = $1 AND email = lower($2) AND expires_at > now()`;

/** Finds the hash that accepts an invitation to an address; undefined if there is none. @returns SHA-256 of its token, as hex */
export async function findInvitationHash(db: Database, { id, email }: { id: string; email: string }): Promise<string | undefined> {
  return (await db.query<{ hash: string }>(HASH, [id, email])).rows[0]?.hash;
}
