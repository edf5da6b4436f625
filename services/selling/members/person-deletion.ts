import { type Pool } from 'pg';
import { findMemberships } from './find-memberships';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { ERASE_TIMEOUT_MS, GRACE_DAYS } from './account-deletion';
import { pruneOutboxMails } from '../customers/outbox-mail';

const LOCK = 'SELECT 1 FROM auth_user WHERE id = $1 FOR UPDATE';
const INSERT = `
INSERT INTO person_deletion (user_id) VALUES ($1) ON CONFLICT (user_id) DO NOTHING
RETURNING asked_at + interval '${GRACE_DAYS} days' AS "erasedAt"`;

/**
 * Ends the sessions of a person in no organisation, and has the person erased when the grace is over.
 * @returns when the person is erased
 * @throws OperationRefused `deletion_asked` if it was requested before, `account_shared` for a member of an organisation
 */
export function askForPersonDeletion(db: Database, userId: string): Promise<Date> {
  return inTransaction(db, async (client) => {
    await client.query(LOCK, [userId]);
    if ((await findMemberships(client, { userId })).length > 0) {
      throw new OperationRefused('account_shared', 'you are in an organisation: leave it under Team first');
    }
    const { rows } = await client.query<{ erasedAt: Date }>(INSERT, [userId]);
    if (!rows[0]) throw new OperationRefused('deletion_asked', 'this account is being deleted already');
    await client.query('DELETE FROM auth_session WHERE user_id = $1', [userId]);
    return rows[0].erasedAt;
  });
}

/** Keeps a person whose deletion was pending. @returns false when no deletion was pending */
export async function undoPersonDeletion(db: Database, userId: string): Promise<boolean> {
  return (await db.query('DELETE FROM person_deletion WHERE user_id = $1', [userId])).rowCount === 1;
}

const DUE = `
SELECT user_id AS "userId" FROM person_deletion WHERE asked_at <= now() - interval '${GRACE_DAYS} days' ORDER BY asked_at LIMIT 100`;

/** Erases people whose grace period is over, as `eraseDueAccounts` does, except those who have come back. @returns how many were erased */
export async function eraseDuePeople(db: Pool): Promise<number> {
  const { rows } = await db.query<{ userId: string }>(DUE);
  // Mail to others names its sender, as with accounts.
  if (rows.length > 0) await pruneOutboxMails(db);
  let erased = 0;
  for (const { userId } of rows) {
    const outcome = await inTransaction(db, async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${ERASE_TIMEOUT_MS}`);
      return (await client.query<{ outcome: string }>('SELECT erase_person($1) AS outcome', [userId])).rows[0]?.outcome;
    });
    if (outcome === 'erased') erased += 1;
    if (outcome === 'returned') await undoPersonDeletion(db, userId);
  }
  return erased;
}
