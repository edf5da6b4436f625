import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { writeAudit } from './write-audit';

export interface EmailChangeWish {
  readonly userId: string;
  /** In lower case. */
  readonly newEmail: string;
  /** SHA-256 of the tokens in the links to the old and the new address. */
  readonly oldToken: Buffer;
  readonly newToken: Buffer;
  /** The session that asks, the only one that survives the change. */
  readonly sessionId: string;
}

const PRUNE = 'DELETE FROM email_change WHERE expires_at <= now()';
const ASK = `
INSERT INTO email_change (user_id, new_email, old_token, new_token, session_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (user_id) DO UPDATE SET new_email = excluded.new_email, old_token = excluded.old_token, new_token = excluded.new_token,
  session_id = excluded.session_id, allowed_at = NULL, proved_at = NULL, expires_at = excluded.expires_at`;

/** Starts a change; for an hour both links work. Links of an earlier request stop working. Nothing else changes yet. */
export async function askForEmailChange(db: Database, wish: EmailChangeWish): Promise<void> {
  await db.query(PRUNE);
  await db.query(ASK, [wish.userId, wish.newEmail, wish.oldToken, wish.newToken, wish.sessionId]);
}

/** Whether an address has an account, or is a customer that an operator made. */
export async function isAddressTaken(db: Database, email: string): Promise<boolean> {
  const text = 'SELECT 1 FROM auth_user WHERE email = $1 UNION ALL SELECT 1 FROM customer WHERE lower(email) = $1';
  return Boolean((await db.query(text, [email])).rowCount);
}

/** `waiting`: the other link has not been opened yet. */
export type Confirmation = { readonly state: 'waiting' } | { readonly state: 'changed'; readonly before: string; readonly after: string };

interface Pending {
  readonly userId: string;
  readonly newEmail: string;
  readonly sessionId: string;
  readonly isWhole: boolean;
}

const CONFIRM = `
UPDATE email_change SET allowed_at = CASE WHEN old_token = $1 THEN now() ELSE allowed_at END,
  proved_at = CASE WHEN new_token = $1 THEN now() ELSE proved_at END
WHERE (old_token = $1 OR new_token = $1) AND expires_at > now()
RETURNING user_id AS "userId", new_email AS "newEmail", session_id AS "sessionId", allowed_at IS NOT NULL AND proved_at IS NOT NULL AS "isWhole"`;

const UNIQUE_VIOLATION = '23505';

/**
 * Records one of the two confirmations. With the second, the address of the account and of its customer changes in one transaction, and
 * every other session and every link mailed to the old address ends.
 * @param options.from the network address of the confirmation
 * @returns undefined for a link that is unknown or too old, or for an address that has an account
 */
export async function confirmEmailChange(
  db: Database,
  { token, from }: { token: Buffer; from: string },
): Promise<Confirmation | undefined> {
  try {
    return await inTransaction(db, async (client) => {
      const { rows } = await client.query<Pending>(CONFIRM, [token]);
      const pending = rows[0];
      if (!pending) return undefined;
      return pending.isWhole ? await change(client, pending, from) : { state: 'waiting' };
    });
  } catch (error) {
    // The address is taken, perhaps only just now.
    if ((error as { code?: unknown } | null)?.code === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

const OLD = `SELECT email FROM auth_user u WHERE id = $1 AND NOT EXISTS (SELECT FROM operator WHERE user_id = u.id) FOR UPDATE`;
// An organisation that was handed to somebody else keeps the name that its members know.
const CUSTOMER = `
UPDATE customer c SET email = $2 WHERE lower(email) = lower($1)
  AND EXISTS (SELECT FROM member m WHERE m.customer_id = c.id AND m.user_id = $3 AND m.role = 'owner') RETURNING id`;

async function change(client: PoolClient, { userId, newEmail, sessionId }: Pending, from: string): Promise<Confirmation | undefined> {
  const { rows } = await client.query<{ email: string }>(OLD, [userId]);
  const before = rows[0]?.email;
  if (before === undefined) return undefined;
  await client.query('UPDATE auth_user SET email = $2, updated_at = now() WHERE id = $1', [userId, newEmail]);
  const customers = await client.query<{ id: string }>(CUSTOMER, [before, newEmail, userId]);
  await client.query('DELETE FROM auth_session WHERE user_id = $1 AND id <> $2', [userId, sessionId]);
  await client.query('DELETE FROM auth_verification WHERE position($1::text IN value) > 0', [userId]);
  await client.query('DELETE FROM email_change WHERE user_id = $1', [userId]);
  for (const { id } of customers.rows) {
    const actor = { name: `dashboard:${before}`, from };
    const details = { before, after: newEmail };
    await writeAudit(client, { actor, action: 'account.email_change', subject: { kind: 'customer', id }, details });
  }
  return { state: 'changed', before, after: newEmail };
}
