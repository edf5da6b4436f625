import { type Pool, type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { soleOwnerOf } from './sole-owner-of';
import { OperationRefused } from '../operations/operation-refused';
import { pruneOutboxMails } from '../customers/outbox-mail';
import { type Actor, writeAudit } from '../customers/write-audit';

/** Days between request and deletion; the function `erase_account` has the same number. */
export const GRACE_DAYS = 14;

export interface DeletionWish {
  readonly userId: string;
  readonly customerId: string;
  readonly actor: Actor;
}

const LAST_ERASED = 'SELECT 1 FROM account_deletion WHERE customer_id = $1';
const OTHERS = 'SELECT 1 FROM member WHERE customer_id = $1 AND user_id <> $2';
const STOP_KEYS = `UPDATE credential SET state = 'inactive' WHERE customer_id = $1 AND state = 'active' RETURNING id`;
const STOP_SUBSCRIPTIONS = `
UPDATE subscription SET state = 'paused', updated_at = now() WHERE customer_id = $1 AND state = 'active' RETURNING id`;
const INSERT = `
INSERT INTO account_deletion (customer_id, user_id, keys, subscriptions) VALUES ($1, $2, $3, $4) RETURNING asked_at AS "askedAt"`;

async function idsOf(client: PoolClient, statement: string, customerId: string): Promise<string[]> {
  return (await client.query<{ id: string }>(statement, [customerId])).rows.map(({ id }) => id);
}

/**
 * A person cannot delete an organisation that others work in.
 * @throws OperationRefused `account_shared`
 */
async function refuseShared(client: PoolClient, { userId, customerId }: DeletionWish): Promise<void> {
  const { rowCount } = await client.query(OTHERS, [customerId, userId]);
  const owned = await soleOwnerOf(client, { userId });
  if (rowCount || !owned.some((each) => each.customerId === customerId) || owned.some(({ otherMembers }) => otherMembers > 0)) {
    throw new OperationRefused(
      'account_shared',
      'your organisation has other members: remove them, or transfer its ownership and leave it, under Team',
    );
  }
}

/**
 * Stops the account now, and erases it when the grace period is over: keys are refused, subscriptions cost nothing more, tokens of programs
 * are revoked for good, and every session ends.
 * @returns when it is erased
 * @throws OperationRefused `deletion_asked` if it was requested before, `account_shared` while others depend on it
 */
export function askForDeletion(db: Database, wish: DeletionWish): Promise<Date> {
  const { userId, customerId, actor } = wish;
  return inTransaction(db, async (client) => {
    await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
    const { rowCount } = await client.query(LAST_ERASED, [customerId]);
    if (rowCount) throw new OperationRefused('deletion_asked', 'this account is being deleted already');
    await refuseShared(client, wish);
    // An account that is to be erased accepts no new members.
    await client.query('DELETE FROM invitation WHERE customer_id = $1', [customerId]);
    const keys = await idsOf(client, STOP_KEYS, customerId);
    const subscriptions = await idsOf(client, STOP_SUBSCRIPTIONS, customerId);
    await client.query('UPDATE admin_token SET revoked_at = now() WHERE customer_id = $1 AND revoked_at IS NULL', [customerId]);
    const { rows } = await client.query<{ askedAt: Date }>(INSERT, [customerId, userId, keys, subscriptions]);
    await client.query('DELETE FROM auth_session WHERE user_id = $1', [userId]);
    const details = { keys: keys.length, subscriptions: subscriptions.length };
    await writeAudit(client, { actor, action: 'account.delete', subject: { kind: 'customer', id: customerId }, details });
    return dueAt(rows[0]?.askedAt ?? new Date());
  });
}

/** The time at which an account is erased whose deletion was requested at `askedAt`. */
function dueAt(askedAt: Date): Date {
  return new Date(askedAt.getTime() + GRACE_DAYS * 86_400_000);
}

const UNDO = `
DELETE FROM account_deletion WHERE user_id = $1 AND erased_at IS NULL RETURNING customer_id AS "customerId", keys, subscriptions`;
const START_KEYS = `UPDATE credential SET state = 'active' WHERE id = ANY ($1) AND state = 'inactive'`;
const START_SUBSCRIPTIONS = `UPDATE subscription SET state = 'active', updated_at = now() WHERE id = ANY ($1) AND state = 'paused'`;

/**
 * Keeps an account that was to be erased: everything that the deletion stopped works again, except revoked tokens.
 * @returns false if no deletion was pending
 */
export function undoDeletion(db: Database, { userId, actor }: { userId: string; actor: Actor }): Promise<boolean> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ customerId: string; keys: string[]; subscriptions: string[] }>(UNDO, [userId]);
    const undone = rows[0];
    if (!undone) return false;
    await client.query(START_KEYS, [undone.keys]);
    await client.query(START_SUBSCRIPTIONS, [undone.subscriptions]);
    const details = { keys: undone.keys.length, subscriptions: undone.subscriptions.length };
    await writeAudit(client, { actor, action: 'account.keep', subject: { kind: 'customer', id: undone.customerId }, details });
    return true;
  });
}

const DUE = `
SELECT customer_id AS "customerId", user_id AS "userId" FROM account_deletion
WHERE erased_at IS NULL AND asked_at <= now() - interval '${GRACE_DAYS} days' ORDER BY asked_at LIMIT 100`;

/** Longer than a request may take, because a person may have millions of lines. */
export const ERASE_TIMEOUT_MS = 300_000;

/**
 * Erases the accounts whose grace period is over, each in one transaction. Several processes may do so at once. A person who signed in
 * again without using the form is kept.
 * @returns how many were erased
 */
export async function eraseDueAccounts(db: Pool): Promise<number> {
  const { rows } = await db.query<{ customerId: string; userId: string }>(DUE);
  // Mail to others, such as an invitation, names its sender. None is sent after the request for deletion, and an outbox keeps mail for half
  // the grace period.
  if (rows.length > 0) await pruneOutboxMails(db);
  let erased = 0;
  for (const { customerId, userId } of rows) {
    const outcome = await inTransaction(db, async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${ERASE_TIMEOUT_MS}`);
      const answer = await client.query<{ outcome: string }>('SELECT erase_account($1) AS outcome', [customerId]);
      return answer.rows[0]?.outcome;
    });
    if (outcome === 'erased') erased += 1;
    if (outcome === 'returned') await undoDeletion(db, { userId, actor: 'dashboard' });
  }
  return erased;
}
