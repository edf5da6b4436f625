import { type Pool } from 'pg';

/** A mail that waits in the database instead of being sent. */
export interface OutboxMail {
  readonly id: string;
  readonly at: Date;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const INSERT = 'INSERT INTO outbox_mail (recipient, subject, body) VALUES ($1, $2, $3)';
const PRUNE = "DELETE FROM outbox_mail WHERE at < now() - interval '7 days'";
const SELECT = 'SELECT id, at, recipient AS to, subject, body AS text FROM outbox_mail ORDER BY at DESC, id LIMIT $1';

/** Removes mails that have been in the outbox for more than 7 days. */
export async function pruneOutboxMails(db: Pool): Promise<void> {
  await db.query(PRUNE);
}

/** Puts a mail into the outbox, and prunes it. */
export async function writeOutboxMail(db: Pool, { to, subject, text }: Omit<OutboxMail, 'id' | 'at'>): Promise<void> {
  await pruneOutboxMails(db);
  await db.query(INSERT, [to, subject, text]);
}

/** Newest first. */
export async function listOutboxMails(db: Pool, limit: number): Promise<OutboxMail[]> {
  const { rows } = await db.query<OutboxMail>(SELECT, [limit]);
  return rows;
}
