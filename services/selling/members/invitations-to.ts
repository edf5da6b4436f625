import { type Database } from '../../../plugins/stores/postgres/database';
import { INVITATION_VIEW, type InvitationView } from './invitation-view';

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
